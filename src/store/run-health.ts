import { z } from 'zod';
import type { HealthFacts } from '../reports/history-facts.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { readRunCalls } from './run-ledger.js';

const healthShape = z.object({
  perSecond: z.number().nullable(),
  limitPerSecond: z.number(),
  repeated: z.number(),
  breaks: z.object({ count: z.number(), seconds: z.number(), longestSeconds: z.number() }),
  billable: z.number(),
  cost: z.object({ amount: z.number(), currency: z.string() }).nullable(),
}) satisfies z.ZodType<HealthFacts>;

/** By which rate and price a run's calls were made. */
export interface CallTerms {
  limitPerSecond: number;
  pricePerSearch?: number | undefined;
  currency: string;
}

/** Adds up from the ledger how a run's calls went, and keeps it with the run, whose billable calls have been noted by then. */
export async function saveRunHealth(transaction: Queryable, runId: number, terms: CallTerms): Promise<void> {
  const { perSecond, breaks } = await readRunCalls(transaction, runId);
  const rows = await transaction.query(
    z.object({ repeated: z.number(), billable: z.number() }),
    // One walk, in which each call of a request but the last repeats if it was not answered: of a run that has just been, nothing is known
    // by which the table could be joined with itself.
    `select coalesce(billable_attempts, 0)::integer as billable, (
       select coalesce(sum(unanswered - case when last_unanswered = last then 1 else 0 end), 0)::integer
       from (
         select count(*) filter (where outcome <> 'ok') as unanswered, max(attempt_id) filter (where outcome <> 'ok') as last_unanswered,
           max(attempt_id) as last
         from search_attempt
         where run_id = $1 and outcome <> 'not_sent'
         group by request_id
       ) request
     ) as repeated
     from run where run_id = $1`,
    [runId],
  );
  const { repeated, billable } = firstRow(rows, 'run');
  const { limitPerSecond, pricePerSearch, currency } = terms;
  const cost =
    pricePerSearch === undefined ? null : { amount: Math.round(billable * pricePerSearch * 100) / 100, currency };
  const health: HealthFacts = { perSecond, limitPerSecond, repeated, breaks, billable, cost };
  await transaction.execute('update run set health = $2::text::jsonb where run_id = $1', [
    runId,
    JSON.stringify(health),
  ]);
}

/** How a run's calls went; null for one that closed before it was noted. */
export async function readRunHealth(database: Queryable, runId: number): Promise<HealthFacts | null> {
  const rows = await database.query(
    z.object({ health: healthShape.nullable() }),
    'select health from run where run_id = $1',
    [runId],
  );
  return rows[0]?.health ?? null;
}
