import type { StoredItem } from '../../store/review-items.js';

/**
 * What decisions make of a party's state: the worst of all that is listed. Who was confirmed stays so while it is decided anew, whatever the
 * reason. Null while anything else is undecided; where a list was cut nobody is settled by what it shows.
 */
export function toReviewedState(
  items: readonly Pick<StoredItem, 'state' | 'wasConfirmed'>[],
  truncated: boolean,
): 'settled_false_positive' | 'incompletely_seen' | 'confirmed' | null {
  const listed = items.filter(({ state }) => state !== 'gone');
  const states = new Set(listed.map(({ state }) => state));
  if (states.has('confirmed') || listed.some((item) => item.state !== 'settled' && item.wasConfirmed))
    return 'confirmed';
  if (states.has('open') || states.has('proposed') || !states.has('settled')) return null;
  return truncated ? 'incompletely_seen' : 'settled_false_positive';
}
