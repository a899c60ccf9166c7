import { describeHeldBy } from '../errors.js';
import type { RunCounts } from '../reports/list-facts.js';
import { describeReread, describeSnapshot, listDoubtLines } from '../reports/reasons.js';
import { describeRosterChanges } from '../reports/roster-changes.js';
import type { SnapshotFacts } from '../reports/run-facts.js';
import { countNoun, formatCount, toVisibleText } from '../reports/text.js';
import { describeAlerts, describeControls, describeRecord } from '../reports/words.js';
import type { AssuranceResult } from '../runs/checks/assurance.js';
import type { BecauseOf } from '../runs/checks/because-of.js';
import type { CheckResult } from '../runs/checks/check.js';
import type { previewImport, previewOnboarding, ScreeningPreview } from '../runs/preview.js';
import { describeLostMails, type RunSummary } from '../runs/run-summary.js';
import { codeWords, describeTopic } from '../vocabulary/words.js';
import type { RejectReason } from '../vocabulary.js';
import { exitCodes } from './exit-code.js';
import { type Outcome, toOutcome } from './invocation.js';
import { describeCounts, formatTable, isForTerminal, omitZeros, type Row } from './text.js';

/** The matches of a run, where each distinct search counts once, and its changes, which are counted per customer and related party. */
export const listFindings = ({ matches, hits, changes }: Pick<RunCounts, 'matches' | 'hits' | 'changes'>): Row[] => [
  [
    'found',
    `${countNoun(matches, 'match', 'matches')} in the answers, ${formatCount(hits)} of them ${hits === 1 ? 'a hit' : 'hits'}; an answer that serves several customers counts once`,
  ],
  [
    'changes',
    `${formatCount(changes)} since the last report, per customer and related party; without first screenings`,
  ],
];

type ScreeningCounts = Omit<RunCounts, 'inScope'>;

/** What became of the planned customers. */
export function describePlanned({ planned, screened, reused, failed, remaining, skipped }: ScreeningCounts): string {
  const outcomes = `${formatCount(screened)} screened + ${formatCount(reused)} reused + ${formatCount(failed)} failed`;
  return `${countNoun(planned, 'customer')} planned = ${outcomes} + ${formatCount(remaining)} remaining; ${formatCount(skipped)} skipped`;
}

/** What became of the rows of a roster. */
export function describeRows({ rows, customers, rejected, duplicates }: ScreeningCounts): string {
  const rest = `${formatCount(rejected)} rejected + ${formatCount(duplicates)} duplicates`;
  return `${formatCount(rows)} rows = ${formatCount(customers)} customers + ${rest}`;
}

/** The values in doubt; where a log or a mail may keep them, their reasons and where the values are. */
export function listDoubts(columns: SnapshotFacts['doubts'], elsewhere = 'in rejects.csv of the report'): Row[] {
  const hasValues = isForTerminal();
  const lines = listDoubtLines(columns, { hasValues });
  const isOmitted = !hasValues && columns.some(({ values }) => values.length > 0);
  return [...lines, isOmitted && ['', `the values are shown on a terminal, and ${elsewhere}`]];
}

function describeSums({ kind, counts, snapshot, openAlerts }: RunSummary): Row[] {
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
  const roster: Row = ['roster', describeRows(counts)];
  const customers: Row[] = snapshot ? [['customers', describeSnapshot(snapshot)], ...listDoubts(snapshot.doubts)] : [];
  if (kind === 'import') return [roster, ...customers];
  // Some runs screen the roster as it was last imported.
  const isImported = counts.rows > 0;
  return [
    ...(isImported ? [roster, ...customers] : []),
    ['screening', describePlanned(counts)],
    [
      'searches',
      `${count(counts.searches)} distinct; ${countNoun(counts.attempts, 'call')}, control searches and repeats included`,
    ],
    ...listFindings(counts),
    openAlerts !== null && openAlerts !== undefined && ['alerts', describeAlerts(openAlerts)],
  ];
}

function describeHurdle({ haltedBy }: RunSummary): string {
  if (haltedBy === 'budget') return '  (when there is budget again: the next day or month, or a higher cap)';
  return haltedBy === 'account' ? '  (with a key of the same account that the service accepts)' : '';
}

function describeNext(summary: RunSummary): Row {
  const { runId, kind, state, counts, artifacts } = summary;
  // A sweep cannot be resumed: the next one starts from the first page.
  const again = kind === 'sweep' || kind === 'reconcile' ? `nightscreen ${kind}` : `nightscreen runs resume ${runId}`;
  if (state === 'stopped') return ['next', `${again}${describeHurdle(summary)}`];
  const hasRejects = 'rejected' in counts && counts.rejected > 0;
  if (artifacts !== null) return false;
  if (hasRejects) return ['next', `nightscreen runs show ${runId}  (lists the rejected rows)`];
  const isInDoubt = (summary.snapshot?.doubts.length ?? 0) > 0;
  return isInDoubt && ['next', `nightscreen report --run ${runId}  (writes rejects.csv, with the rows in doubt)`];
}

