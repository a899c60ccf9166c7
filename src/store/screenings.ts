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
  const rows = results.map((result) => ({
    party_id: result.partyId,
    outcome: result.outcome,
    response_id: result.responseId,
    reason: result.reason,
  }));
  await transaction.execute(
    `update screening set outcome = result.outcome, response_id = result.response_id, outcome_reason = result.reason, batch_id = $2
     from jsonb_to_recordset($3::text::jsonb) as result (party_id bigint, outcome text, response_id bigint, reason text)
     where screening.run_id = $1 and screening.party_id = result.party_id and screening.outcome = 'remaining'`,
    [runId, batchId, JSON.stringify(rows)],
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
