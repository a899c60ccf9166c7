import type { Command } from 'commander';
import { ConfigError, flagError } from '../../errors.js';
import { countNoun } from '../../reports/text.js';
import { describeOwner, detailWords, severityWords } from '../../reports/words.js';
import type { ShownItem, UndoResult } from '../../runs/review/decide.js';
import type { Assigned } from '../../runs/review/people.js';
import { type Severity, severities } from '../../vocabulary.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Outcome } from '../invocation.js';
import { notifyDecidedStates } from '../notify.js';
import { examples } from '../options.js';
import { loadInvocationConfig, withAppContext } from '../session.js';
import { formatTable, type Row, toMinute } from '../text.js';
import { addWorkingListCommands, refusalWords } from './working-list.js';

function addShow(review: Command, act: Act): void {
  review
    .command('show <customer>')
    .description('what was found about a customer and what was decided, from the beginning')
    .addHelpText('after', examples(['review show C-1042']))
    .action((customer: string) =>
      act(async (invocation) => {
        const { showItems } = await import('../../runs/review/decide.js');
        return withAppContext(invocation, { needsDatabase: true }, async (app) =>
          presentItemHistories(customer, await showItems(app, customer)),
        );
      }),
    );
}

/** The items of a customer with their histories. */
function presentItemHistories(reference: string, items: readonly ShownItem[]): Outcome {
  const document = { schema: 'nightscreen/review-history/1', reference, items } as const;
  if (items.length === 0) {
    const text = `nothing was ever to be decided about ${reference}\n`;
    return { exitCode: exitCodes.complete, document, text };
  }
  return { exitCode: exitCodes.complete, document, text: items.map(formatItem).join('\n') };
}

function formatItem({ mark, roster, mode, party, listed, severity, details, history, ...item }: ShownItem): string {
  const { state, absence, openedAt, dueAt, owner } = item;
  const waits = state === 'open' || state === 'proposed';
  const head: Row[] = [
    ['item', mark],
    [
      'customer',
      `${party.reference} in ${roster} (${party.role}), ${party.name}, born ${party.birthDate ?? 'unknown'}`,
    ],
    [
      'listed',
      `${listed.name}, ${listed.topics.join(', ') || 'for nothing named'}, born ${listed.birthDates.join(' or ') || 'unknown'}`,
    ],
    [
      'state',
      `${state}${absence === null ? '' : ` (${absence.replaceAll('_', ' ')})`}, ${severityWords[severity].toLowerCase()}${waits ? `, since ${toMinute(openedAt)}` : ''}${dueAt === null || !waits ? '' : `, due ${toMinute(dueAt)}`}`,
    ],
    owner !== null && ['assigned to', describeOwner(owner)],
    mode === 'test' && ['mode', 'test'],
    ...details.map(({ kind, id, fetchedAt, digest }) => [
      'kept',
      `${detailWords[kind]} ${id}, ${toMinute(fetchedAt)}, SHA-256 ${digest}`,
    ]),
  ];
  const rows = history.map(({ at, what, who, isAttested, reason, comment }) => [
    toMinute(at),
    what.replaceAll('_', ' '),
    who === null ? '' : `${who}${isAttested ? ' (attested)' : ''}`,
    [reason, ...(comment === null ? [] : [comment])].join(' - '),
  ]);
  return `${formatTable(head)}${formatTable(rows)}`;
}

function addUndo(review: Command, act: Act): void {
  review
    .command('undo <item>')
    .description('undo the decision or proposal that stands about an item, which then waits again')
    .requiredOption('--reason <text>', 'why')
    .option('--reviewer <name>', 'who undoes it; on Postgres the login says so')
    .addHelpText('after', examples(['review undo N4Q8ZK2M1-0C7RT5WXYA-H --reason "wrong customer"']))
    .action((item: string, options: { reason: string; reviewer?: string }) =>
      act(async (invocation) => {
        const { undoDecision } = await import('../../runs/review/decide.js');
        const { findReviewer } = await import('../../runs/review/people.js');
        const config = loadInvocationConfig(invocation);
        const reason = requireText(options.reason, '--reason');
        return withAppContext(invocation, { config, needsDatabase: true }, async (app) => {
          const reviewer = await findReviewer(app.database, options.reviewer);
          const undone = await undoDecision(app, { mark: item, reviewer, reason });
          if (undone.kind === 'undone') await notifyDecidedStates(app, invocation);
          return presentUndo(undone, item);
        });
      }),
    );
}