function describeMail({ queued, sent, lost }: NonNullable<RunSummary['mail']>): string {
  const some = sent === queued ? `${sent} sent` : `${sent} of ${queued} sent`;
  if (lost > 0) return `${some}; ${describeLostMails(lost)}`;
  return sent === queued ? some : `${some}; nightscreen outbox shows the others`;
}

/** The reasons of a state; an item of a list belongs to the reason above it. */
export const listReasons = (reasons: readonly string[]): Row[] =>
  reasons.map((reason) => [reason.startsWith('- ') ? '' : 'because', reason]);

/** A run with its kind and roster. */
export const nameRun = ({ runId, kind, roster }: Pick<RunSummary, 'runId' | 'kind' | 'roster'>): string =>
  `${runId} (${kind}${roster === null ? '' : ` of ${roster}`})`;

/** A run's summary as lines for people, with the next command if one is needed. */
export function formatRun(summary: RunSummary): string {
  const rows: Row[] = [
    ['run', nameRun(summary)],
    ['state', codeWords.runState[summary.state]],
    ...listReasons(summary.reasons),
    ...(summary.remarks ?? []).map((remark) => ['note', remark]),
    ...describeSums(summary),
    summary.mail !== null && summary.mail !== undefined && ['mail', describeMail(summary.mail)],
    describeNext(summary),
  ];
  const page: Row = summary.artifacts !== null && ['report', `${summary.artifacts}/report.html`];
  const changes = formatChanges(summary.acceptedChanges ?? [], 'in report.html of the report');
  return changes === '' ? formatTable([...rows, page]) : `${formatTable(rows)}${changes}\n${formatTable([page])}`;
}

/** A summary as a document, without the records and values of customers: logs may keep what a run prints. */
export function toRunDocument({ acceptedChanges: _, snapshot, ...summary }: RunSummary): Outcome['document'] {
  if (snapshot === undefined) return summary;
  const doubts = snapshot.doubts.map((column) => ({ ...column, values: [] }));
  return { ...summary, snapshot: { ...snapshot, doubts } };
}

/** The result of a command that made one run. */
export const presentRun = (summary: RunSummary): Outcome => ({
  exitCode: summary.exitCode,
  document: toRunDocument(summary),
  text: formatRun(summary),
});

/** The result of a command that found nothing marked and made no run. */
export const presentNothingMarked = (text: string): Outcome =>
  toOutcome('nightscreen/nothing-marked/1', { message: text }, `${text}\n`);

type ImportPreview = Awaited<ReturnType<typeof previewImport>>;
type OnboardingPreview = Awaited<ReturnType<typeof previewOnboarding>>;

/** A cost in words, or why it is unknown. */
export const describeCost = (cost: OnboardingPreview['cost']): string =>
  cost === null ? 'unknown: budget.pricePerSearch is not set' : `${cost.amount.toFixed(2)} ${cost.currency}`;

const isKnown = (reason: string): reason is RejectReason => Object.hasOwn(codeWords.reject, reason);

function listReads({ roster, source, counts, rejectedByReason, doubts, rosterChanges }: ImportPreview): Row[] {
  const { rows, customers, rejected, duplicates, conflicts, ...history } = counts;
  const sums = `${formatCount(rows)} = ${formatCount(customers)} customers + ${formatCount(rejected)} rejected + ${formatCount(duplicates)} repeated`;
  return [
    ['roster', `${roster}, from ${source}`],
    ['rows', sums],
    ...Object.entries(rejectedByReason).map(([reason, count]) => [
      `  ${reason}`,
      `${formatCount(count)}  ${isKnown(reason) ? codeWords.reject[reason] : ''}`,
    ]),
    ...listDoubts(doubts, 'with --json'),
    conflicts > 0 && ['conflicts', `${formatCount(conflicts)} ids with rows that differ`],
    ['customers', describeCounts(omitZeros(history)) || 'no change'],
    rosterChanges.fields.length > 0 && ['changes', describeRosterChanges(rosterChanges)],
    rosterChanges.reread.length > 0 && ['mapping', describeReread(rosterChanges.reread)],
  ];
}

const listGuards = ({ heldBy, accept }: ImportPreview): Row[] =>
  heldBy.length === 0
    ? [['guards', 'all passed']]
    : [
        ...describeHeldBy(heldBy).map((finding, index): Row => [index === 0 ? 'HELD' : '', finding]),
        accept !== null && ['accept with', accept],
      ];

