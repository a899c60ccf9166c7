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
  // The parties are named twice: a plan that was just made has no statistics yet, and the join alone may walk through the whole run.
  await transaction.execute(
    `update screening set outcome = result.outcome, response_id = result.response_id, outcome_reason = result.reason, batch_id = $2
     from unnest($3::bigint[], $4::text[], $5::bigint[], $6::text[]) as result (party_id, outcome, response_id, reason)
     where screening.run_id = $1 and screening.party_id = any ($3::bigint[]) and screening.party_id = result.party_id
       and screening.outcome = 'remaining'`,
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

/** Fails everybody whom a run has not asked about yet, for one reason. */
export async function failRemaining(transaction: Queryable, runId: number, reason: string): Promise<void> {
  await transaction.execute(
    `update screening set outcome = 'failed', outcome_reason = $2 where run_id = $1 and outcome = 'remaining'`,
    [runId, reason],
  );
}
