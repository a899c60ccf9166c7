/** Figures are read no more often than this. */
const leastRestMs = 60_000;
/** And no more of the time is spent on it than one part in so many. */
const restShare = 20;

/** Work that is left out, which gives `otherwise`, while the last time of it is not long enough ago. */
export function nowAndThen<Given extends readonly unknown[], Result>(
  work: (...given: Given) => Promise<Result>,
  otherwise: Result,
): (...given: Given) => Promise<Result> {
  let restUntilMs = 0;
  return async (...given) => {
    const begunMs = performance.now();
    if (begunMs < restUntilMs) return otherwise;
    try {
      return await work(...given);
    } finally {
      const endedMs = performance.now();
      restUntilMs = endedMs + Math.max(leastRestMs, (endedMs - begunMs) * restShare);
    }
  };
}