const listWarnings = ({ unmapped, warnings }: ImportPreview): Row[] =>
  [...warnings.map(({ message, look }) => `${message}; ${look}`), ...unmapped].map((message) => ['warning', message]);

const shownRejections = 20;

type Rejected = Omit<ImportPreview['firstRejections'][number], 'reason'>;

/** The place of a rejected row without its values: file and line, the customer if it is named, and column. */
export function describePlace(
  { line, file, reference, column, valueClass }: Rejected,
  { isNamed }: { isNamed: boolean },
): [string, string, string] {
  const place = `${file === null ? '' : `${toVisibleText(file)}, `}line ${line}`;
  const kind = valueClass === null ? '' : `: ${valueClass}`;
  return [
    place,
    isNamed ? toVisibleText(reference ?? '-') : '',
    column === null ? '-' : `${toVisibleText(column)}${kind}`,
  ];
}

function formatRejections({ firstRejections }: ImportPreview): string {
  if (firstRejections.length === 0) return '';
  const rows = firstRejections.slice(0, shownRejections).map((rejected) => {
    const [place, reference, column] = describePlace(rejected, { isNamed: isForTerminal() });
    return [`  ${place}`, reference, rejected.reason, column];
  });
  const more = firstRejections.length > shownRejections ? `  ... more with --json\n` : '';
  return `\nThe first rejected rows\n${formatTable(rows)}${more}`;
}

/** The first changes that guards found; where a log or a mail may keep them, only where they are shown. */
function formatChanges(changes: ImportPreview['changes'], elsewhere: string): string {
  if (changes.length === 0) return '';
  if (!isForTerminal()) return `\nChanges of known customers are shown on a terminal, and ${elsewhere}\n`;
  const rows = changes.flatMap(({ reference, before, after }) => [
    [`  ${toVisibleText(reference)}`, 'before', toVisibleText(describeRecord(before))],
    ['', 'after', toVisibleText(describeRecord(after))],
  ]);
  return `\nThe first changes of known customers\n${formatTable(rows)}`;
}

function toExitCode({ heldBy, isFedBack, counts }: ImportPreview): number {
  if (heldBy.length > 0) return exitCodes.refused;
  return isFedBack && counts.rejected > 0 ? exitCodes.incomplete : exitCodes.complete;
}

/** The calls that a run would make, their least time, and their cost. */
export const listCalls = ({ calls, searches, controlSearches, minutes, cost }: PlannedCalls): Row[] => [
  [
    'calls',
    `${formatCount(calls)} = ${formatCount(searches)} distinct searches + ${formatCount(controlSearches)} control searches; repeats not counted`,
  ],
  ['minutes', String(minutes)],
  ['cost', describeCost(cost)],
];

type PlannedCalls = Pick<ScreeningPreview, 'calls' | 'searches' | 'controlSearches' | 'minutes' | 'cost'>;

/** The result of `import --dry-run` and `onboard --dry-run`, with the exit code that the import would have. */
export function presentImportPreview(preview: ImportPreview | OnboardingPreview): Outcome {
  const isOnboarding = 'calls' in preview;
  const rows: Row[] = isOnboarding ? listCalls({ ...preview, searches: preview.distinctSearches }) : [];
  return toOutcome(
    `nightscreen/${isOnboarding ? 'onboarding' : 'import'}-preview/1`,
    preview,
    formatTable([...listReads(preview), ...listGuards(preview), ...listWarnings(preview), ...rows]) +
      formatRejections(preview) +
      formatChanges(preview.changes, 'with --json'),
    toExitCode(preview),
  );
}

/** A published list and the customers that it forced, as lines for people. */
export function formatBecauseOf({ comparison, forced }: BecauseOf): string {
  const { file, digest, listed, spellings, comparedParties, forcedCustomers } = comparison;
  const rows: Row[] = [
    [
      'because of',
      `${file}: ${countNoun(listed, 'entry', 'entries')} with ${countNoun(spellings, 'name')}, SHA-256 ${digest}`,
    ],
    [
      'forced',
      `${countNoun(forcedCustomers, 'customer')} of ${countNoun(comparedParties, 'party', 'parties')} compared`,
    ],
    ...(isForTerminal() ? listForced(comparison, forced) : [['', 'they are named on a terminal']]),
  ];
  return `\n${formatTable(rows)}`;
}

function listForced({ forcedCustomers }: BecauseOf['comparison'], forced: BecauseOf['forced']): Row[] {
  const others = forcedCustomers - forced.length;
  return [
    ...forced.map(({ reference, because }): Row => ['', `${reference}: ${because}`]),
    others > 0 && ['', `and ${formatCount(others)} more`],
  ];
}

/** The same for a document. */
export const toBecauseOfDocument = ({ comparison, forced }: BecauseOf): Record<string, unknown> => ({
  ...comparison,
  forced,
});

