import type { Match } from '../match.js';
import { pairMatches } from '../pair-matches.js';
import type { Disposition } from './disposition.js';
import { compareSeenFacts, type SeenCustomer, type SeenField, toSeenFacts } from './seen-facts.js';

/** Where an item stands; `gone` when its match is no longer listed. */
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
  /** As it was last seen. */
  listed: Match;
  state: ItemState;
  /** The decision that stands, or that a second person has yet to confirm; null without one. */
  disposition: Disposition | null;
}

/** Why an item is open again: a decision has run out, or what it was bound to has changed. */
export type ReopeningReason = SeenField | 'expired' | 'returned';

/** What happens to an item; an item of which nothing is said stays as it is. */
export type ItemStep =
  | { kind: 'opened'; match: Match }
  | { kind: 'reopened'; item: ReviewItem; match: Match; reasons: readonly ReopeningReason[] }
  /** Only its listed facts are new: a score, a rank, an id; `state` is where it stands, as before unless the match was gone. */
  | { kind: 'carried'; item: ReviewItem; match: Match; state: ItemState }
  | { kind: 'gone'; item: ReviewItem };

/** A party with its matches as they are now. */
export interface ReviewedParty {
  customer: SeenCustomer;
  /** Those of the last answer, and those that cut lists hide. */
  matches: readonly Match[];
  items: readonly ReviewItem[];
  /** Whether somebody has to look at a match that is no item yet. */
  needsReview: (match: Match) => boolean;
}

/**
 * What a party's matches of now mean for its items. Decisions hold while what they were bound to is the same, also under another id and
 * when a match was away meanwhile; anything material opens the item again with the reason.
 */
export function projectItems({ customer, matches, items, needsReview }: ReviewedParty, now: Date): readonly ItemStep[] {
  // Where a match that is listed could be two items, the one that is not gone is meant.
  const [gone, listed] = [items.filter(({ state }) => state === 'gone'), items.filter(({ state }) => state !== 'gone')];
  const present = pairItems(listed, matches);
  const back = pairItems(gone, present.unpaired);
  return [
    ...present.pairs.flatMap(({ item, match }) => judgePair(item, match, customer, now)),
    ...back.pairs.flatMap(({ item, match }) => judgePair(item, match, customer, now)),
    ...present.missing.map((item): ItemStep => ({ kind: 'gone', item })),
    ...back.unpaired.filter(needsReview).map((match): ItemStep => ({ kind: 'opened', match })),
  ];
}

function judgePair(item: ReviewItem, match: Match, customer: SeenCustomer, now: Date): readonly ItemStep[] {
  const { state, disposition } = item;
  const wasGone = state === 'gone';
  if (disposition === null) {
    if (wasGone) return [{ kind: 'reopened', item, match, reasons: ['returned'] }];
    return isSameMatch(item.listed, match) ? [] : [{ kind: 'carried', item, match, state }];
  }
  const changed = compareSeenFacts(disposition.seen, toSeenFacts(customer, match));
  const isExpired = disposition.expiresAt !== null && disposition.expiresAt <= now;
  const isDecided = state === 'settled' || state === 'confirmed' || state === 'proposed' || wasGone;
  const reasons: readonly ReopeningReason[] = [...changed, ...(isExpired ? (['expired'] as const) : [])];
  if (isDecided && reasons.length > 0) return [{ kind: 'reopened', item, match, reasons }];
  if (wasGone) return [{ kind: 'carried', item, match, state: toState(disposition) }];
  return isSameMatch(item.listed, match) ? [] : [{ kind: 'carried', item, match, state }];
}

/** Where an item stands by a decision that holds; nothing is settled by one that could not tell, or that one person alone proposed. */
export function toState({ verdict, isFinal }: Pick<Disposition, 'verdict' | 'isFinal'>): ItemState {
  if (!isFinal) return 'proposed';
  if (verdict === 'true_match') return 'confirmed';
  return verdict === 'false_positive' ? 'settled' : 'open';
}

const isSameMatch = (left: Match, right: Match): boolean => JSON.stringify(left) === JSON.stringify(right);

interface PairedItems {
  pairs: readonly { item: ReviewItem; match: Match }[];
  missing: readonly ReviewItem[];
  unpaired: readonly Match[];
}

// Where a match may be any of several items, it is taken for the one that matters most: none is settled by a decision about another.
const byWeight: readonly ItemState[] = ['confirmed', 'open', 'proposed', 'settled'];
const toWeight = ({ state, disposition }: ReviewItem): number =>
  byWeight.indexOf(state !== 'gone' ? state : disposition === null ? 'open' : toState(disposition));

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
