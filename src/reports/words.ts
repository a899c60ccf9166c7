import type {
  Absence,
  Agreement,
  ChangeCause,
  CustomerState,
  DetailStop,
  DossierChangeKind,
  MatchChangeKind,
  Severity,
  SeverityAdjustment,
} from '../vocabulary.js';
import type {
  CadenceFacts,
  ChangeItemFacts,
  CustomerRecordFacts,
  DetailCounts,
  DetailLookup,
  ItemOwner,
  MatchChangeFacts,
  OpenItemsFacts,
  ReplacedFacts,
  SettingsChangeFacts,
} from './list-facts.js';
import { countNoun, formatCount, formatDay, formatTime } from './text.js';

const kindWords: Readonly<Record<MatchChangeKind, string>> = {
  match_added: 'New match',
  match_changed: 'Details changed',
  match_removed: 'No longer matched',
  match_not_returned: 'No longer returned: the answer was truncated, the party may still be listed',
  match_rekeyed: 'Same party with a new id',
  match_returned: 'Matched again',
  hit_gained: 'Now flagged as hit',
  hit_lost: 'No longer flagged as hit',
};

/** What happened to a match, in words; `listed` and `delisted` only where the list itself changed. */
export function describeChange(change: Pick<MatchChangeFacts, 'kind' | 'cause' | 'before' | 'after'>): string {
  const byList = change.cause === 'service_data';
  if (isEscalation(change)) {
    return `Escalated to sanctions${change.after?.isHit && !change.before?.isHit ? ', now flagged as hit' : ''}`;
  }
  if (change.kind === 'match_added') {
    return `${byList ? 'Newly listed' : kindWords.match_added}${change.after?.isHit ? ', flagged as hit' : ''}`;
  }
  if (change.kind === 'match_removed') {
    return `${byList ? 'Delisted' : kindWords.match_removed}${change.before?.isHit ? ', was flagged as hit' : ''}`;
  }
  if (change.kind === 'match_returned') {
    return `${byList ? 'Listed again' : kindWords.match_returned}${change.after?.isHit ? ', flagged as hit' : ''}`;
  }
  return kindWords[change.kind];
}

/** The severity rule of a change and its adjustments, in words; `delisted` only where the list itself changed. */
export function describeRule({ rule, kind, cause, adjustments }: MatchChangeFacts): string {
  const isDelisted = kind === 'match_removed' && cause === 'service_data';
  const words = rule === 'delisted' && !isDelisted ? 'no longer matched' : rule.replaceAll('_', ' ');
  return [words, ...adjustments.map((each) => adjustmentWords[each])].join(', ');
}

/** Whether a known match is now listed for a sanction and was not before. */
function isEscalation({ before, after }: Pick<MatchChangeFacts, 'before' | 'after'>): boolean {
  if (before === null || after === null) return false;
  return after.topics.some(isSanction) && !before.topics.some(isSanction);
}

const isSanction = (topic: string): boolean => topic === 'sanction' || topic.startsWith('sanction.');

/** What happened to a dossier in words. */
export const dossierChangeWords: Readonly<Record<DossierChangeKind, string>> = {
  dossier_appeared: 'New dossier',
  dossier_status_changed: 'Status changed',
  dossier_changed: 'Details changed',
  dossier_touched: 'Updated without a visible change',
  dossier_returned: 'Returned',
  dossier_gone: 'Gone',
};

/** The cause of a change, as the end of a sentence. */
export const causeWords: Readonly<Record<ChangeCause, string>> = {
  service_data: 'the list data changed',
  customer_record: 'our customer record changed',
  settings: 'our settings changed',
};

/** The name of a severity. */
export const severityWords: Readonly<Record<Severity, string>> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  info: 'For information',
};

/** Whether a fact of the customer agrees with a match, in words. */
export const agreementWords: Readonly<Record<Agreement, string>> = {
  agree: 'agrees',
  contradict: 'contradicts',
  unknown: 'cannot be compared',
};

const adjustmentWords: Readonly<Record<SeverityAdjustment, string>> = {
  birth_date_contradicts: 'lowered, the birth date contradicts',
  risk_tier: 'raised for the customer’s risk tier',
};

