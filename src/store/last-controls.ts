import { z } from 'zod';
import type { Queryable } from './database.js';

/** The last whole round of control searches on an account: of which run, when it ended, and whether all came as expected. */
export interface LastControls {
  runId: number;
  askedAt: Date;
  hasPassed: boolean;
  /** Whether it had one that expects a match and one that expects nothing. */
  isConclusive: boolean;
}

const controlsRow: z.ZodType<LastControls> = z.object({
  runId: z.number(),
  askedAt: z.date(),
  hasPassed: z.boolean(),
  isConclusive: z.boolean(),
});

/** The last round of control searches that any run on the account had asked by then, single ones beside a failed search left out; or null. */
export async function readLastControls(
  database: Queryable,
  accountId: number,
  askedBy: Date,
): Promise<LastControls | null> {
  const [last] = await database.query(
    controlsRow,
    `select canary.run_id as "runId", max(canary.asked_at) as "askedAt", bool_and(canary.verdict = 'passed') as "hasPassed",
       count(distinct canary.expect) = 2 as "isConclusive"
     from (
       select run_id from run
       where account_id = $1 and exists (select from canary_outcome where canary_outcome.run_id = run.run_id)
       order by run_id desc limit 20
     ) recent
     join canary_outcome canary using (run_id)
     where canary.occasion <> 'control' and canary.asked_at <= $2
     group by canary.run_id, canary.round
     order by max(canary.asked_at) desc
     limit 1`,
    [accountId, askedBy],
  );
  return last ?? null;
}
