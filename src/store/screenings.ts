import type { Queryable } from './database.js';
import { requireRows } from './require-all.js';

/** What came of a planned screening of one party. */
export type ScreeningResult =
  | { partyId: number; outcome: 'screened' | 'reused'; responseId: number; reason: null }
  | { partyId: number; outcome: 'failed'; responseId: null; reason: string };

/** Saves outcomes of a run's planned screenings. */
export async function saveScreeningResults(
  transaction: Queryable,
  runId: number,
  batchId: number,
  results: readonly ScreeningResult[],
): Promise<void> {
  const groups = new Map<string, ScreeningResult[]>();
  for (const result of results) {
    const key = `${result.outcome} ${result.reason}`;
    const group = groups.get(key);
    if (group) group.push(result);
    else groups.set(key, [result]);
  }
  await Promise.all([...groups.values()].map((group) => saveAlike(transaction, runId, batchId, group)));
}

/** Saves results of one outcome and reason. */
async function saveAlike(
  transaction: Queryable,
  runId: number,
  batchId: number,
  results: readonly ScreeningResult[],
): Promise<void> {
  const [first] = results;
  if (first === undefined) return;
  // No join: a plan that was just made has no statistics yet, and a join walks through the whole run for every batch.
  const saved = await transaction.execute(
    `update screening set outcome = $4, outcome_reason = $5, batch_id = $2,
       response_id = ($6::bigint[])[array_position($3::bigint[], party_id)]
     where run_id = $1 and party_id = any ($3::bigint[]) and outcome = 'remaining'`,
    [
      runId,
      batchId,
      results.map((result) => result.partyId),
      first.outcome,
      first.reason,
      results.map((result) => result.responseId),
    ],
  );
  requireRows(saved, results.length, 'screening');
}

/** Fails everybody whom a run has not asked about yet, for one reason. */
export async function failRemaining(transaction: Queryable, runId: number, reason: string): Promise<void> {
  await transaction.execute(
    `update screening set outcome = 'failed', outcome_reason = $2 where run_id = $1 and outcome = 'remaining'`,
    [runId, reason],
  );
}
