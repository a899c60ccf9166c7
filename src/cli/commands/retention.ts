import { countNoun, formatCount } from '../../reports/text.js';
import type { AppContext } from '../../runs/app-context.js';
import type { NightRetention, RosterRetention } from '../../runs/retention.js';
import { defineCommand, defineDatabaseCommand, mandatory, type OptionValues } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { type Outcome, toOutcome } from '../invocation.js';
import { shared } from '../options.js';

const run = defineDatabaseCommand({
  usage: 'run',
  isForEach: true,
  description:
    'erase customers who left as long ago as `retention` of their roster says, and remove nights older than `database.keepRuns`',
  options: { dryRun: shared.dryRun },
  examples: ['retention run --dry-run', 'retention run'],
  run: async (app, { options: { dryRun: isPreview = false }, signal }) => {
    const { applyRetention } = await import('../../runs/retention.js');
    const result = await applyRetention(app, isPreview, signal);
    const isAll = result.rosters.every(({ withheld }) => withheld.length === 0) && result.nights.kept.length === 0;
    const words = [
      ...result.rosters.flatMap((one) => describeRoster(one, isPreview)),
      ...describeNights(result.nights, isPreview),
    ];
    return toOutcome(
      'nightscreen/retention/1',
      { isApplied: !isPreview, ...result },
      `${words.join('\n')}\n`,
      isAll ? exitCodes.complete : exitCodes.incomplete,
    );
  },
});

function describeRoster(
  { roster, years, due, held, erased, withheld }: RosterRetention,
  isPreview: boolean,
): readonly string[] {
  const references = erased.flatMap((one) => one.references);
  const verb = isPreview ? 'would be erased' : 'erased';
  return [
    `${roster}: ${countNoun(due, 'customer')} left more than ${countNoun(years, 'year')} ago, ${formatCount(references.length)} ${verb}`,
    ...references.map((reference) => `  ${verb}: ${reference}`),
    ...held.map((reference) => `  under legal hold: ${reference}`),
    ...withheld.map(({ references, because }) => `  kept: ${references.join(', ')}: ${because}`),
    ...new Set(
      erased.flatMap(({ keyCopies }) =>
        keyCopies.map(({ file, host }) => `  DO BY HAND: destroy or replace the copy of the keys ${file} on ${host}`),
      ),
    ),
  ];
}

function describeNights({ runs, rows, kept }: NightRetention, isPreview: boolean): readonly string[] {
  const removed = isPreview
    ? `${countNoun(runs.length, 'night')} would leave the database`
    : `${countNoun(runs.length, 'night')} removed from the database: ${countNoun(rows, 'row')}, which packs hold`;
  return [removed, ...kept.map(({ run, because }) => `  kept: ${run}: ${because}`)];
}

const options = { roster: shared.roster, by: shared.by, reason: mandatory(shared.reason) };

async function changeHold(
  app: AppContext,
  reference: string,
  { roster, by, reason }: OptionValues<typeof options>,
  isHeld: boolean,
): Promise<Outcome> {
  const { holdCustomer, releaseCustomer } = await import('../../runs/retention.js');
  const { findCustomer } = await import('../../runs/evidence-show.js');
  const { findReviewer } = await import('../../runs/review/people.js');
  const reviewer = await findReviewer(app.database, by);
  const customer = await findCustomer(app, app.database, reference, roster ?? null);
  await (isHeld ? holdCustomer : releaseCustomer)(app, customer, { reviewer, reason });
  const words = isHeld ? 'is under legal hold' : 'is no longer held';
  return toOutcome('nightscreen/legal-hold/1', { reference, isHeld }, `${reference} ${words}\n`);
}

const hold = defineDatabaseCommand({
  usage: 'hold <customer>',
  description: 'put a customer under legal hold: nothing erases the customer until it is released',
  options,
  examples: ['retention hold C-1042 --by "A. Meyer" --reason "case 7"', 'retention hold C-7 --by Meyer --reason audit'],
  run: (app, { argument, options }) => changeHold(app, argument, options, true),
});

const release = defineDatabaseCommand({
  usage: 'release <customer>',
  description: 'release the legal hold of a customer',
  options,
  examples: [
    'retention release C-1042 --by "A. Meyer" --reason closed',
    'retention release C-7 --by Meyer --reason "the audit is over"',
  ],
  run: (app, { argument, options }) => changeHold(app, argument, options, false),
});

export const command = defineCommand({
  usage: 'retention',
  description: 'erase who left long ago, remove old nights from the database, hold and release customers',
  examples: ['retention run --dry-run', 'retention hold C-1042 --by "A. Meyer" --reason "case 7"'],
  commands: [run, hold, release],
});
