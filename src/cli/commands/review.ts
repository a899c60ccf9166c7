import { flagError, usageError } from '../../errors.js';
import { countNoun } from '../../reports/text.js';
import { describeBirthDate } from '../../reports/words.js';
import type { ShownAlert, UndoResult } from '../../runs/review/decide.js';
import { codeWords, describeDisposition, describeTopic } from '../../vocabulary/words.js';
import { severities } from '../../vocabulary.js';
import { choice, defineCommand, defineDatabaseCommand, definePreparedCommand, mandatory, text } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { type Outcome, toOutcome } from '../invocation.js';
import { notifyDecidedStates } from '../notify.js';
import { meanings, shared } from '../options.js';
import { formatTable, type Row, toMinute } from '../text.js';
import { workingListCommands } from './working-list.js';

const show = defineDatabaseCommand({
  usage: 'show <customer>',
  description: 'all alerts and dispositions of a customer, from the first one',
  examples: ['review show C-1042', 'review show C-1042 --json'],
  run: async (app, { argument: customer }) => {
    const { showAlerts } = await import('../../runs/review/decide.js');
    return presentAlertHistories(customer, await showAlerts(app, customer));
  },
});

function presentAlertHistories(reference: string, alerts: readonly ShownAlert[]): Outcome {
  const document = { schema: 'nightscreen/review-history/1', reference, alerts } as const;
  if (alerts.length === 0) {
    const text = `${reference} never had an alert\n`;
    return { exitCode: exitCodes.complete, document, text };
  }
  return { exitCode: exitCodes.complete, document, text: alerts.map(formatItem).join('\n') };
}

function formatItem({ mark, roster, mode, party, listed, severity, details, history, ...alert }: ShownAlert): string {
  const { state, absence, openedAt, dueAt, assignedTo, namesakes } = alert;
  const waits = state === 'open' || state === 'pending_approval';
  const head: Row[] = [
    ['alert', mark],
    [
      'customer',
      `${party.reference} in ${roster} (${codeWords.role[party.role]}), ${party.name}, born ${party.birthDate === null ? 'unknown' : describeBirthDate(party.birthDate)}`,
    ],
    namesakes > 0 && ['same name', `${countNoun(namesakes, 'other customer')}, with the same answers`],
    [
      'listed',
      `${listed.name}, ${listed.topics.map(describeTopic).join(', ') || 'no risk category'}, born ${listed.birthDates.join(' or ') || 'unknown'}`,
    ],
    [
      'state',
      `${codeWords.alertState[state]}${absence === null ? '' : ` (${codeWords.absence[absence]})`}, ${codeWords.severity[severity].toLowerCase()}${waits ? `, since ${toMinute(openedAt)}` : ''}${dueAt === null || !waits ? '' : `, due ${toMinute(dueAt)}`}`,
    ],
    assignedTo !== null && ['assigned to', assignedTo],
    mode === 'test' && ['mode', 'test'],
    ...details.map(({ kind, id, fetchedAt, digest }) => [
      'kept',
      `${codeWords.detail[kind]} ${id}, ${toMinute(fetchedAt)}, SHA-256 ${digest}`,
    ]),
  ];
  const rows = history.map(({ at, what, who, isAttested, reason, comment }) => [
    toMinute(at),
    historyWords.get(what) ?? describeDisposition(what),
    who === null ? '' : `${who}${isAttested ? ' (attested)' : ''}`,
    [reason, ...(comment === null ? [] : [comment])].join(' - '),
  ]);
  return `${formatTable(head)}${formatTable(rows)}`;
}

/** The events of an alert whose codes are not words of their own. */
const historyWords: ReadonlyMap<string, string> = new Map([
  ['reopened', 're-opened'],
  ['rekeyed', 'same party with a new id'],
  ['absent', 'match absent'],
  ['auto_closed', 'auto-closed'],
  ['returned', 'matched again'],
]);

const undo = definePreparedCommand({
  usage: 'undo <alert>',
  description: 'undo the disposition or pending approval of an alert, which then waits again',
  options: { by: shared.by, reason: mandatory(shared.reason) },
  examples: [
    'review undo N4Q8ZK2M1-0C7RT5WXYA-H --reason "wrong customer"',
    'review undo N4Q8ZK2M1-0C7RT5WXYA-H --by Meyer --reason mistake',
  ],
  prepare: ({ options: { reason } }) => requireText(reason, '--reason'),
  run: async (app, { argument: mark, prepared: reason, options: { by }, invocation }) => {
    const { undoDecision } = await import('../../runs/review/decide.js');
    const { findReviewer } = await import('../../runs/review/people.js');
    const reviewer = await findReviewer(app.database, by);
    const undone = await undoDecision(app, { mark, reviewer, reason });
    if (undone.kind === 'undone') await notifyDecidedStates(app, invocation);
    return presentUndo(undone, mark);
  },
});

