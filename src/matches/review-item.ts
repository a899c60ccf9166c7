import type { Party } from '../roster/customer.js';
import type { Absence, DispositionVerdict, ItemState } from '../vocabulary.js';
import { foldName, type Match, pairMatches } from './match.js';

/** The decision that stands about an item. */
interface Disposition {
  verdict: DispositionVerdict;
  /** False while a second person has yet to confirm it. */
  isFinal: boolean;
  /** What the reviewer had before them; the decision holds as long as it is the same. */
  seen: SeenFacts;
  /** From when on it must be decided anew; null for never. */
  expiresAt: Date | null;
}

/** A match of a party that somebody has to decide about, or has. */
export interface ReviewItem {
  itemId: number;
  /** As it was last seen while it was not absent. */
  listed: Match;
  state: ItemState;
  /** Null while the match is listed. */
  absence: Absence | null;
  /** The decision that stands, or that a second person has yet to confirm; null without one. */
  disposition: Disposition | null;
}

/** Why an item is open again: a decision has run out, or what it was bound to has changed. */
type ReopeningReason = SeenField | 'expired' | 'returned';

/** What happens to an item; an item of which nothing is said stays as it is. */
export type ItemStep =
  | { kind: 'opened'; match: Match; absence: Absence | null }
  | { kind: 'reopened'; item: ReviewItem; match: Match; reasons: readonly ReopeningReason[] }
  /** Only its listed facts are new: a score, a rank, an id; `state` is as before unless the match was absent. */
  | { kind: 'carried'; item: ReviewItem; match: Match; state: ItemState }
  /** Waits for `no_longer_matched`; a false positive does so when it had run out before its match was absent. */
  | { kind: 'absent'; item: ReviewItem; listed: Match; absence: Absence; hasRunOut: boolean }
  /** A false positive closes by itself. */
  | { kind: 'gone'; item: ReviewItem; absence: Absence };

/** A party with its matches as they are now. */
export interface ReviewedParty {
  customer: SeenCustomer;
  /** Whether the roster still names the party: if not, none of its matches counts. */
  isCurrent: boolean;
  /** Those of the last answer, and those that cut lists hide. */
  matches: readonly Match[];
  items: readonly ReviewItem[];
  /** Whether somebody has to look at a match that is no item yet. */
  needsReview: (match: Match) => boolean;
  /** Whose doing it is when the match of an item is absent. */
  causeOf: (item: ReviewItem) => 'service_data' | 'customer_record' | 'settings';
}

/**
 * What a party's matches of now mean for its items. Decisions hold while what they were bound to is the same, also under another id and
 * when a match was absent meanwhile; anything material opens the item again with the reason. An absent match closes only what was decided
 * as a false positive; every other item waits, and keeps its age when the match returns.
 */
export function projectItems(party: ReviewedParty, now: Date): readonly ItemStep[] {
  const { matches, items, needsReview, isCurrent } = party;
  // Where a match that is listed could be two items, the one that is not closed is meant.
  const [gone, listed] = [items.filter(({ state }) => state === 'gone'), items.filter(({ state }) => state !== 'gone')];
  const present = pairItems(listed, matches);
  const back = pairItems(gone, present.unpaired);
  const opened = back.unpaired
    .filter(needsReview)
    .map((match): ItemStep => ({ kind: 'opened', match, absence: isCurrent ? null : 'customer_changed' }));
  return [
    ...[...present.pairs, ...back.pairs].flatMap(({ item, match }) => {
      if (!isCurrent) return toAbsent(item, 'customer_changed', now);
      // A match that was never a hit is an item for another reason than its score.
      const isBelow = item.listed.isHit && !match.isHit && !needsReview(match);
      return isBelow
        ? toAbsent(item, toAbsence(party, item, 'below_threshold'), now, match.id)
        : assessPair(item, match, party, now);
    }),
    ...present.missing.flatMap((item) =>
      toAbsent(item, isCurrent ? toAbsence(party, item, 'not_returned') : 'customer_changed', now),
    ),
    ...opened,
  ];
}

