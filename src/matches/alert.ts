import type { FactsOf, seenCustomerSchema, seenFactsSchema } from '../vocabulary/facts.js';
import type { Absence, AlertState, DispositionVerdict } from '../vocabulary.js';
import { foldName, type Match, pairMatches, toSet } from './match.js';

/** The current disposition of an alert. */
interface Disposition {
  verdict: DispositionVerdict;
  /** False while a second person must confirm it. */
  isFinal: boolean;
  /** The facts that the reviewer saw; the disposition holds while they are the same. Null once they are erased. */
  seen: SeenFacts | null;
  /** When it expires; null for never. */
  expiresAt: Date | null;
}

/** An alert: a match of a party that waits for a disposition or has one. */
export interface Alert {
  alertId: number;
  /** As last seen while it was present. */
  listed: Match;
  state: AlertState;
  /** Null while the match is present. */
  absence: Absence | null;
  /** The current disposition, or the proposed one; null without one. */
  disposition: Disposition | null;
}

/** Why an alert is open again: its disposition expired, its facts changed or are erased, or its match returned. */
type ReopeningReason = SeenField | 'erased' | 'expired' | 'returned';

/** A change of an alert; alerts without a step stay as they are. */
export type AlertStep =
  | { kind: 'opened'; match: Match; absence: Absence | null }
  | { kind: 'reopened'; alert: Alert; match: Match; reasons: readonly ReopeningReason[] }
  /** Only a score, a rank or an id is new; `state` is unchanged unless the match was absent. */
  | { kind: 'carried'; alert: Alert; match: Match; state: AlertState }
  /** Waits for `no_longer_matched`; also a false positive that expired before its match was absent. */
  | { kind: 'absent'; alert: Alert; listed: Match; absence: Absence; hasRunOut: boolean }
  /** A false positive is closed automatically. */
  | { kind: 'auto_closed'; alert: Alert; absence: Absence };

/** A party with its present matches. */
export interface ReviewedParty {
  customer: SeenCustomer;
  /** Whether the roster names the party; otherwise its matches do not count. */
  isCurrent: boolean;
  /** Those of the last answer, and those that truncated lists hide. */
  matches: readonly Match[];
  alerts: readonly Alert[];
  /** Whether a match without an alert needs one. */
  needsReview: (match: Match) => boolean;
  /** The cause of an absent match. */
  causeOf: (alert: Alert) => 'service_data' | 'customer_record' | 'settings';
}

/**
 * Computes the steps of a party's alerts from its present matches. A disposition holds while its facts are the same, also under another id
 * or after an absence; a material change re-opens the alert with the reason. An absent match closes only a false positive; every other
 * alert waits, and keeps its age when the match returns.
 */
export function projectAlerts(party: ReviewedParty, now: Date): readonly AlertStep[] {
  const { matches, alerts, needsReview, isCurrent } = party;
  // A match that fits two alerts belongs to the one that is not closed.
  const [gone, listed] = [
    alerts.filter(({ state }) => state === 'no_longer_matched'),
    alerts.filter(({ state }) => state !== 'no_longer_matched'),
  ];
  const present = pairAlerts(listed, matches);
  const back = pairAlerts(gone, present.unpaired);
  const opened = back.unpaired
    .filter(needsReview)
    .map((match): AlertStep => ({ kind: 'opened', match, absence: isCurrent ? null : 'customer_changed' }));
  return [
    ...[...present.pairs, ...back.pairs].flatMap(({ alert, match }) => {
      if (!isCurrent) return toAbsent(alert, 'customer_changed', now);
      // A match that was never a hit has an alert for another reason than its score.
      const isBelow = alert.listed.isHit && !match.isHit && !needsReview(match);
      return isBelow
        ? toAbsent(alert, toAbsence(party, alert, 'below_threshold'), now, match.id)
        : assessPair(alert, match, party, now);
    }),
    ...present.missing.flatMap((alert) =>
      toAbsent(alert, isCurrent ? toAbsence(party, alert, 'not_returned') : 'customer_changed', now),
    ),
    ...opened,
  ];
}

