import type { Queryable } from './database.js';

/** A party that a run asks about whatever its cadence says, and why. */
export interface ForcedScreening {
  partyId: number;
  because: string;
}

/** Notes whom a run is to ask about, before its plan is made; who is noted already keeps the first reason. */
export async function forceScreenings(
  transaction: Queryable,
  runId: number,
  rows: readonly ForcedScreening[],
): Promise<void> {
  if (rows.length === 0) return;
  await transaction.execute(
    `insert into forced_screening (run_id, party_id, because)
     select $1, party_id, because
     from jsonb_to_recordset($2::text::jsonb) as row (party_id bigint, because text)
     on conflict (run_id, party_id) do nothing`,
    [runId, JSON.stringify(rows.map(({ partyId, because }) => ({ party_id: partyId, because })))],
  );
}
