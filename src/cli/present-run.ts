import type { Night } from '../../jobs/rescreen.js';
import type { RunCounts } from '../reports/list-facts.js';
import { describeSnapshot, listDoubtLines } from '../reports/reasons.js';
import { countNoun, formatCount } from '../reports/text.js';
import { describeWaiting } from '../reports/words.js';
import type { RunSummary } from '../runs/run-summary.js';
import { describeError, formatError } from './describe-error.js';
import { combineExitCodes, exitCodes, toErrorExitCode } from './exit-code.js';
import type { Outcome } from './invocation.js';
import { formatChanges } from './present-preview.js';
import { describeCounts, formatTable, type Row } from './text.js';

/** What the answers of a run held: each different search counts once, however many customers it serves. */
export const describeFound = ({ matches, hits }: Pick<RunCounts, 'matches' | 'hits'>): string =>
  `${countNoun(matches, 'match', 'matches')} in the answers, ${formatCount(hits)} of them ${hits === 1 ? 'a hit' : 'hits'}; an answer that serves several customers counts once`;

/** What is different from what was last told: each customer and related party counts for itself. */
export const describeChanges = ({ changes }: Pick<RunCounts, 'changes'>): string =>
  `${formatCount(changes)} since the last report, for each customer and related party; first screenings apart`;

function describeSums({ kind, counts, snapshot, openItems }: RunSummary): Row[] {
  if ('pages' in counts) {
    const { proven, ...others } = counts;
    return [['dossiers', `${describeCounts(others)}${proven ? '; proven complete' : '; not proven complete'}`]];
  }
  const count = formatCount;
  if ('withDossier' in counts) {
    const { customers, withDossier, withoutDossier, notExpected, ambiguous, dossiers, opened, resolved } = counts;
    return [
      [
        'customers',
        `${countNoun(customers, 'customer')} = ${count(withDossier)} with a dossier + ${count(withoutDossier)} without + ${count(notExpected)} not expected to have one + ${count(ambiguous)} ambiguous`,
      ],
      ['dossiers', countNoun(dossiers, 'dossier')],
      ['discrepancies', `${count(opened)} new, ${count(resolved)} resolved`],
    ];
  }
  const roster: Row = [
    'roster',
    `${count(counts.rows)} rows = ${count(counts.customers)} customers + ${count(counts.rejected)} rejected + ${count(counts.duplicates)} duplicates`,
  ];
  const customers: Row[] = snapshot
    ? [['customers', describeSnapshot(snapshot)], ...listDoubtLines(snapshot.doubts)]
    : [];
  if (kind === 'import') return [roster, ...customers];
  // Some runs screen the roster as it was last imported.
  const isImported = counts.rows > 0;
  return [
    ...(isImported ? [roster, ...customers] : []),
    [
      'screening',
      `${count(counts.planned)} ${counts.planned === 1 ? 'customer' : 'customers'} planned = ${count(counts.screened)} screened + ${count(counts.reused)} reused + ${count(counts.failed)} failed + ${count(counts.remaining)} remaining; ${count(counts.skipped)} skipped`,
    ],
    [
      'searches',
      `${count(counts.searches)} different; ${countNoun(counts.attempts, 'call')}, control searches and repeats included`,
    ],
    ['found', describeFound(counts)],
    ['changes', describeChanges(counts)],
    openItems !== null && openItems !== undefined && ['to decide', describeWaiting(openItems)],
  ];
}

/** What has to come about before a run that was stopped can go on. */
const describeHurdle = ({ haltedBy }: RunSummary): string =>
  haltedBy === 'budget' ? '  (once there is budget again: the next day or month, or a higher cap)' : '';

function describeNext(summary: RunSummary): Row {
  const { runId, kind, state, counts, artifacts } = summary;
  // A sweep has no half: the next one starts afresh.
  const again = kind === 'sweep' || kind === 'reconcile' ? `nightscreen ${kind}` : `nightscreen runs resume ${runId}`;
  if (state === 'stopped') return ['next', `${again}${describeHurdle(summary)}`];
  const hasRejects = 'rejected' in counts && counts.rejected > 0;
  if (artifacts !== null) return false;
  if (hasRejects) return ['next', `nightscreen runs show ${runId}  (lists the rejected rows)`];
  const isInDoubt = (summary.snapshot?.doubts.length ?? 0) > 0;
  return isInDoubt && ['next', `nightscreen report --run ${runId}  (writes rejects.csv, with the rows in doubt)`];
}

const describeMail = ({ queued, sent }: NonNullable<RunSummary['mail']>): string =>
  sent === queued ? `${sent} sent` : `${sent} of ${queued} sent; nightscreen mail list says what became of the others`;

/** A run's summary as lines for people; what comes next is said where something is left to do. */
export function formatRun(summary: RunSummary): string {
  const rows: Row[] = [
    ['run', `${summary.runId} (${summary.kind}${summary.roster === null ? '' : ` of ${summary.roster}`})`],
    ['state', summary.state],
    ...summary.reasons.map((reason) => ['because', reason]),
    ...(summary.remarks ?? []).map((remark) => ['note', remark]),
    ...describeSums(summary),
    summary.artifacts !== null && ['files', summary.artifacts],
    summary.mail !== null && summary.mail !== undefined && ['mail', describeMail(summary.mail)],
    describeNext(summary),
  ];
  return formatTable(rows) + formatChanges({ changes: summary.acceptedChanges ?? [] });
}

/** What a command says that made one run. */
export const presentRun = (summary: RunSummary): Outcome => ({
  exitCode: summary.exitCode,
  document: { ...summary },
  text: formatRun(summary),
});

/** What a command says that found nothing marked, and made no run. */
export const presentNothingMarked = (text: string): Outcome => ({
  exitCode: exitCodes.complete,
  document: { schema: 'nightscreen/nothing-marked/1', message: text },
  text: `${text}\n`,
});

/** What a command says that made a run for each of several rosters; a single failure is thrown as it is. */
export function presentNight({ summaries, failures }: Night): Outcome {
  const [only, ...others] = summaries;
  if (only && others.length === 0 && failures.length === 0) return presentRun(only);
  const [failure] = failures;
  if (failure && summaries.length === 0 && failures.length === 1) throw failure.error;
  const described = failures.map(({ roster, error }) => ({ roster, ...describeError(error) }));
  return {
    exitCode: combineExitCodes([
      ...summaries.map((summary) => summary.exitCode),
      ...failures.map(({ error }) => toErrorExitCode(error)),
    ]),
    document: {
      schema: 'nightscreen/run-summaries/1',
      runs: summaries,
      errors: described.map(({ roster, code, message, problems }) => ({ roster, code, message, problems })),
    },
    text: [
      ...summaries.map(formatRun),
      ...described.map((description) => `roster ${description.roster}\n${formatError(description)}`),
    ].join('\n'),
  };
}
