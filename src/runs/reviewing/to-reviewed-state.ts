import type { ReviewItem } from '../../matches/review/project-items.js';

/**
 * What decisions make of a party's state: the worst of all that is listed. Null while anything is undecided; where a list was cut nobody is
 * settled by what it shows.
 */
export function toReviewedState(
  items: readonly Pick<ReviewItem, 'state'>[],
  truncated: boolean,
): 'settled_false_positive' | 'incompletely_seen' | 'confirmed' | null {
  const states = new Set(items.map(({ state }) => state));
  if (states.has('confirmed')) return 'confirmed';
  if (states.has('open') || states.has('proposed') || !states.has('settled')) return null;
  return truncated ? 'incompletely_seen' : 'settled_false_positive';
}