function requireText(text: string, flag: string): string {
  const trimmed = text.trim();
  if (trimmed !== '') return trimmed;
  throw flagError(flag, 'is empty');
}

const noAlert = 'is not the code of an alert: check it against the list or review show';

const undoRefusalWords = {
  no_alert: noAlert,
  unknown_alert: 'no such alert here: it belongs to another database',
  changed_since: 'the match or the customer has changed since: see review show, or export again',
  decided_since: 'a disposition was made since: `nightscreen review show CUSTOMER` prints the code that undoes it',
  nothing_to_undo: 'it has no disposition to undo',
} as const;

function presentUndo(result: UndoResult, mark: string): Outcome {
  const schema = 'nightscreen/review-undo/1';
  if (result.kind === 'refused') {
    const { reason } = result;
    const text = `not undone: ${mark} ${reason === 'no_alert' ? '' : '- '}${undoRefusalWords[reason]}\n`;
    return toOutcome(schema, { undone: null, reason }, text, exitCodes.refused);
  }
  if (result.kind === 'acceptance_ended') {
    const text = 'the discrepancy is no longer accepted or proposed: it is open\n';
    return toOutcome(schema, { undone: 'acceptance' }, text);
  }
  const { undone, isListed, keepsTrueMatch } = result;
  const what = `the ${undone.isFinal ? 'disposition' : 'pending approval'} ${describeDisposition(undone.verdict)} of ${undone.reviewer}`;
  const now = isListed
    ? 'the alert is open again and needs a disposition'
    : 'the match is absent, and the alert needs the disposition "no longer matched"';
  const still = keepsTrueMatch ? '; the customer stays a true match until the next disposition' : '';
  return toOutcome(schema, { undone, isListed, keepsTrueMatch }, `${what} is undone; ${now}${still}\n`);
}

/** The name that ends an assignment. */
const nobody = 'nobody';

const assign = definePreparedCommand({
  usage: 'assign [alerts...]',
  description: 'assign alerts to a reviewer: the named ones, or all that wait and match the options',
  options: {
    by: shared.by,
    to: mandatory(text('<name>', `the reviewer who gets the alerts; ${nobody} ends the assignment`)),
    customer: text('<reference>', meanings.customer),
    severity: choice('<name>', 'alerts of this severity', severities),
    roster: shared.roster,
  },
  examples: ['review assign N4Q8ZK2M1-0C7RT5WXYA-H --to meyer', 'review assign --severity critical --to meyer'],
  prepare: ({ argument: marks, options: { customer = null, severity = null, roster = null } }) => {
    const fits = customer !== null || severity !== null || roster !== null;
    if (marks.length > 0 !== fits) return { marks, customer, severity, roster };
    const message = 'name alerts, or choose them by --customer, --severity or --roster, but not both';
    throw usageError('arguments', message);
  },
  run: async (app, { prepared: choice, options }) => {
    const { assignAlerts, findReviewer, requireAssignee } = await import('../../runs/review/people.js');
    const by = await findReviewer(app.database, options.by);
    const to = options.to === nobody ? null : await requireAssignee(app.database, options.to, '--to');
    const { assigned, sameAlready, refused } = await assignAlerts(app, { ...choice, to, by });
    const document = { schema: 'nightscreen/review-assignment/1', to, assigned, sameAlready, refused } as const;
    if (refused.length > 0) {
      const lines = refused.map(({ mark, reason }) => [mark, assignmentRefusals[reason]]);
      return { exitCode: exitCodes.refused, document, text: `no alert was assigned\n${formatTable(lines)}` };
    }
    const already = sameAlready === 0 ? '' : `, ${countNoun(sameAlready, 'alert')} assigned already`;
    const text = `${countNoun(assigned, 'alert')} assigned to ${to ?? nobody}${already}\n`;
    return { exitCode: exitCodes.complete, document, text };
  },
});

const assignmentRefusals = {
  no_alert: noAlert,
  not_waiting: 'is not open here',
} as const;

export const command = defineCommand({
  usage: 'review',
  description: 'decide about alerts: export a list, import dispositions, show history',
  examples: ['review export', 'review import review.csv --apply --by "A. Meyer"'],
  commands: [...workingListCommands, show, undo, assign],
});
