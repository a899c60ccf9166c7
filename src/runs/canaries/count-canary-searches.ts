/** How many control searches a run of so many searches makes when nothing comes between: at its start, after every `every` and at its end. */
export function countCanarySearches(searches: number, canaries: number, every: number): number {
  const amid = Math.max(0, Math.ceil(searches / every) - 1);
  return canaries * (1 + amid + (searches > 0 ? 1 : 0));
}
