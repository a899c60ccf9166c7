import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** What the tables themselves say about a run, counted by the view `run_balance`; customers unless the name says otherwise. */
export interface RunBalance {
  rows: number;
  customers: number;
  rejected: number;
  duplicates: number;
  /** Counted from the roster when the plan was made. */
  inScope: number;
  /** Counted from the plan. */
  inPlan: number;
  planned: number;
  skipped: number;
  screened: number;
  reused: number;
  failed: number;
  remaining: number;
  /** Parties that count as screened or reused, and those of them whose answer is stored together with its transaction. */
  answeredParties: number;
  provenParties: number;
  /** Searches that count as answered, and those of them that the ledger knows as called and answered in this run. */
  answeredSearches: number;
  recordedSearches: number;
}

const balanceRow = z.object({
  rows: z.number(),
  customers: z.number(),
  rejected: z.number(),
  duplicates: z.number(),
  inScope: z.number(),
  inPlan: z.number(),
  planned: z.number(),
  skipped: z.number(),
  screened: z.number(),
  reused: z.number(),
  failed: z.number(),
  remaining: z.number(),
  answeredParties: z.number(),
  provenParties: z.number(),
  answeredSearches: z.number(),
  recordedSearches: z.number(),
}) satisfies z.ZodType<RunBalance>;

/** Counts a run from its rows; throws StoreError when there is no such run. */
export async function readRunBalance(database: Queryable, runId: number): Promise<RunBalance> {
  const rows = await database.query(
    balanceRow,
    `select rows, customers, rejected, duplicates, in_scope as "inScope", in_plan + unaccepted.ids as "inPlan", planned, skipped + unaccepted.ids as skipped, screened, reused,
       failed, remaining, answered_parties as "answeredParties", proven_parties as "provenParties",
       answered_searches as "answeredSearches", recorded_searches as "recordedSearches"
     from run_balance
     -- Ids without an accepted record are in scope and in no plan.
     cross join lateral (
       select coalesce(sum(ids::integer), 0)::integer as ids
       from run, jsonb_each_text(coalesce(run.unaccepted, '{}')) reason (name, ids)
       where run.run_id = run_balance.run_id
     ) unaccepted
     where run_id = $1`,
    [runId],
  );
  return firstRow(rows, 'run_balance');
}