/** What a flag says, trimmed; throws ConfigError when that is nothing. */
function requireText(text: string, flag: string): string {
  const trimmed = text.trim();
  if (trimmed !== '') return trimmed;
  throw flagError(flag, 'is empty');
}

const noItem = 'is no item of a list or of review show: a slip of the pen?';

const undoRefusalWords = {
  no_item: noItem,
  unknown_item: refusalWords.unknown_item,
  changed_since: 'what was to be seen has changed since: look again with review show, or review export',
  decided_since: 'somebody has decided about it since: look again with review show',
  nothing_to_undo: 'nothing was decided about it that stands',
} as const;

/** What became of undoing a decision. */
function presentUndo(result: UndoResult, mark: string): Outcome {
  const schema = 'nightscreen/review-undo/1';
  if (result.kind === 'refused') {
    const { reason } = result;
    const text = `nothing was undone: ${mark} ${reason === 'no_item' ? '' : '- '}${undoRefusalWords[reason]}\n`;
    return { exitCode: exitCodes.refused, document: { schema, undone: null, reason }, text };
  }
  if (result.kind === 'acceptance_ended') {
    const text = 'the discrepancy is no longer accepted or proposed: it stands open\n';
    return { exitCode: exitCodes.complete, document: { schema, undone: 'acceptance' }, text };
  }
  const { undone, isListed, keepsConfirmed } = result;
  const what = `${undone.isFinal ? 'the decision' : 'the proposal'} ${undone.verdict.replaceAll('_', ' ')} of ${undone.reviewer}`;
  const now = isListed
    ? 'the item waits for a decision'
    : 'the match is absent, and the item waits for a decision (no_longer_matched)';
  const still = keepsConfirmed ? '; the customer counts as confirmed until it is decided anew' : '';
  return {
    exitCode: exitCodes.complete,
    document: { schema, undone, isListed, keepsConfirmed },
    text: `${what} is undone; ${now}${still}\n`,
  };
}

interface AssignOptions {
  to?: string;
  nobody?: true;
  by?: string;
  customer?: string;
  severity?: string;
  roster?: string;
}

function addAssign(review: Command, act: Act): void {
  review
    .command('assign [items...]')
    .description('assign items to a reviewer: those named, or all that wait and fit')
    .option('--to <name>', 'to whom')
    .option('--nobody', 'to nobody')
    .option('--by <name>', 'who assigns; on Postgres the login says so')
    .option('--customer <reference>', 'all that waits of this customer')
    .option('--severity <name>', `all that waits of this severity (${severities.join(', ')})`)
    .option('--roster <name>', 'all that waits of this roster')
    .addHelpText(
      'after',
      examples(['review assign N4Q8ZK2M1-0C7RT5WXYA-H --to meyer', 'review assign --severity critical --to meyer']),
    )
    .action((items: string[], options: AssignOptions) =>
      act(async (invocation) => {
        const { assignItems, findReviewer, requireAssignee } = await import('../../runs/review/people.js');
        const config = loadInvocationConfig(invocation);
        const choice = toChoice(items, options);
        return withAppContext(invocation, { config, needsDatabase: true }, async (app) => {
          const by = await findReviewer(app.database, options.by, false, '--by');
          const to = options.to === undefined ? null : await requireAssignee(app.database, options.to, '--to');
          return presentAssigned(await assignItems(app, { ...choice, to, by }), to);
        });
      }),
    );
}

function toChoice(marks: readonly string[], options: AssignOptions) {
  const { customer = null, roster = null } = options;
  const severity = toSeverity(options.severity);
  const fits = customer !== null || severity !== null || roster !== null;
  if ((options.to === undefined) === (options.nobody === undefined)) {
    throw flagError('--to', 'or --nobody is needed, and not both');
  }
  if (marks.length > 0 === fits) {
    const message = 'name items, or say which by --customer, --severity or --roster, and not both';
    throw new ConfigError([{ where: 'arguments', message, path: '' }]);
  }
  return { marks, customer, severity, roster };
}

function toSeverity(text: string | undefined): Severity | null {
  if (text === undefined) return null;
  const severity = severities.find((each) => each === text);
  if (severity !== undefined) return severity;
  throw flagError('--severity', `is ${text}, and none of ${severities.join(', ')}`);
}

const assignmentRefusals = {
  no_item: noItem,
  not_waiting: 'waits for no decision here',
} as const;

