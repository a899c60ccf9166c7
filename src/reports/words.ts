import { codeWords, describeDisposition, toWords } from '../vocabulary/words.js';
import { stateOrder } from '../vocabulary.js';
import type {
  AcceptanceFacts,
  ChangeAlertFacts,
  CustomerRecordFacts,
  DetailCounts,
  HeldFacts,
  HistoryFacts,
  MatchChangeFacts,
  OpenAlertsFacts,
  ReplacedFacts,
  RunFacts,
} from './run-facts.js';
import { countNoun, formatCount, formatDay, formatMinute, keep } from './text.js';

/** What happened to a match, in words; `listed` and `delisted` only where the list itself changed. */
export function describeChange(change: Pick<MatchChangeFacts, 'kind' | 'cause' | 'before' | 'after'>): string {
  const byList = change.cause === 'service_data';
  if (isEscalation(change)) {
    return `Escalated to sanctions${change.after?.isHit && !change.before?.isHit ? ', now flagged as hit' : ''}`;
  }
  const words = codeWords.matchChange[change.kind];
  const flagged = change.after?.isHit ? ', flagged as hit' : '';
  switch (change.kind) {
    case 'match_added':
      return `${byList ? 'Newly listed' : words}${flagged}`;
    case 'match_returned':
      return `${byList ? 'Listed again' : words}${flagged}`;
    case 'match_removed':
      return `${byList ? 'Delisted' : words}${change.before?.isHit ? ', was flagged as hit' : ''}`;
    default:
      return words;
  }
}

/** Whether a known match is now listed for a sanction and was not before. */
function isEscalation({ before, after }: Pick<MatchChangeFacts, 'before' | 'after'>): boolean {
  if (before === null || after === null) return false;
  return after.topics.some(isSanction) && !before.topics.some(isSanction);
}

const isSanction = (topic: string): boolean => topic === 'sanction' || topic.startsWith('sanction.');

const dayMs = 86_400_000;

/** How many alerts wait: `12 open alerts, 2 critical, 3 overdue`. */
export function describeWaiting(openAlerts: OpenAlertsFacts): string {
  const { waiting, overdue, proposed } = openAlerts;
  const critical = countCritical(openAlerts);
  return keep(
    countNoun(waiting, 'open alert'),
    critical > 0 && `${formatCount(critical)} critical`,
    overdue === 0 ? 'none overdue' : `${formatCount(overdue)} overdue`,
    proposed > 0 && countNoun(proposed, 'pending approval'),
  ).join(', ');
}

/** How many alerts a run opened or made more severe: `2 new sanction hits, 1 other new alert`; null for none. */
export function describeNews({ news: { alerts, sanctionHits } }: Pick<OpenAlertsFacts, 'news'>): string | null {
  if (alerts === 0) return null;
  const others = alerts - sanctionHits;
  if (sanctionHits === 0) return countNoun(others, 'new alert');
  return keep(countNoun(sanctionHits, 'new sanction hit'), others > 0 && countNoun(others, 'other new alert')).join(
    ', ',
  );
}

/** The open alerts of a run, the new ones first where others were open before. */
export const describeAlerts = (openAlerts: OpenAlertsFacts): string =>
  keep(openAlerts.news.alerts < openAlerts.waiting && describeNews(openAlerts), describeWaiting(openAlerts)).join(', ');

/** How many dispositions expired in a run: `82 dispositions expired`; null for none. Their alerts are open again. */
export const describeExpired = (settled: HistoryFacts['settled']): string | null =>
  settled === null || settled.expired === 0 ? null : `${countNoun(settled.expired, 'disposition')} expired`;

/** How many critical alerts wait. */
export const countCritical = ({ bySeverity }: Pick<OpenAlertsFacts, 'bySeverity'>): number =>
  bySeverity.find(({ severity }) => severity === 'critical')?.waiting ?? 0;

/** Customers by state, `437 clear, 27 open alert`, without the states that nobody has. */
export const describeStates = (counts: HeldFacts['states']): string =>
  stateOrder
    .filter((state) => (counts[state] ?? 0) > 0)
    .map((state) => `${formatCount(counts[state] ?? 0)} ${codeWords.state[state].name.toLowerCase()}`)
    .join(', ');

/** The whole days between two times: `19 days`, or `less than a day`. */
export function countDays(since: Date, now: Date): string {
  const days = Math.floor((now.getTime() - since.getTime()) / dayMs);
  return days <= 0 ? 'less than a day' : countNoun(days, 'day');
}

/** The disposition of the former match that an alert may replace: `false positive by ada on 2026-11-20 about John DOE (m-12), ...`. */
export const describeReplaced = (
  { verdict, reviewer, reason, decidedAt, name, matchId }: ReplacedFacts,
  timezone: string,
): string =>
  `${describeDisposition(verdict)} by ${reviewer} on ${formatDay(decidedAt, timezone)} about ${name} (${matchId}), a match that disappeared when this one appeared: ${reason}`;

