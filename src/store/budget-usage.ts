import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** Calls of an account that the service may have billed. */
export interface BudgetUsage {
  /** Of the run that was asked about; 0 for none. */
  run: number;
  /** Since the day began in the time zone of the settings. */
  day: number;
  /** Since the month began there. */
  month: number;
}

/**
 * SQL for whether the service may have billed a call: everything that left this machine, or may have, except what the service refused
 * itself (4xx, or 503: screening temporarily unavailable). So an answer that was cut, late or broken counts, and so does every unknown one.
 */
const isBillableSql = `
  attempt.outcome <> 'not_sent'
  and not (attempt.outcome = 'error_status' and (attempt.status between 400 and 499 or attempt.status = 503))`;

/** Notes with a run that closes how many of its calls the service may have billed. */
export async function noteBillableAttempts(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(
    `update run set billable_attempts = (
       select count(*) from search_attempt attempt where attempt.run_id = run.run_id and ${isBillableSql}
     ) where run_id = $1`,
    [runId],
  );
}

const usageRow: z.ZodType<BudgetUsage> = z.object({ run: z.number(), day: z.number(), month: z.number() });

/** What the account has used, over all its runs and rosters; runs that lie wholly in the day or the month are counted by their own note. */
export async function readBudgetUsage(
  database: Queryable,
  accountId: number,
  now: Date,
  timezone: string,
  runId: number | null,
): Promise<BudgetUsage> {
  const rows = await database.query(
    usageRow,
    `with span as (
       select date_trunc('day', $2::timestamptz, $3) as day_began, date_trunc('month', $2::timestamptz, $3) as month_began
     ), used as (
       select run.run_id, counted.*
       from span
       join run on run.account_id = $1 and (run.finished_at is null or run.finished_at >= span.month_began)
       cross join lateral (
         select
           run.billable_attempts is not null and run.finished_at is not null and run.started_at >= span.month_began
           and (run.started_at >= span.day_began or run.finished_at < span.day_began) as is_noted
       ) known
       cross join lateral (
         select run.billable_attempts::bigint as run, run.billable_attempts::bigint as month,
           case when run.started_at >= span.day_began then run.billable_attempts else 0 end::bigint as day
         where known.is_noted
         union all
         select count(*), count(*) filter (where attempt.started_at >= span.month_began),
           count(*) filter (where attempt.started_at >= span.day_began)
         from search_attempt attempt
         where attempt.run_id = run.run_id and ${isBillableSql} and not known.is_noted
         having not known.is_noted
       ) counted
     )
     select coalesce(sum(run) filter (where run_id = $4::bigint), 0)::bigint as run, coalesce(sum(day), 0)::bigint as day,
       coalesce(sum(month), 0)::bigint as month
     from used`,
    [accountId, now, timezone, runId],
  );
  return firstRow(rows, 'run');
}

/** The newest row of the ledger. */
export interface LedgerPosition {
  attemptId: number;
}

const notedRow = z.object({ attemptId: z.number(), account: z.number(), run: z.number() });

/** What was noted in the ledger after a position, of the account and of the run, sent or not; and the new position. */
export async function readNotedSince(
  database: Queryable,
  accountId: number,
  runId: number,
  { attemptId }: LedgerPosition,
): Promise<LedgerPosition & { account: number; run: number }> {
  const rows = await database.query(
    notedRow,
    `select coalesce(max(attempt.attempt_id), $3::bigint) as "attemptId",
       count(*) filter (where run.account_id = $1) as account, count(*) filter (where run.run_id = $2) as run
     from search_attempt attempt join run on run.run_id = attempt.run_id
     where attempt.attempt_id > $3`,
    [accountId, runId, attemptId],
  );
  return firstRow(rows, 'search_attempt');
}

/** Where the ledger ends. */
export async function readLedgerEnd(database: Queryable): Promise<LedgerPosition> {
  const rows = await database.query(
    z.object({ attemptId: z.number() }),
    'select coalesce(max(attempt_id), 0) as "attemptId" from search_attempt',
  );
  return firstRow(rows, 'search_attempt');
}
