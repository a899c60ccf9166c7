import type { MatchSet } from './match.js';

/** The states of a customer, best first; a customer's is the worst of its parties' (DESIGN: The one rule). */
export type CustomerState =
  | 'clear'
  | 'below_threshold'
  | 'settled_false_positive'
  | 'incompletely_seen'
  | 'not_screened'
  | 'open_hit'
  | 'confirmed';

/** The state of a party whose screening gave this match set: a hit outranks a cut list, and a cut list is never clear. */
export function toPartyState(matchSet: MatchSet): CustomerState {
  if (matchSet.matches.some((match) => match.isHit)) return 'open_hit';
  if (matchSet.truncated) return 'incompletely_seen';
  return matchSet.total === 0 ? 'clear' : 'below_threshold';
}