/** The alerts by age: `9 up to a day, 2 up to a week, 1 longer`. */
export function describeAges({ byAge }: OpenAlertsFacts): string {
  const { upToOneDay, upToOneWeek, upToThirtyDays, older } = byAge;
  return keep(
    upToOneDay > 0 && `${formatCount(upToOneDay)} up to a day`,
    upToOneWeek > 0 && `${formatCount(upToOneWeek)} up to a week`,
    upToThirtyDays > 0 && `${formatCount(upToThirtyDays)} up to 30 days`,
    older > 0 && `${formatCount(older)} longer`,
  ).join(', ');
}

/** Why an alert was re-opened, in words. */
export const describeReopening = (reasons: readonly string[]): string =>
  reasons.map((reason) => codeWords.reopening.get(reason) ?? `${toWords(reason)} changed`).join(', ');

/** A step in the history of an alert: `false positive by ada on 2026-11-20: another birth date`. */
export function describeSaid(
  { kind, verdict, reviewer, isAttested, reason, saidAt }: ChangeAlertFacts['said'][number],
  timezone: string,
): string {
  const what =
    kind === 'undone' ? 'undone' : `${saidWords[kind]}${verdict === null ? '' : describeDisposition(verdict)}`;
  return `${what} by ${reviewer}${isAttested ? ' (attested)' : ''} on ${formatDay(saidAt, timezone)}: ${reason}`;
}

/** How the disposition was made; a proposed one waits for the approval of a second person. */
const saidWords = { decided: '', proposed: 'pending approval: ', approved: 'approved: ' } as const;

/** The records that a run fetched about new hits, in one line; null where it had none to fetch. */
export function describeDetails(counts: DetailCounts): string | null {
  const { hits, withoutRecord, asked, kept, notAvailable, leftOver, backlogAsked, backlogLeft, stoppedBecause } =
    counts;
  if (hits + backlogAsked + backlogLeft === 0) return null;
  const left = leftOver + backlogLeft;
  const why = stoppedBecause === null ? '' : ` (${codeWords.stop[stoppedBecause]})`;
  return keep(
    `${countNoun(hits, 'new hit')}: ${countNoun(asked, 'record')} requested, ${formatCount(kept)} kept`,
    notAvailable > 0 && `${formatCount(notAvailable)} not available`,
    backlogAsked > 0 && `${formatCount(backlogAsked)} of the requested records remained from earlier runs`,
    left > 0 && `${formatCount(left)} still missing${why}`,
    backlogLeft > 0 && `${formatCount(backlogLeft)} of them from earlier runs`,
    withoutRecord > 0 && `${countNoun(withoutRecord, 'match id')} without a record`,
  ).join(', ');
}

/** As in `accepted by A. Meyer (attested) on ..: reason`; `proposed by` where a second person or the owner has to follow. */
export function describeAcceptance(
  accepted: AcceptanceFacts & { proposedBy?: string | null; isProposal?: boolean },
  timezone: string,
): string {
  const { proposedBy = null, isProposal = false, acceptedBy, isAttested, acceptedAt, reason } = accepted;
  const first = proposedBy === null ? '' : `${proposedBy} and `;
  return `${isProposal ? 'proposed' : 'accepted'} by ${first}${acceptedBy}${isAttested ? ' (attested)' : ''} on ${formatMinute(acceptedAt, timezone)}: ${reason}`;
}

/** Who proposed and who accepted a run that was held, a line each; empty for other runs. */
export function listRunAcceptances(held: RunFacts['held'], timezone: string): readonly string[] {
  const accepted = held[0]?.accepted ?? [];
  return accepted.map((one) => `The run was held: ${describeAcceptance(one, timezone)}`);
}

/** A birth date of a customer for readers, as in `1965 (uncertain)`. */
export const describeBirthDate = (date: string): string =>
  date.endsWith('?') ? `${date.slice(0, -1)} (uncertain)` : date;

/** The record of a customer, on one line. */
export const describeRecord = ({ name, type, birthDate, countries, parties }: CustomerRecordFacts): string =>
  [name, type, birthDate === null ? 'no birth date' : describeBirthDate(birthDate), countries.join(';'), ...parties]
    .filter((fact) => fact !== '')
    .join(', ');

/** What the last control searches of an account show for a single check, with their run and time. */
export const describeControls = (last: {
  verdict: keyof typeof codeWords.control;
  runId: string | null;
  askedAt: Date | null;
}): string =>
  `${codeWords.control[last.verdict]}${last.askedAt === null ? '' : ` (${last.runId}, ${last.askedAt.toISOString()})`}`;
