import type { AssuranceItem } from '../../../store/assurances.js';
import { type Share, toShare } from './wilson-interval.js';

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
