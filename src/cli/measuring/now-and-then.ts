/** Figures are read no more often than this. */
const leastRestMs = 60_000;
/** And no more of the time is spent on it than one part in so many. */
const restShare = 20;

/** Work that is left out while the last time of it is not long enough ago. */
export function nowAndThen<Given extends readonly unknown[]>(
  work: (...given: Given) => Promise<void>,
): (...given: Given) => Promise<void> {
  let restUntilMs = 0;
  return async (...given) => {
    const begunMs = performance.now();
    if (begunMs < restUntilMs) return;
    try {
      await work(...given);
    } finally {
      const endedMs = performance.now();
      restUntilMs = endedMs + Math.max(leastRestMs, (endedMs - begunMs) * restShare);
    }
  };
}
