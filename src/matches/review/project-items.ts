import type { Match } from '../match.js';
import { pairMatches } from '../pair-matches.js';
import type { Disposition } from './disposition.js';
import { compareSeenFacts, type SeenCustomer, type SeenField, toSeenFacts } from './seen-facts.js';

/** The states of an alert; `proposed` waits for a second person, `gone` is closed because its match is absent. */
export const itemStates = ['open', 'proposed', 'settled', 'confirmed', 'gone'] as const;
export type ItemState = (typeof itemStates)[number];

/**
 * Why the match of an alert is absent: a whole answer lacks it, it is no hit any more, or it vanished with the customer's record or with
 * our settings.
 */
export const absences = ['not_returned', 'below_threshold', 'customer_changed', 'settings_changed'] as const;
export type Absence = (typeof absences)[number];

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
export type ReopeningReason = SeenField | 'expired' | 'returned';

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
        : judgePair(item, match, party, now);
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

function judgePair(item: ReviewItem, match: Match, { customer }: ReviewedParty, now: Date): readonly ItemStep[] {
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

interface PairedItems {
  pairs: readonly { item: ReviewItem; match: Match }[];
  missing: readonly ReviewItem[];
  unpaired: readonly Match[];
}

// Where a match may be any of several items, it is taken for the one that matters most: none is settled by a decision about another.
const byWeight: readonly ItemState[] = ['confirmed', 'open', 'proposed', 'settled', 'gone'];
const toWeight = ({ state, disposition, absence }: ReviewItem): number => {
  const isAbsent = state === 'gone' || absence !== null;
  return byWeight.indexOf(isAbsent && disposition !== null ? toState(disposition) : state === 'gone' ? 'open' : state);
};

function pairItems(items: readonly ReviewItem[], matches: readonly Match[]): PairedItems {
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
