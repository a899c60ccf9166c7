import type { MatchSet } from './match.js';

/** The states of a customer, best first (DESIGN: The one rule). */
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

/** The state of a party whose screening gave this match set: a hit outranks a cut list, and a cut list is never clear. */
export function toPartyState(matchSet: MatchSet): CustomerState {
  if (matchSet.matches.some((match) => match.isHit)) return 'open_hit';
  if (matchSet.truncated) return 'incompletely_seen';
  return matchSet.total === 0 ? 'clear' : 'below_threshold';
}

/** The state of a customer: the worst of its parties'; a customer without a screened party is not screened. */
export function toCustomerState(partyStates: readonly CustomerState[]): CustomerState {
  const worst = Math.max(...partyStates.map((state) => customerStates.indexOf(state)));
  return customerStates[worst] ?? 'not_screened';
}