/** The topics of the FollowTheMoney model that services send most (service facts: AML vocabulary). */
const topicWords: ReadonlyMap<string, string> = new Map([
  ['sanction', 'Sanctioned'],
  ['sanction.linked', 'Linked to a sanctioned party'],
  ['sanction.counter', 'Counter-sanctioned'],
  ['debarment', 'Debarred'],
  ['role.pep', 'Politically exposed'],
  ['role.rca', 'Close to a politically exposed person'],
  ['role.judge', 'Judge'],
  ['role.civil', 'Civil servant'],
  ['crime', 'Crime'],
  ['crime.boss', 'Criminal leadership'],
  ['crime.cyber', 'Cybercrime'],
  ['crime.fin', 'Financial crime'],
  ['crime.fraud', 'Fraud'],
  ['crime.terror', 'Terrorism'],
  ['crime.theft', 'Theft'],
  ['crime.traffick', 'Trafficking'],
  ['crime.traffick.drug', 'Drug trafficking'],
  ['crime.traffick.human', 'Human trafficking'],
  ['crime.war', 'War crimes'],
  ['wanted', 'Wanted'],
  ['poi', 'Person of interest'],
  ['reg.action', 'Regulatory action'],
  ['reg.warn', 'Regulatory warning'],
  ['export.control', 'Export controlled'],
  ['export.risk', 'Trade risk'],
]);

/** A topic in words; an unknown topic as the service sent it. */
export function describeTopic(topic: string): string {
  return topicWords.get(topic) ?? topic;
}

/** The order of the states in reports: decided states first, states that need work last. */
export const stateOrder = [
  'clear',
  'below_threshold',
  'settled_false_positive',
  'confirmed',
  'open_hit',
  'incompletely_seen',
  'not_screened',
] as const satisfies readonly CustomerState[];

/** Each state of a customer in words: its name and what it means. */
export const stateWords: Readonly<Record<CustomerState, { name: string; meaning: string }>> = {
  clear: { name: 'Clear', meaning: 'complete answer without a match' },
  below_threshold: {
    name: 'Weak matches only',
    meaning: 'matches, but the service flagged none of them',
  },
  settled_false_positive: { name: 'False positive', meaning: 'flagged, and a reviewer ruled it out' },
  confirmed: { name: 'True match', meaning: 'a reviewer confirmed that the customer is the listed party' },
  open_hit: { name: 'Open alert', meaning: 'an alert of the customer waits for a decision' },
  incompletely_seen: { name: 'Truncated', meaning: 'the answer was truncated, and the returned part has no hit' },
  not_screened: { name: 'Not screened', meaning: 'no valid answer' },
};

const dayMs = 86_400_000;

/** How many alerts wait: `12 open alerts, 2 critical, 3 overdue`. */
export function describeWaiting(openItems: OpenItemsFacts): string {
  const { waiting, overdue, proposed } = openItems;
  const critical = countCritical(openItems);
  return [
    countNoun(waiting, 'open alert'),
    ...(critical === 0 ? [] : [`${formatCount(critical)} critical`]),
    overdue === 0 ? 'none overdue' : `${formatCount(overdue)} overdue`,
    ...(proposed === 0 ? [] : [`${formatCount(proposed)} for a second person to confirm`]),
  ].join(', ');
}

/** How many critical alerts wait. */
export const countCritical = ({ bySeverity }: Pick<OpenItemsFacts, 'bySeverity'>): number =>
  bySeverity.find(({ severity }) => severity === 'critical')?.waiting ?? 0;

/** The whole days between two times: `19 days`, or `less than a day`. */
export function countDays(since: Date, now: Date): string {
  const days = Math.floor((now.getTime() - since.getTime()) / dayMs);
  return days <= 0 ? 'less than a day' : countNoun(days, 'day');
}

/** Why the match of an alert is absent, in words. */
export const absenceWords: Readonly<Record<Absence, string>> = {
  not_returned: 'the service no longer returns the match',
  below_threshold: 'the match fell below the threshold',
  customer_changed: 'the match is absent since our customer record changed',
  settings_changed: 'the match is absent since our settings changed',
};

/** The decision about the former match that an alert may replace: `false positive by ada on 2026-11-20 about John DOE (m-12), ...`. */
export const describeReplaced = ({ verdict, reviewer, reason, decidedAt, name, matchId }: ReplacedFacts): string =>
  `${verdict.replaceAll('_', ' ')} by ${reviewer} on ${formatDay(decidedAt)} about ${name} (${matchId}), a match that disappeared when this one appeared: ${reason}`;

