import type { CustomerState } from '../matches/customer-state.js';

/** The order in which a reader meets the states: settled ones first, those that ask for work after them. */
export const stateOrder = [
  'clear',
  'below_threshold',
  'settled_false_positive',
  'confirmed',
  'open_hit',
  'incompletely_seen',
  'not_screened',
] as const satisfies readonly CustomerState[];

/** Each state of a customer in words: its name and what it means. */
export const stateWords: Readonly<Record<CustomerState, { name: string; meaning: string }>> = {
  clear: { name: 'Clear', meaning: 'full answer, nobody on a list matches' },
  below_threshold: {
    name: 'Weak matches only',
    meaning: 'somebody resembles the customer, the service flagged nobody',
  },
  settled_false_positive: { name: 'Settled as false positive', meaning: 'flagged, and a reviewer ruled it out' },
  confirmed: { name: 'Confirmed', meaning: 'a reviewer confirmed that the customer is the listed party' },
  open_hit: { name: 'Open hit', meaning: 'flagged by the service, not decided yet' },
  incompletely_seen: { name: 'Not fully seen', meaning: 'the service cut its answer short, no hit in the part we saw' },
  not_screened: { name: 'Not screened', meaning: 'no valid answer; nothing is known' },
};