function toAbsence({ causeOf }: ReviewedParty, alert: Alert, byService: Absence): Absence {
  const cause = causeOf(alert);
  if (cause === 'service_data') return byService;
  return cause === 'settings' ? 'settings_changed' : 'customer_changed';
}

/** `id` is the present id of a match below the threshold, by which the alert is found when the match is a hit again. */
function toAbsent(alert: Alert, absence: Absence, now: Date, id = alert.listed.id): readonly AlertStep[] {
  if (alert.state === 'no_longer_matched') return [];
  const hasRunOut = alert.state === 'false_positive' && isExpired(alert.disposition, now);
  if (alert.state === 'false_positive' && !hasRunOut) return [{ kind: 'auto_closed', alert, absence }];
  // An absence caused by the customer's record or the settings stays; the service's own can change its kind.
  const kept = alert.absence === 'customer_changed' || alert.absence === 'settings_changed' ? alert.absence : absence;
  if (kept === alert.absence && id === alert.listed.id) return [];
  return [{ kind: 'absent', alert, listed: { ...alert.listed, id }, absence: kept, hasRunOut }];
}

function assessPair(alert: Alert, match: Match, { customer }: ReviewedParty, now: Date): readonly AlertStep[] {
  const { state, disposition, absence } = alert;
  const wasAbsent = absence !== null || state === 'no_longer_matched';
  if (disposition?.verdict === 'no_longer_matched') return [{ kind: 'reopened', alert, match, reasons: ['returned'] }];
  if (disposition === null) {
    if (state === 'no_longer_matched') return [{ kind: 'reopened', alert, match, reasons: ['returned'] }];
    return !wasAbsent && isSameMatch(alert.listed, match) ? [] : [{ kind: 'carried', alert, match, state }];
  }
  const changed =
    disposition.seen === null
      ? (['erased'] as const)
      : compareSeenFacts(disposition.seen, toSeenFacts(customer, match));
  const isDecided = state === 'pending_approval' || (disposition.isFinal && disposition.verdict !== 'inconclusive');
  const reasons: readonly ReopeningReason[] = [
    ...changed,
    ...(isExpired(disposition, now) ? (['expired'] as const) : []),
  ];
  if (isDecided && reasons.length > 0) return [{ kind: 'reopened', alert, match, reasons }];
  if (wasAbsent) return [{ kind: 'carried', alert, match, state: toState(disposition) }];
  return isSameMatch(alert.listed, match) ? [] : [{ kind: 'carried', alert, match, state }];
}

const isExpired = (disposition: Disposition | null, now: Date): boolean =>
  disposition !== null && disposition.expiresAt !== null && disposition.expiresAt <= now;

/** The state of an alert by a valid disposition; `inconclusive` and a proposal leave it waiting. */
export function toState({ verdict, isFinal }: Pick<Disposition, 'verdict' | 'isFinal'>): AlertState {
  if (!isFinal) return 'pending_approval';
  if (verdict === 'true_match') return 'true_match';
  if (verdict === 'no_longer_matched') return 'no_longer_matched';
  return verdict === 'false_positive' ? 'false_positive' : 'open';
}

const isSameMatch = (left: Match, right: Match): boolean => JSON.stringify(left) === JSON.stringify(right);

// A match that fits several alerts belongs to the most important one, so that no disposition closes another alert.
const byWeight: readonly AlertState[] = [
  'true_match',
  'open',
  'pending_approval',
  'false_positive',
  'no_longer_matched',
];
const toWeight = ({ state, disposition, absence }: Alert): number => {
  const isAbsent = state === 'no_longer_matched' || absence !== null;
  return byWeight.indexOf(
    isAbsent && disposition !== null ? toState(disposition) : state === 'no_longer_matched' ? 'open' : state,
  );
};

function pairAlerts(alerts: readonly Alert[], matches: readonly Match[]) {
  const weighed = alerts.toSorted((one, other) => toWeight(one) - toWeight(other));
  // Each alert's match is a separate object, which identifies its alert.
  const owners = new Map(weighed.map((alert) => [{ ...alert.listed }, alert]));
  const { pairs, onlyBefore, onlyAfter } = pairMatches([...owners.keys()], matches);
  const toOwner = (listed: Match): readonly Alert[] => {
    const alert = owners.get(listed);
    return alert === undefined ? [] : [alert];
  };
  return {
    pairs: pairs.flatMap(({ before, after }) => toOwner(before).map((alert) => ({ alert, match: after }))),
    missing: onlyBefore.flatMap(toOwner),
    unpaired: onlyAfter,
  };
}