function toAbsence({ causeOf }: ReviewedParty, item: ReviewItem, byService: Absence): Absence {
  const cause = causeOf(item);
  if (cause === 'service_data') return byService;
  return cause === 'settings' ? 'settings_changed' : 'customer_changed';
}

/** `id` is the one that a match below the threshold has now: the item is known by it when the match is a hit again. */
function toAbsent(item: ReviewItem, absence: Absence, now: Date, id = item.listed.id): readonly ItemStep[] {
  if (item.state === 'gone') return [];
  const hasRunOut = item.state === 'settled' && isExpired(item.disposition, now);
  if (item.state === 'settled' && !hasRunOut) return [{ kind: 'gone', item, absence }];
  // What the customer's record or our settings have caused stays so; the service's own absence may pass from one kind to the other.
  const kept = item.absence === 'customer_changed' || item.absence === 'settings_changed' ? item.absence : absence;
  if (kept === item.absence && id === item.listed.id) return [];
  return [{ kind: 'absent', item, listed: { ...item.listed, id }, absence: kept, hasRunOut }];
}

function assessPair(item: ReviewItem, match: Match, { customer }: ReviewedParty, now: Date): readonly ItemStep[] {
  const { state, disposition, absence } = item;
  const wasAbsent = absence !== null || state === 'gone';
  if (disposition?.verdict === 'no_longer_matched') return [{ kind: 'reopened', item, match, reasons: ['returned'] }];
  if (disposition === null) {
    if (state === 'gone') return [{ kind: 'reopened', item, match, reasons: ['returned'] }];
    return !wasAbsent && isSameMatch(item.listed, match) ? [] : [{ kind: 'carried', item, match, state }];
  }
  const changed = compareSeenFacts(disposition.seen, toSeenFacts(customer, match));
  const isDecided = state === 'proposed' || (disposition.isFinal && disposition.verdict !== 'inconclusive');
  const reasons: readonly ReopeningReason[] = [
    ...changed,
    ...(isExpired(disposition, now) ? (['expired'] as const) : []),
  ];
  if (isDecided && reasons.length > 0) return [{ kind: 'reopened', item, match, reasons }];
  if (wasAbsent) return [{ kind: 'carried', item, match, state: toState(disposition) }];
  return isSameMatch(item.listed, match) ? [] : [{ kind: 'carried', item, match, state }];
}

const isExpired = (disposition: Disposition | null, now: Date): boolean =>
  disposition !== null && disposition.expiresAt !== null && disposition.expiresAt <= now;

/** The state of an item by a decision that holds; `inconclusive`, and what one person alone proposed, leave it waiting. */
export function toState({ verdict, isFinal }: Pick<Disposition, 'verdict' | 'isFinal'>): ItemState {
  if (!isFinal) return 'proposed';
  if (verdict === 'true_match') return 'confirmed';
  if (verdict === 'no_longer_matched') return 'gone';
  return verdict === 'false_positive' ? 'settled' : 'open';
}

const isSameMatch = (left: Match, right: Match): boolean => JSON.stringify(left) === JSON.stringify(right);

// Where a match may be any of several items, it is taken for the one that matters most: none is settled by a decision about another.
const byWeight: readonly ItemState[] = ['confirmed', 'open', 'proposed', 'settled', 'gone'];
const toWeight = ({ state, disposition, absence }: ReviewItem): number => {
  const isAbsent = state === 'gone' || absence !== null;
  return byWeight.indexOf(isAbsent && disposition !== null ? toState(disposition) : state === 'gone' ? 'open' : state);
};

function pairItems(items: readonly ReviewItem[], matches: readonly Match[]) {
  const weighed = items.toSorted((one, other) => toWeight(one) - toWeight(other));
  // Each item's match is an object of its own, so that it leads back to its item.
  const owners = new Map(weighed.map((item) => [{ ...item.listed }, item]));
  const { pairs, onlyBefore, onlyAfter } = pairMatches([...owners.keys()], matches);
  const toOwner = (listed: Match): readonly ReviewItem[] => {
    const item = owners.get(listed);
    return item === undefined ? [] : [item];
  };
  return {
    pairs: pairs.flatMap(({ before, after }) => toOwner(before).map((item) => ({ item, match: after }))),
    missing: onlyBefore.flatMap(toOwner),
    unpaired: onlyAfter,
  };
}