/** The alerts by age: `9 up to a day, 2 up to a week, 1 longer`. */
export function describeAges({ byAge }: OpenItemsFacts): string {
  const parts: readonly [number, string][] = [
    [byAge.upToOneDay, 'up to a day'],
    [byAge.upToOneWeek, 'up to a week'],
    [byAge.upToThirtyDays, 'up to 30 days'],
    [byAge.older, 'longer'],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${formatCount(count)} ${words}`)
    .join(', ');
}

/** The owner of an alert: `bea`, or `bea (for ada)`. */
export const describeOwner = ({ name, standsInFor }: ItemOwner): string =>
  standsInFor === null ? name : `${name} (for ${standsInFor})`;

/** Why an alert was re-opened, in words. */
export const describeReopening = (reasons: readonly string[]): string => reasons.map(describeReason).join(', ');

/** A step in the history of an alert: `false positive by ada on 2026-11-20: another birth date`. */
export function describeSaid({
  kind,
  verdict,
  reviewer,
  isAttested,
  reason,
  saidAt,
}: ChangeItemFacts['said'][number]): string {
  const what =
    kind === 'undone' ? 'undone' : `${kind === 'decided' ? '' : `${kind}: `}${verdict?.replaceAll('_', ' ') ?? ''}`;
  return `${what} by ${reviewer}${isAttested ? ' (attested)' : ''} on ${formatDay(saidAt)}: ${reason}`;
}

function describeReason(reason: string): string {
  if (reason === 'expired') return 'the decision expired';
  if (reason === 'undone') return 'the decision was undone';
  if (reason === 'returned') return 'matched again';
  return `${reason.replaceAll('_', ' ')} changed`;
}

/** The kinds of records that are fetched about matches, in words. */
export const detailWords: Readonly<Record<DetailLookup['kind'], string>> = {
  activity: 'match in detail',
  entity: 'screened record',
};

/** Why a run did not fetch all records, in words. */
export const stopWords: Readonly<Record<DetailStop, string>> = {
  limit: 'the limit evidence.details.maxPerRun is reached',
  out_of_reach: 'the service could not be reached',
  refused: 'the service refused the account',
  time: 'it took too long',
  signal: 'stopped on request',
};

/** The records that a run fetched about new hits, in one line. */
export function describeDetails(counts: DetailCounts): string {
  const { hits, withoutRecord, asked, kept, notAvailable, leftOver, backlogAsked, backlogLeft, stoppedBecause } =
    counts;
  const left = leftOver + backlogLeft;
  return [
    `${countNoun(hits, 'new hit')}: ${countNoun(asked, 'record')} requested, ${formatCount(kept)} kept`,
    ...(notAvailable > 0 ? [`${formatCount(notAvailable)} not available`] : []),
    ...(backlogAsked > 0
      ? [`${formatCount(backlogAsked)} of the requested records were left over from earlier runs`]
      : []),
    ...(left > 0
      ? [`${formatCount(left)} still missing${stoppedBecause === null ? '' : ` (${stopWords[stoppedBecause]})`}`]
      : []),
    ...(backlogLeft > 0 ? [`${formatCount(backlogLeft)} of them from earlier runs`] : []),
    ...(withoutRecord > 0 ? [`${countNoun(withoutRecord, 'match id')} without a record`] : []),
  ].join(', ');
}

/** As in `accepted by A. Meyer (attested) on ..: reason`. */
export function describeAcceptance({
  acceptedBy,
  isAttested,
  acceptedAt,
  reason,
}: Omit<SettingsChangeFacts, 'differences'>): string {
  return `accepted by ${acceptedBy}${isAttested ? ' (attested)' : ''} on ${formatTime(acceptedAt)}: ${reason}`;
}

/** The record of a customer, on one line. */
export const describeRecord = ({ name, type, birthDate, countries, parties }: CustomerRecordFacts): string =>
  [name, type, birthDate ?? 'no birth date', countries.join(';'), ...parties].filter((fact) => fact !== '').join(', ');

const hoursPerDay = 24;

/** The screening frequency in words: one interval where all risk tiers have the same. */
export function describeCadence({ hours }: CadenceFacts): string {
  const { high, medium, low } = hours;
  if (high === medium && medium === low) return `every customer every ${describeHours(high)}`;
  return `high risk every ${describeHours(high)}, medium every ${describeHours(medium)}, low every ${describeHours(low)}`;
}

const describeHours = (hours: number): string => {
  const [count, noun] = hours % hoursPerDay === 0 ? [hours / hoursPerDay, 'day'] : [hours, 'hour'];
  return count === 1 ? noun : `${count} ${noun}s`;
};

const controlWords = {
  hold: 'none in this check; the last ones on this account passed',
  failed: 'NONE in this check; the last ones on this account FAILED',
  one_sided: 'NONE in this check; the last ones on this account did not expect both a match and no match',
  too_old: 'NONE in this check; the last ones on this account are more than a day old',
  never: 'NONE: no control search was ever made on this account',
} as const;

/** What the last control searches of an account show for a single check, with their run and time. */
export const describeControls = (last: {
  verdict: keyof typeof controlWords;
  runId: string | null;
  askedAt: Date | null;
}): string =>
  `${controlWords[last.verdict]}${last.askedAt === null ? '' : ` (${last.runId}, ${last.askedAt.toISOString()})`}`;
