/** A rate that follows what the service tolerates: where it was refused last, and when; times are milliseconds that only grow. */
export interface AdaptiveRate {
  /** Never exceeded, per second. */
  readonly ceiling: number;
  /** The last refusal that lowered it; null before the first. */
  readonly refusal: { readonly perSecond: number; readonly atMs: number } | null;
}

/** What a refusal leaves of the rate. */
const decreaseFactor = 0.8;
/** The curve is flat a little below the rate that was refused, so that it stays there for long before it tries more. */
const plateauFactor = 0.98;
/** How long it takes to come back to the plateau; the curve is steep further on (CUBIC, RFC 9438, 4.2). */
const recoveryMs = 15_000;
/** A service that refuses everything is still asked now and then, per second. */
const floorPerSecond = 0.1;

/** The rate as configured, never refused yet. */
export const startAdaptiveRate = (ceiling: number): AdaptiveRate => ({ ceiling, refusal: null });

/** The rate at this instant, per second. */
export const computeRate = ({ ceiling, refusal }: AdaptiveRate, nowMs: number): number => {
  if (refusal === null) return ceiling;
  const fromPlateau = (nowMs - refusal.atMs) / recoveryMs - 1;
  const grown = refusal.perSecond * (plateauFactor + (plateauFactor - decreaseFactor) * fromPlateau ** 3);
  return Math.min(ceiling, Math.max(grown, floorPerSecond));
};

/**
 * The rate after a refusal of a request that was sent at `sentMs`: lowered by a factor, but not for what was already under way when it was
 * lowered last.
 */
export const lowerRate = (rate: AdaptiveRate, sentMs: number, nowMs: number): AdaptiveRate =>
  rate.refusal !== null && sentMs < rate.refusal.atMs
    ? rate
    : { ceiling: rate.ceiling, refusal: { perSecond: computeRate(rate, nowMs), atMs: nowMs } };
