import { createHmac } from 'node:crypto';
import { toStamp } from '../../matches/review/item-code.js';
import { toSeenFacts, toSeenText } from '../../matches/review/seen-facts.js';
import type { DecidableItem } from '../../store/review/decisions.js';

type SeenItem = Pick<DecidableItem, 'customer' | 'listed'>;

/** The keyed digest (hex) of what is to be seen of an item: a decision is bound to it. */
export const toSeenDigest = ({ customer, listed }: DecidableItem, digestKey: Buffer): string =>
  digest(toSeenText(toSeenFacts(customer, listed)), digestKey);

/**
 * What names the state in which a reviewer saw an item: what was to be seen, and what was said about it last, whether it stands or not, so
 * that a list from before a decision never takes effect after it was undone or has run out. Keyed: nothing can be told from it.
 */
export const toItemStamp = (item: SeenItem & Pick<DecidableItem, 'decisions'>, digestKey: Buffer): string =>
  toStampAt(item, item.decisions.at(-1) ?? null, digestKey);

/** Why an item is no longer as it was when this stamp was made; null when it is. */
export function findStaleness(
  item: DecidableItem,
  stamp: string,
  digestKey: Buffer,
): 'changed_since' | 'decided_since' | null {
  if (stamp === toItemStamp(item, digestKey)) return null;
  const isAsBefore = [null, ...item.decisions].some((before) => stamp === toStampAt(item, before, digestKey));
  return isAsBefore ? 'decided_since' : 'changed_since';
}

const toStampAt = ({ customer, listed }: SeenItem, dispositionId: number | null, digestKey: Buffer): string =>
  toStamp(digest(`${dispositionId ?? 'none'} ${toSeenText(toSeenFacts(customer, listed))}`, digestKey));

const digest = (text: string, key: Buffer): string => createHmac('sha256', key).update(text).digest('hex');
