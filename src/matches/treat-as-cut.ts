import type { MatchSet } from './match.js';

/** The match set as it has to be judged where lists are known to be cut at `cap` without a word: one of just that length may be cut. */
export function treatAsCut(matchSet: MatchSet, cap: number | null): MatchSet {
  return matchSet.total === cap && !matchSet.truncated ? { ...matchSet, truncated: true } : matchSet;
}
