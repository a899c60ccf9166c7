import { resolve } from 'node:path';
import type { PublishedList } from '../../lists/published-list.js';
import { describeReason } from '../../reports/reasons.js';
import { formatCount } from '../../reports/text.js';
import { type RosterSettings, toFileRoster } from '../../roster/settings.js';
import type { BecauseOf } from '../../runs/checks/because-of.js';
import type { ScreeningPreview } from '../../runs/preview.js';
import type { RunSummary } from '../../runs/run-summary.js';
import type { PlanSelection } from '../../vocabulary.js';
import type { OpenAppContext } from '../app-context.js';
import { definePreparedCommand, flag, text } from '../command.js';
import { type Outcome, toOutcome } from '../invocation.js';
import { acceptOptions, chooseRoster, findRosterAcceptance, meanings, type RosterChoice, shared } from '../options.js';
import { formatBecauseOf, listCalls, presentNothingMarked, presentRun, toBecauseOfDocument } from '../present-run.js';
import { formatTable, isForTerminal, type Row } from '../text.js';

export const command = definePreparedCommand({
  usage: 'screen',
  description: 'screen the customers of an imported roster',
  options: {
    due: { ...flag('customers whose screening is due (default)'), conflicts: ['new', 'all'] },
    new: { ...flag(meanings.new), conflicts: ['due', 'all'] },
    all: { ...shared.all, conflicts: ['due', 'new'] },
    dirty: {
      ...shared.dirty,
      conflicts: ['due', 'new', 'all', 'becauseOf', 'dryRun', 'maxSearches', 'file', 'acceptRoster'],
    },
    becauseOf: text('<list>', 'customers that may be on this published list'),
    // A file is stored when it is read, and a preview stores nothing.
    dryRun: { ...shared.dryRun, conflicts: ['file'] },
    maxSearches: shared.maxSearches,
    file: shared.file,
    roster: shared.roster,
    ...acceptOptions,
  },
  examples: ['screen --due --dry-run', 'screen --because-of sdn.csv --max-searches 500'],
  needs: ({ dryRun = false }) => ({ service: !dryRun, createsDatabase: !dryRun, isLasting: true }),
  prepare: async ({ config, invocation, options }) => {
    const { readPublishedList } = await import('../../lists/published-list.js');
    const { all, due, becauseOf } = options;
    const list = becauseOf === undefined ? undefined : await readPublishedList(resolve(invocation.folder, becauseOf));
    const selection = toSelection({ all, due, isNew: options.new, isForced: list !== undefined });
    return { list, selection, roster: chooseStoredRoster(config.settings.rosters, options) };
  },
  run: async (app, { prepared: { list, selection, roster }, options, signal }) => {
    const { file, maxSearches } = options;
    if (options.dirty) {
      const { screenMarked } = await import('../../runs/dirty-run.js');
      const summary = await screenMarked(app, roster, signal);
      return summary === null
        ? presentNothingMarked(`no marked customer of ${roster.name} is due now`)
        : presentRun(summary);
    }
    if (options.dryRun) return preview(app, roster, selection, list, signal);
    const { runScreening } = await import('../../runs/screening-run.js');
    const acceptRoster = await findRosterAcceptance(app.database, options);
    const importFirst = file !== undefined;
    const plan = { kind: 'screen', roster, selection, importFirst, writeReport: false, maxSearches } as const;
    return present(app, await runScreening(app, { ...plan, acceptRoster, becauseOf: list }, signal));
  },
});

/** Which customers are chosen; with a published list only those it may mean, unless others are asked for too. */
function toSelection(asked: {
  all: true | undefined;
  due: true | undefined;
  isNew: true | undefined;
  isForced: boolean;
}): PlanSelection {
  if (asked.all) return 'all';
  if (asked.isNew) return 'new';
  return asked.isForced && !asked.due ? 'forced' : 'due';
}

async function preview(
  app: OpenAppContext,
  roster: RosterSettings,
  selection: PlanSelection,
  list: PublishedList | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  const { previewBecauseOf, previewScreening } = await import('../../runs/preview.js');
  if (!list) return presentPreview(await previewScreening(app, roster, selection));
  const found = await previewBecauseOf(app, roster, { selection, list, mostNamed }, signal);
  return addBecauseOf(presentPreview(found.preview), found);
}

async function present(app: OpenAppContext, summary: RunSummary): Promise<Outcome> {
  const { describeBecauseOf } = await import('../../runs/checks/because-of.js');
  const { parseRunId } = await import('../../runs/run-reference.js');
  const becauseOf = await describeBecauseOf(app.database, { runId: parseRunId(summary.runId) }, mostNamed);
  const outcome = presentRun(summary);
  if (becauseOf === null) return outcome;
  const document = { ...outcome.document, becauseOf: { ...becauseOf.comparison } };
  return { exitCode: outcome.exitCode, document, text: outcome.text + formatBecauseOf(becauseOf) };
}

/** The roster of stored customers, which may be imported without being configured; `default` when none is configured. */
function chooseStoredRoster(rosters: readonly RosterSettings[], choice: RosterChoice): RosterSettings {
  const name = choice.roster ?? (rosters.length === 0 ? 'default' : undefined);
  if (choice.file !== undefined || name === undefined || rosters.some((roster) => roster.name === name))
    return chooseRoster(rosters, choice);
  return toFileRoster(name, '');
}

const mostNamed = 20;

const addBecauseOf = (outcome: Outcome, becauseOf: BecauseOf): Outcome => ({
  ...outcome,
  document: { ...outcome.document, becauseOf: toBecauseOfDocument(becauseOf) },
  text: `${outcome.text}${formatBecauseOf(becauseOf)}`,
});

const shownLeftOut = 10;

function describeReasons(reasons: Readonly<Record<string, number>>): Row[] {
  const tallies = Object.entries(reasons).toSorted(([, left], [, right]) => right - left);
  return tallies.map(([reason, customers]) => [reason, `${formatCount(customers)}  ${describeReason(reason)}`]);
}

/** The customers that exceed the budget; urgent ones are named by their reference. */
function describeLeftOut({ overBudget, leftOut, budget }: ScreeningPreview): Row[] {
  if (budget === null) return [];
  const left = `${formatCount(budget.leftForAll)} calls, ${formatCount(budget.leftForReserved)} with the reserve for new customers and control searches`;
  const { cadence = 0, ...urgent } = overBudget;
  const customers = Object.values(urgent).reduce((sum, count) => sum + count, 0);
  const more = customers > shownLeftOut ? ' ...' : '';
  const names = customers === 0 || !isForTerminal() ? '' : `: ${leftOut.slice(0, shownLeftOut).join(', ')}${more}`;
  return [
    ['budget left', left],
    customers > 0 && [
      'over budget',
      `${formatCount(customers)} forced, overdue or never screened with their current record${names}`,
    ],
    cadence > 0 && [customers === 0 ? 'over budget' : '', `${formatCount(cadence)} due again`],
  ];
}

export const presentPreview = (preview: ScreeningPreview): Outcome =>
  toOutcome(
    'nightscreen/screening-preview/1',
    preview,
    formatTable([
      ['roster', `${preview.roster}, ${preview.selection} customers`],
      ['in scope', formatCount(preview.inScope)],
      ...describeReasons(preview.reasons),
      ['planned', `${formatCount(preview.planned)} customers, ${formatCount(preview.reused)} of them reuse an answer`],
      ...listCalls(preview),
      ...describeLeftOut(preview),
    ]),
  );
