import { z } from 'zod';
import type { Database, Queryable } from './database.js';

/** A planned party whose request has been answered already. */
export interface ReusableScreening {
  partyId: number;
  requestId: number;
  customerVersion: number;
  responseId: number;
}

const reusableRow = z
  .object({ party_id: z.number(), request_id: z.number(), customer_version: z.number(), response_id: z.number() })
  .transform(
    (row): ReusableScreening => ({
      partyId: row.party_id,
      requestId: row.request_id,
      customerVersion: row.customer_version,
      responseId: row.response_id,
    }),
  );

/** Whose planned search an answer stands in for that came after this instant, in chunks, read from one snapshot. */
export function readReusable(
  database: Database,
  runId: number,
  answeredAfter: Date,
  chunkSize: number,
): AsyncIterable<ReusableScreening[]> {
  return database.cursor(
    reusableRow,
    `select reuse.party_id, screening.request_id, screening.customer_version, reuse.response_id
     from screening_reuse reuse
     join screening on screening.run_id = reuse.run_id and screening.party_id = reuse.party_id and screening.outcome = 'remaining'
     where reuse.run_id = $1 and reuse.answered_at > $2
     order by reuse.party_id`,
    [runId, answeredAfter],
    chunkSize,
  );
}

/** Dates the states of reused parties by the answer and not by its second use, so that they are due again when the answer is old. */
export async function dateReusedStates(
  transaction: Queryable,
  key: { accountId: number; runId: number },
  partyIds: readonly number[],
): Promise<void> {
  await transaction.execute(
    `update party_state set screened_at = reuse.answered_at
     from screening_reuse reuse
     where reuse.run_id = $2 and reuse.party_id = any ($3::bigint[])
       and party_state.account_id = $1 and party_state.party_id = reuse.party_id`,
    [key.accountId, key.runId, [...partyIds]],
  );
}
