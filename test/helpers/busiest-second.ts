/** The most entries that any window of a second holds; instants in milliseconds. */
export const countBusiestSecond = (timesMs: readonly number[]): number => {
  const sorted = timesMs.toSorted((one, other) => one - other);
  let first = 0;
  let most = 0;
  for (const [last, atMs] of sorted.entries()) {
    while (atMs - (sorted[first] ?? atMs) >= 1_000) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
};
