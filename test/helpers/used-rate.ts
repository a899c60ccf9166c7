const warmUpMs = 2_000;

/** The share of `perSecond` that was used once the first two seconds are over; instants in milliseconds, in order. */
export const computeUsedRate = (sentMs: readonly number[], perSecond: number): number => {
  const sinceMs = (sentMs[0] ?? 0) + warmUpMs;
  const steady = sentMs.filter((atMs) => atMs >= sinceMs);
  const spanMs = (steady.at(-1) ?? 0) - (steady[0] ?? 0);
  return ((steady.length - 1) * 1_000) / spanMs / perSecond;
};
