// The normal quantile that leaves 2.5 % on either side.
const quantile = 1.959964;

/** A share and the bounds between which the true one lies with 95 % confidence (Wilson's score interval); null without any trial. */
export interface Share {
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
