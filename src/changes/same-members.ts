/** Whether two lists hold the same values, whatever their order and repetitions. */
export function sameMembers(left: readonly string[], right: readonly string[]): boolean {
  const known = new Set(left);
  const seen = new Set(right);
  return known.size === seen.size && [...seen].every((value) => known.has(value));
}
