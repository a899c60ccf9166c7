import type { Queryable } from './database.js';

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
  if (results.length === 0) return;
  // No join: a plan that was just made has no statistics yet, and a join may walk through the whole run for every batch.
  await transaction.execute(
    `update screening set outcome = ($4::text[])[array_position($3::bigint[], party_id)],
       response_id = ($5::bigint[])[array_position($3::bigint[], party_id)],
       outcome_reason = ($6::text[])[array_position($3::bigint[], party_id)], batch_id = $2
     where run_id = $1 and party_id = any ($3::bigint[]) and outcome = 'remaining'`,
    [
      runId,
      batchId,
      results.map((result) => result.partyId),
      results.map((result) => result.outcome),
      results.map((result) => result.responseId),
      results.map((result) => result.reason),
    ],
  );
}

/** Fails everybody that a run was to ask about, also those it has asked about, for one reason. */
export async function failAll(transaction: Queryable, runId: number, reason: string): Promise<void> {
  await transaction.execute(
    `update screening set outcome = 'failed', outcome_reason = $2, response_id = null
     where run_id = $1 and outcome in ('remaining', 'screened', 'reused')`,
    [runId, reason],
  );
}
