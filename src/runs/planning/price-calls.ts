import type { Workplace } from '../workplace.js';
import { expectControlSearches } from './plan-input.js';

/** What so many searches take and cost, repeats not counted. */
export interface PricedCalls {
  /** Calls to be made, control searches included. */
  calls: number;
  controlSearches: number;
  /** How long the calls take at the configured rate. */
  minutes: number;
  /** What the calls cost, where the price is known. */
  cost: { amount: number; currency: string } | null;
}

/** Adds the control searches to so many searches, and says how long all of them take and what they cost. */
export function priceCalls(settings: Workplace['settings'], searches: number): PricedCalls {
  const { pricePerSearch, currency } = settings.budget;
  const controlSearches = expectControlSearches(settings, searches);
  const calls = searches + controlSearches;
  return {
    calls,
    controlSearches,
    minutes: Math.ceil(calls / settings.service.rate.perSecond / 6) / 10,
    cost: pricePerSearch === undefined ? null : { amount: Math.round(calls * pricePerSearch * 100) / 100, currency },
  };
}