const verdicts: Readonly<Record<CheckResult['verdict'], string>> = {
  clear: 'clear: a valid, complete answer without results',
  below_threshold: 'below threshold: results, and none of them flagged by the service',
  truncated: 'truncated: the list of results is truncated, and it has no hit',
  open_alert: 'hit: the service flagged at least one listed party',
  not_screened: 'NOT SCREENED: there is no valid and reliable answer; this is not a clear result',
};

function describeMatches({ answer }: CheckResult): string {
  if (answer === null || answer.matches.length === 0) return '';
  const head = ['rank', 'hit', 'score', 'name', 'kind', 'risk category', 'born', 'countries', 'id'];
  const rows = answer.matches.map(({ rank, isHit, score, name, schema, topics, birthDates, countries, id }) => [
    rank,
    isHit ? 'hit' : '-',
    String(score),
    ...[name, schema, topics.map(describeTopic).join(', '), birthDates.join(' '), countries.join(' '), id].map(
      toVisibleText,
    ),
  ]);
  return `\n${formatTable([head, ...rows])}`;
}

function describeAnswer({ answer, responseDigest }: CheckResult): [string, string][] {
  if (answer === null) return [];
  const hits = answer.matches.filter((match) => match.isHit).length;
  const shown = `${formatCount(answer.matches.length)} of ${formatCount(answer.total)} results, ${countNoun(hits, 'hit')}`;
  return [
    ['answer', shown],
    ['digest', responseDigest ?? '-'],
  ];
}

/** A check as lines for people. */
export const formatCheck = (result: CheckResult): string =>
  formatTable([
    ['verdict', verdicts[result.verdict]],
    ...result.reasons.map((reason): [string, string] => ['because', toVisibleText(reason)]),
    ['searched', `${result.type} ${toVisibleText(result.sentName)}`],
    ['reason', toVisibleText(result.reason)],
    ['by', `${toVisibleText(result.askedBy)}, ${result.askedAt.toISOString()}`],
    ['key', `${result.mode}, ${result.keyFingerprints.join(', ') || 'not known'}`],
    ['controls', describeControls(result.controls)],
    ['calls', formatCount(result.attempts)],
    ...describeAnswer(result),
    ['run', result.runId],
  ]) + describeMatches(result);

const mostMissed = 50;

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function describeRecall(recall: AssuranceResult['total']['recall']): string {
  if (recall === null) return 'unknown: no search was answered';
  return `${percent(recall.share)} (95 %: ${percent(recall.low)} to ${percent(recall.high)})`;
}

function listStrata(title: string, strata: AssuranceResult['byVariant']): string {
  const rows = strata.map(({ stratum, sample, answered, found, withResults, recall }) => [
    stratum,
    sample,
    answered,
    found,
    withResults,
    describeRecall(recall),
  ]);
  return `\n${formatTable([[title, 'sample', 'answered', 'hit', 'any result', 'recall'], ...rows])}`;
}

function listMissed({ missed }: AssuranceResult): string {
  if (missed.length === 0) return '';
  const rows = missed
    .slice(0, mostMissed)
    .map((item) => [
      toVisibleText(item.listedName),
      item.sentName === item.listedName ? '' : `sent as ${toVisibleText(item.sentName)} (${item.variant})`,
      `${item.type}${item.listedId === null ? '' : ` ${toVisibleText(item.listedId)}`}`,
      `${formatCount(item.results)} results`,
    ]);
  const others = missed.length - rows.length;
  const more = others > 0 ? `and ${formatCount(others)} more (--json lists all)\n` : '';
  return `\nNot found\n${formatTable(rows)}${more}`;
}

/** A measurement of recall as lines for people. */
export const formatAssurance = (result: AssuranceResult): string =>
  formatTable([
    ['run', result.runId],
    ['state', codeWords.runState[result.state]],
    ...result.reasons.map((reason): [string, string] => ['because', reason]),
    ['list', `${result.file}: ${formatCount(result.listed)} entries, SHA-256 ${result.digest}`],
    ['sample', `${formatCount(result.total.sample)} names, ${result.spelling}, seed ${result.seed}`],
    ['recall', describeRecall(result.total.recall)],
    [
      'found',
      `${formatCount(result.total.found)} with a hit, ${formatCount(result.total.withResults)} with any result, of ${formatCount(result.total.answered)} answered`,
    ],
    [
      'not answered',
      `${formatCount(result.total.remaining)} remaining, ${formatCount(result.total.failed)} without a valid answer`,
    ],
    ['calls', formatCount(result.attempts)],
  ]) +
  listStrata('type and script', result.byTypeAndScript) +
  (result.spelling === 'variants' ? listStrata('variant', result.byVariant) : '') +
  listMissed(result);
