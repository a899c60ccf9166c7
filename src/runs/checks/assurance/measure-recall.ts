import type { AssuranceItem } from '../../../store/checks.js';

/** Recall of one part of a sample. */
export interface Recall {
  sample: number;
  /** With a valid answer; the shares are of these. */
  answered: number;
  failed: number;
  remaining: number;
  /** With a hit among the results, and with any result at all. */
  found: number;
  withResults: number;
  recall: Share | null;
}

/** Recall by type and script, or by what was changed about the names. */
export interface StratumRecall extends Recall {
  stratum: string;
}

/** What a sample's searches came to. */
export function measureRecall(items: readonly AssuranceItem[]): Recall {
  const answered = items.filter((item) => item.outcome === 'answered');
  const found = answered.filter((item) => item.hits > 0).length;
  return {
    sample: items.length,
    answered: answered.length,
    failed: items.filter((item) => item.outcome === 'failed').length,
    remaining: items.filter((item) => item.outcome === 'remaining').length,
    found,
    withResults: answered.filter((item) => item.results > 0).length,
    recall: toShare(found, answered.length),
  };
}

/** The same for each part of a sample, by name. */
export function measureStrata(
  items: readonly AssuranceItem[],
  toStratum: (item: AssuranceItem) => string,
): readonly StratumRecall[] {
  const strata = [...new Set(items.map(toStratum))].sort();
  return strata.map((stratum) => ({
    stratum,
    ...measureRecall(items.filter((item) => toStratum(item) === stratum)),
  }));
}

// The normal quantile that leaves 2.5 % on either side.
const quantile = 1.959964;

/** A share and the bounds between which the true one lies with 95 % confidence (Wilson's score interval); null without any trial. */
interface Share {
  share: number;
  low: number;
  high: number;
}

/** The share of `successes` in `trials`. */
export function toShare(successes: number, trials: number): Share | null {
  if (trials === 0) return null;
  const share = successes / trials;
  const square = quantile ** 2 / trials;
  const centre = share + square / 2;
  const spread = quantile * Math.sqrt((share * (1 - share)) / trials + square / (4 * trials));
  const bound = (value: number): number => Math.min(1, Math.max(0, value / (1 + square)));
  return { share, low: Math.min(share, bound(centre - spread)), high: Math.max(share, bound(centre + spread)) };
}