/** The customer's side of what a reviewer sees. */
export type SeenCustomer = Pick<Party, 'role' | 'type' | 'name' | 'birthDate' | 'countries'>;

/**
 * What a decision is bound to: the listed party's facts and the customer's, in one order and spelling. Without score, rank, risk tier, match
 * id and whether the service flags it: none of them says who somebody is.
 */
export interface SeenFacts {
  listed: {
    schema: string;
    name: string;
    topics: readonly string[];
    birthDates: readonly string[];
    countries: readonly string[];
  };
  customer: {
    role: string;
    type: string;
    name: string;
    birthDate: string | null;
    countries: readonly string[];
  };
}

/** The facts whose change opens an item again, as reports name them. */
const seenFields = [
  'listed_schema',
  'listed_name',
  'listed_topics',
  'listed_birth_date',
  'listed_country',
  'customer_role',
  'customer_type',
  'customer_name',
  'customer_birth_date',
  'customer_country',
] as const;
type SeenField = (typeof seenFields)[number];

/** What a reviewer sees of a match and the party that it was found for. */
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

/** Which of the facts differ, in a fixed order; none when a decision still holds. */
export function compareSeenFacts(before: SeenFacts, after: SeenFacts): readonly SeenField[] {
  return seenFields.filter((field) => read[field](before) !== read[field](after));
}

/** One text for the same facts, whatever order they came in: what digests are made of. */
export const toSeenText = (facts: SeenFacts): string => JSON.stringify(seenFields.map((field) => read[field](facts)));

const toSet = (values: readonly string[]): readonly string[] => [...new Set(values)].sort();

const read: Readonly<Record<SeenField, (facts: SeenFacts) => string>> = {
  listed_schema: ({ listed }) => listed.schema,
  listed_name: ({ listed }) => listed.name,
  listed_topics: ({ listed }) => JSON.stringify(listed.topics),
  listed_birth_date: ({ listed }) => JSON.stringify(listed.birthDates),
  listed_country: ({ listed }) => JSON.stringify(listed.countries),
  customer_role: ({ customer }) => customer.role,
  customer_type: ({ customer }) => customer.type,
  customer_name: ({ customer }) => customer.name,
  customer_birth_date: ({ customer }) => customer.birthDate ?? '',
  customer_country: ({ customer }) => JSON.stringify(customer.countries),
};

/** What stands about an item. */
export interface CurrentDecision {
  dispositionId: number;
  verdict: DispositionVerdict;
  /** False for a proposal that nobody has confirmed yet. */
  isFinal: boolean;
  /** Whose it is: one person's, or that of who proposed it and who confirmed it. */
  reviewers: readonly string[];
  /** Whether it is about just what is to be seen now. */
  isAboutTheSame: boolean;
}

/** What a decision is taken for. */
export type DecisionStep =
  /** It is said already. */
  { kind: 'same_already' } | { kind: 'decided' } | { kind: 'proposed' } | { kind: 'confirmed'; proposalId: number };

const releasing: ReadonlySet<DispositionVerdict> = new Set(['false_positive', 'no_longer_matched']);

/**
 * What it means that a reviewer says something about an alert of which something may stand already. One person restricts at once: a true
 * match is decided, also in place of a proposal. Where two people are needed to release, one person's words, however often, are a proposal,
 * and only another person who says the same about the same confirms it. `inconclusive` releases nothing, so one person is enough.
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
    if (!current.isFinal && !isOwn) return { kind: 'confirmed', proposalId: current.dispositionId };
    if (needsTwo || (current.isFinal && isOwn)) return { kind: 'same_already' };
  }
  return { kind: needsTwo ? 'proposed' : 'decided' };
}
