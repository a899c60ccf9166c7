/** Milliseconds before attempt `attempt + 1`: full jitter over a capped exponential; `random` gives 0 up to 1. */
export const computeBackoffDelay = (
  attempt: number,
  settings: { baseDelayMs: number; maxDelayMs: number },
  random: () => number,
): number => Math.round(random() * Math.min(settings.maxDelayMs, settings.baseDelayMs * 2 ** (attempt - 1)));
