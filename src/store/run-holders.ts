import { z } from 'zod';
import type { Queryable } from './database.js';

/** A process that worked on a run, since when, and what it found changed since the run was begun. */
export interface RunHolder {
  epoch: number;
  owner: string;
  takenAt: Date;
  differences: readonly string[];
}

const holderRow = z.object({
  epoch: z.number(),
  owner: z.string(),
  takenAt: z.date(),
  differences: z.array(z.string()),
}) satisfies z.ZodType<RunHolder>;

/** Notes who works on a run from now on. */
export async function noteRunHolder(transaction: Queryable, runId: number, holder: RunHolder): Promise<void> {
  await transaction.execute(
    'insert into run_holder (run_id, epoch, owner, taken_at, differences) values ($1, $2, $3, $4, $5)',
    [runId, holder.epoch, holder.owner, holder.takenAt, [...holder.differences]],
  );
}

/** Everybody who worked on a run, in order. */
export async function readRunHolders(database: Queryable, runId: number): Promise<readonly RunHolder[]> {
  return database.query(
    holderRow,
    'select epoch, owner, taken_at as "takenAt", differences from run_holder where run_id = $1 order by epoch',
    [runId],
  );
}