function presentAssigned({ assigned, sameAlready, refused }: Assigned, to: string | null): Outcome {
  const name = to ?? 'nobody';
  const document = { schema: 'nightscreen/review-assignment/1', to, assigned, sameAlready, refused } as const;
  if (refused.length > 0) {
    const lines = refused.map(({ mark, reason }) => [mark, assignmentRefusals[reason]]);
    return { exitCode: exitCodes.refused, document, text: `nothing was assigned\n${formatTable(lines)}` };
  }
  const already = sameAlready === 0 ? '' : `, ${countNoun(sameAlready, 'item')} already so`;
  return {
    exitCode: exitCodes.complete,
    document,
    text: `${countNoun(assigned, 'item')} assigned to ${name}${already}\n`,
  };
}

interface DelegateOptions {
  from: string;
  to?: string;
  until?: string;
  end?: true;
  reason: string;
  by?: string;
}

function addDelegate(review: Command, act: Act): void {
  review
    .command('delegate')
    .description('have somebody stand in for a reviewer who is away')
    .requiredOption('--from <name>', 'who is away')
    .option('--to <name>', 'who stands in')
    .option('--until <date>', 'the last day, as yyyy-mm-dd')
    .option('--end', 'end it now')
    .requiredOption('--reason <text>', 'why')
    .option('--by <name>', 'who says so; on Postgres the login says so')
    .addHelpText(
      'after',
      examples([
        'review delegate --from meyer --to larsen --until 2026-12-31 --reason holidays',
        'review delegate --from meyer --end --reason "back early"',
      ]),
    )
    .action((options: DelegateOptions) =>
      act(async (invocation) => {
        const { delegateItems, findReviewer, requireAssignee } = await import('../../runs/review/people.js');
        const config = loadInvocationConfig(invocation);
        const { from, term, reason } = toDelegation(options);
        return withAppContext(invocation, { config, needsDatabase: true }, async (app) => {
          const by = await findReviewer(app.database, options.by, false, '--by');
          const to = term && (await requireAssignee(app.database, term.to, '--to'));
          const until = term?.until ?? null;
          await delegateItems(app, { from, to, until, reason, by });
          const { timezone } = app.settings.review;
          return {
            exitCode: exitCodes.complete,
            document: { schema: 'nightscreen/review-delegation/1', from, to, until },
            text:
              to === null
                ? `nobody stands in for ${from} any more\n`
                : `${to} stands in for ${from} until the end of ${until} (${timezone})\n`,
          };
        });
      }),
    );
  addDelegations(review, act);
}

function addDelegations(review: Command, act: Act): void {
  review
    .command('delegations')
    .description('who stands in for whom now')
    .action(() =>
      act(async (invocation) => {
        const { listDelegations } = await import('../../runs/review/people.js');
        return withAppContext(invocation, { needsDatabase: true }, async (app) => {
          const delegations = await listDelegations(app);
          const rows = delegations.map(({ from, to, until, reason, actor, isAttested }) => [
            `${to} for ${from}`,
            `until ${until}`,
            `${reason} (${actor}${isAttested ? ', attested' : ''})`,
          ]);
          return {
            exitCode: exitCodes.complete,
            document: { schema: 'nightscreen/review-delegations/1', delegations },
            text: rows.length === 0 ? 'nobody stands in for anybody\n' : formatTable(rows),
          };
        });
      }),
    );
}

function toDelegation({ from, to, until, end, reason }: DelegateOptions) {
  const said = { from: requireText(from, '--from'), reason: requireText(reason, '--reason') };
  if (end) {
    if (to === undefined && until === undefined) return { ...said, term: null };
    throw flagError('--end', 'ends it now, so --to and --until mean nothing');
  }
  if (to === undefined) throw flagError('--to', 'is missing');
  if (to.trim() === said.from) throw flagError('--to', `is ${said.from} too`);
  if (until === undefined || !isDate(until)) throw flagError('--until', 'must be a date such as 2026-12-31');
  return { ...said, term: { to, until } };
}

const isDate = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;

/** Adds `review`. */
export function addReviewCommand(program: Command, act: Act): void {
  const review = program.command('review').description('decide about matches: a list out, decisions in, their history');
  addWorkingListCommands(review, act);
  addShow(review, act);
  addUndo(review, act);
  addAssign(review, act);
  addDelegate(review, act);
}
