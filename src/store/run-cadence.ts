import { z } from 'zod';
import type { Cadence } from '../screening/cadence.js';
import type { Queryable } from './database.js';

const cadenceSchema: z.ZodType<Cadence> = z.object({
  hours: z.object({ high: z.number(), medium: z.number(), low: z.number() }),
  reason: z.string().nullable(),
});

/** Records how often each tier is screened under the settings that a run plans with, and why. */
export async function setRunCadence(transaction: Queryable, runId: number, cadence: Cadence): Promise<void> {
  const { hours, reason } = cadence;
  await transaction.execute('update run set cadence = $2::text::jsonb where run_id = $1', [
    runId,
    JSON.stringify({ hours, reason }),
  ]);
}

/** The cadence that a run planned with, or null where none was recorded: a sweep, an import, a run older than that. */
export async function readRunCadence(database: Queryable, runId: number): Promise<Cadence | null> {
  const rows = await database.query(
    z.object({ cadence: cadenceSchema.nullable() }),
    'select cadence from run where run_id = $1',
    [runId],
  );
  return rows[0]?.cadence ?? null;
}