export type SeenCustomer = FactsOf<typeof seenCustomerSchema>;
export type SeenFacts = FactsOf<typeof seenFactsSchema>;

/** The facts of a match and its party that a reviewer sees. */
export function toSeenFacts(customer: SeenCustomer, match: Match): SeenFacts {
  const { role, type, name, birthDate, countries } = customer;
  return {
    listed: {
      schema: match.schema,
      name: foldName(match.name),
      topics: toSet(match.topics),
      birthDates: toSet(match.birthDates),
      countries: toSet(match.countries),
    },
    customer: { role, type, name: foldName(name), birthDate, countries: toSet(countries) },
  };
}

/** The facts that differ, in a fixed order; none while a disposition holds. */
export function compareSeenFacts(before: SeenFacts, after: SeenFacts): readonly SeenField[] {
  return comparedFacts.filter(({ read }) => read(before) !== read(after)).map(({ field }) => field);
}

/** One text for the same facts in any order, for digests. */
export const toSeenText = (facts: SeenFacts): string => JSON.stringify(comparedFacts.map(({ read }) => read(facts)));

/** The facts whose change re-opens an alert, as reports name them, in the order of digests. */
const comparedFacts = [
  { field: 'listed_schema', read: ({ listed }) => listed.schema },
  { field: 'listed_name', read: ({ listed }) => listed.name },
  { field: 'listed_topics', read: ({ listed }) => JSON.stringify(listed.topics) },
  { field: 'listed_birth_date', read: ({ listed }) => JSON.stringify(listed.birthDates) },
  { field: 'listed_country', read: ({ listed }) => JSON.stringify(listed.countries) },
  { field: 'customer_role', read: ({ customer }) => customer.role },
  { field: 'customer_type', read: ({ customer }) => customer.type },
  { field: 'customer_name', read: ({ customer }) => customer.name },
  { field: 'customer_birth_date', read: ({ customer }) => customer.birthDate ?? '' },
  { field: 'customer_country', read: ({ customer }) => JSON.stringify(customer.countries) },
] as const satisfies readonly { field: string; read: (facts: SeenFacts) => string }[];
type SeenField = (typeof comparedFacts)[number]['field'];

/** The current disposition of an alert. */
export interface CurrentDecision {
  dispositionId: number;
  verdict: DispositionVerdict;
  /** False for a proposal without confirmation. */
  isFinal: boolean;
  /** The person, or the proposer and the confirmer. */
  reviewers: readonly string[];
  /** Whether it is bound to the present facts. */
  isAboutTheSame: boolean;
}

/** The effect of a disposition. */
export type DecisionStep =
  /** The same disposition exists. */
  { kind: 'same_already' } | { kind: 'decided' } | { kind: 'proposed' } | { kind: 'approved'; proposalId: number };

const releasing: ReadonlySet<DispositionVerdict> = new Set(['false_positive', 'no_longer_matched']);

/**
 * The effect of a reviewer's disposition on an alert that may have one. One person is enough to restrict: a true match is decided, also
 * instead of a proposal. Where a release needs two people, one person only proposes, and only another person confirms the same about the
 * same facts. `inconclusive` releases nothing, so one person is enough.
 */
export function classifyDecision(
  current: CurrentDecision | null,
  {
    verdict,
    reviewer,
    needsSecondPerson,
  }: { verdict: DispositionVerdict; reviewer: string; needsSecondPerson: boolean },
): DecisionStep {
  const needsTwo = needsSecondPerson && releasing.has(verdict);
  if (current?.isAboutTheSame === true && current.verdict === verdict) {
    const isOwn = current.reviewers.includes(reviewer);
    if (!current.isFinal && !isOwn) return { kind: 'approved', proposalId: current.dispositionId };
    if (needsTwo || (current.isFinal && isOwn)) return { kind: 'same_already' };
  }
  return { kind: needsTwo ? 'proposed' : 'decided' };
}
