import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** Opens the next batch of a run inside its transaction; everything the transaction saves carries the batch's id. */
export async function insertCommitBatch(
  transaction: Queryable,
  runId: number,
  epoch: number,
  items: number,
  now: Date,
): Promise<number> {
  const rows = await transaction.query(
    z.object({ batch_id: z.number() }),
    `insert into commit_batch (run_id, epoch, sequence, items, committed_at)
     select $1, $2, coalesce(max(sequence), 0) + 1, $3, $4 from commit_batch where run_id = $1
     returning batch_id`,
    [runId, epoch, items, now],
  );
  return firstRow(rows, 'commit_batch').batch_id;
}
