import { z } from 'zod';
import type { Queryable } from './database.js';

/** Notes that a run works under the key of this fingerprint, from `now` on; a key that is known stays as it is. */
export async function noteRunKey(database: Queryable, runId: number, fingerprint: string, now: Date): Promise<void> {
  await database.execute(
    `insert into run_key (run_id, fingerprint, first_used_at) values ($1, $2, $3)
     on conflict (run_id, fingerprint) do nothing`,
    [runId, fingerprint, now],
  );
}

/** The fingerprints of the keys that a run worked under, in the order of their first use. */
export async function readRunKeys(database: Queryable, runId: number): Promise<readonly string[]> {
  const rows = await database.query(
    z.object({ fingerprint: z.string() }),
    'select fingerprint from run_key where run_id = $1 order by first_used_at, fingerprint',
    [runId],
  );
  return rows.map((row) => row.fingerprint);
}
