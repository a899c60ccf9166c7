import type { Queryable } from '../../store/database/database.js';
import { readMatchSets } from '../../store/responses.js';
import { computeRunSums, type RunSums } from '../../store/run-sums.js';

/** The sums of a run that asked about no customer: its calls, its searches, and what their answers held. */
export async function addUpSearches(
  transaction: Queryable,
  runId: number,
  searches: { made: number; responseIds: readonly number[] },
): Promise<RunSums> {
  const sums = await computeRunSums(transaction, runId);
  const matchSets = await readMatchSets(transaction, searches.responseIds);
  const matches = searches.responseIds.flatMap((responseId) => matchSets.get(responseId)?.matches ?? []);
  const hits = matches.filter((match) => match.isHit).length;
  return { ...sums, counts: { ...sums.counts, searches: searches.made, matches: matches.length, hits } };
}
