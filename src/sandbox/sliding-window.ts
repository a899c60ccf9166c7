/** Lets at most so many calls through in any window of time that slides. */
export interface SlidingWindow {
  /** Takes a place for a call at `atMs` and gives 0, or takes none and gives the milliseconds until one is free. */
  take(atMs: number): number;
}

/** Creates a window of `lengthMs` with `places`; a refused call takes no place. Times may come slightly out of order. */
export const createSlidingWindow = (places: number, lengthMs: number): SlidingWindow => {
  let taken: number[] = [];
  return {
    take: (atMs) => {
      const before = taken.findLastIndex((time) => time <= atMs) + 1;
      const oldest = taken[before - places];
      if (oldest !== undefined && atMs - oldest < lengthMs) return lengthMs - (atMs - oldest);
      taken.splice(before, 0, atMs);
      // Only the last places decide; a few more are kept for a call that comes late, and cutting is done rarely.
      if (taken.length > places * 2 + 1_000) taken = taken.slice(-places - 100);
      return 0;
    },
  };
};
