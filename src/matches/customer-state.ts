import type { Match, MatchSet } from './match.js';

/** The states of a customer, best first; a customer's is the worst of its parties' (DESIGN: The one rule). */
export const customerStates = [
  'clear',
  'below_threshold',
  'settled_false_positive',
  'incompletely_seen',
  'not_screened',
  'open_hit',
  'confirmed',
] as const;
export type CustomerState = (typeof customerStates)[number];

/** The states that an answer alone can give. */
export type PartyState = Extract<CustomerState, 'clear' | 'below_threshold' | 'incompletely_seen' | 'open_hit'>;

/**
 * The state of a party after an answer: a hit outranks a cut list, also one that only the cut keeps out of sight, and a cut list is
 * never clear.
 */
export function toPartyState(matchSet: MatchSet, unreturned: readonly Match[]): PartyState {
  if ([...matchSet.matches, ...unreturned].some((match) => match.isHit)) return 'open_hit';
  if (matchSet.truncated) return 'incompletely_seen';
  return matchSet.total === 0 ? 'clear' : 'below_threshold';
}
