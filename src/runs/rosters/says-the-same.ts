import type { SeatedParty, SeatedRecord } from '../../store/roster-cases.js';
import { toPartyKey } from './seat-parties.js';

/**
 * Tells whether two records say the same, whatever the order of their parties: rows that were stored by an earlier version have digests
 * of the order that their source gave.
 */
export function saysTheSame(known: SeatedRecord | null, said: SeatedRecord): boolean {
  return known !== null && toComparable(known) === toComparable(said);
}

function toComparable({ parties, said: _, ...rest }: SeatedRecord): string {
  const others = Object.entries(rest).map(([key, value]) => [
    key,
    isObject(value) ? Object.entries(value).toSorted() : value,
  ]);
  const keys = parties.filter((party): party is SeatedParty => party !== null).map(toPartyKey);
  return JSON.stringify([others.toSorted(), keys.toSorted()]);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
