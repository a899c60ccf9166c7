import { z } from 'zod';
import { firstRow, type Queryable, readValue, requireRows } from './database/database.js';

/** The attempts of one search, and the noted attempts that were never made. */
export interface SearchAttempts {
  /** Each POST with its outcome, in the row that was noted before it was sent. */
  attempts: readonly {
    attemptId: number;
    startedAt: Date;
    endedAt: Date;
    status: number | null;
    outcome: string;
    serviceRequestId: string | null;
  }[];
  unsentIds: readonly number[];
}

/** Notes requests as in flight before they are sent; returns the ledger row of each. */
export async function noteInFlight(transaction: Queryable, runId: number, requestIds: readonly number[], now: Date) {
  const rows = await transaction.query(
    z.object({ attemptId: z.number(), requestId: z.number() }),
    `insert into search_attempt (run_id, request_id, started_at, outcome)
     select $1, request_id, $3, 'in_flight' from unnest($2::bigint[]) as request_id
     returning attempt_id, request_id`,
    [runId, [...requestIds], now],
  );
  const noted = new Map(rows.map((row) => [row.requestId, row.attemptId]));
  requireRows(noted.size, requestIds.length, 'search_attempt');
  return noted;
}

/** Saves the outcome of these attempts; noted attempts that were never sent become `not_sent`. */
export async function saveAttempts(transaction: Queryable, searches: readonly SearchAttempts[]): Promise<void> {
  const ended = searches.flatMap(({ attempts }) =>
    attempts.map((attempt) => ({
      attempt_id: attempt.attemptId,
      started_at: attempt.startedAt.toISOString(),
      ended_at: attempt.endedAt.toISOString(),
      status: attempt.status,
      outcome: attempt.outcome,
      service_request_id: attempt.serviceRequestId,
    })),
  );
  if (ended.length > 0) {
    const saved = await transaction.execute(
      `update search_attempt set started_at = ended.started_at, ended_at = ended.ended_at, status = ended.status,
         outcome = ended.outcome, service_request_id = ended.service_request_id
       from jsonb_to_recordset($1::text::jsonb) as ended (
         attempt_id bigint, started_at timestamptz, ended_at timestamptz, status smallint, outcome text, service_request_id text
       )
       where search_attempt.attempt_id = ended.attempt_id`,
      [JSON.stringify(ended)],
    );
    requireRows(saved, ended.length, 'search_attempt');
  }
  const unsentIds = searches.flatMap((search) => search.unsentIds);
  if (unsentIds.length > 0) {
    const noted = await transaction.execute(
      `update search_attempt set outcome = 'not_sent' where attempt_id = any ($1::bigint[])`,
      [unsentIds],
    );
    requireRows(noted, unsentIds.length, 'search_attempt');
  }
}

/** Marks the in-flight attempts of a dead owner as unknown: the service may have billed them. Returns their number. */
export async function markInFlightUnknown(transaction: Queryable, runId: number): Promise<number> {
  return transaction.execute(
    `update search_attempt set outcome = 'unknown' where run_id = $1 and outcome = 'in_flight'`,
    [runId],
  );
}

/** The number of bad answers of a run by request, for the requests that remain of its plan. */
export async function countBadAnswers(database: Queryable, runId: number): Promise<ReadonlyMap<number, number>> {
  const rows = await database.query(
    z.object({ requestId: z.number(), attempts: z.number() }),
    `select request_id, count(*) as attempts
     from search_attempt
     where run_id = $1 and outcome = 'bad_response'
       and request_id in (select request_id from screening where run_id = $1 and outcome = 'remaining')
     group by request_id`,
    [runId],
  );
  return new Map(rows.map(({ requestId, attempts }) => [requestId, attempts]));
}

/**
 * SQL: the service may have billed the call. That is each call that left this machine, or may have, except those that the service refused
 * (4xx, or 503: screening temporarily unavailable). So a truncated, late, invalid or unknown answer counts.
 */
const isBillableSql = `
  attempt.outcome <> 'not_sent'
  and not (attempt.outcome = 'error_status' and (attempt.status between 400 and 499 or attempt.status = 503))`;

/** Stores with a closing run the number of its calls that the service may have billed. */
export async function noteBillableAttempts(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(
    `update run set billable_attempts = (
       select count(*) from search_attempt attempt where attempt.run_id = run.run_id and ${isBillableSql}
     ) where run_id = $1`,
    [runId],
  );
}

const usageRow = z.object({
  /** Of the given run; 0 without one. */
  run: z.number(),
  /** Since the start of the day in the time zone of the settings. */
  day: z.number(),
  /** Since the start of the month there. */
  month: z.number(),
});
/** $1 account, $2 now, $3 time zone, $4 run; a run inside the day or the month is counted by its stored number. */
const usageSql = `
  with span as (
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
  from used`;

/** The billable calls of the account over all its runs and rosters. */
export async function readBudgetUsage(
  database: Queryable,
  accountId: number,
  now: Date,
  timezone: string,
  runId: number | null,
) {
  return firstRow(await database.query(usageRow, usageSql, [accountId, now, timezone, runId]), 'run');
}

/**
 * A position in the ledger. Rows are numbered before they are committed, so the row of another process can appear before newer ones. The
 * rows after `stableId` are counted again at each read until no row can appear before it.
 */
interface LedgerPosition {
  stableId: number;
  /** The rows after it that are already counted, of the account and of the run. */
  account: number;
  run: number;
  /** The newest row of an earlier read, and the transaction of that read: all transactions open by then have smaller numbers. */
  newestId: number;
  ownTransaction: number;
}

// A run notes its rows in short transactions, so no open one is this many rows behind.
const mostBehind = 10_000;

const lookRow = z.object({
  newestId: z.number(),
  account: z.number(),
  run: z.number(),
  accountBefore: z.number(),
  runBefore: z.number(),
  oldestTransaction: z.number(),
  ownTransaction: z.number(),
});

const positionRow = usageRow.extend({
  stableId: z.number(),
  newestId: z.number(),
  account: z.number(),
  noted: z.number(),
  ownTransaction: z.number(),
});

/**
 * Reads the ledger's rows after `stableId`, and those of them up to `newestId`. Every transaction that notes rows has locked the row of its
 * lease before, so it has a number by then. The upper bound of a snapshot does not work: transactions beyond it may have begun.
 */
const lookSql = (stableId: string, newestId: string, accountId: string, runId: string): string => `
  select coalesce(max(attempt.attempt_id), ${stableId}) as "newestId",
    count(*) filter (where run.account_id = ${accountId}) as account,
    count(*) filter (where run.run_id = ${runId}) as run,
    count(*) filter (where run.account_id = ${accountId} and attempt.attempt_id <= ${newestId}) as "accountBefore",
    count(*) filter (where run.run_id = ${runId} and attempt.attempt_id <= ${newestId}) as "runBefore",
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint as "oldestTransaction",
    pg_current_xact_id()::text::bigint as "ownTransaction"
  from search_attempt attempt join run on run.run_id = attempt.run_id
  where attempt.attempt_id > ${stableId}`;

/**
 * The billable calls of the account, and the position up to which they count, in one snapshot; `after` is the `stableId` of an earlier
 * read.
 */
export async function readUsageAndPosition(
  database: Queryable,
  accountId: number,
  now: Date,
  timezone: string,
  runId: number,
  after: number | null,
): Promise<{ used: z.infer<typeof usageRow>; position: LedgerPosition }> {
  const rows = await database.query(
    positionRow,
    `select used.*, stable.id as "stableId", look."newestId", look.account, look.run as noted, look."ownTransaction"
     from (${usageSql}) used
     cross join (
       select coalesce($5::bigint, (select greatest(coalesce(max(attempt_id), 0) - ${mostBehind}, 0) from search_attempt)) as id
     ) stable
     cross join lateral (${lookSql('stable.id', 'stable.id', '$1', '$4')}) look`,
    [accountId, now, timezone, runId, after],
  );
  const { run, day, month, noted, ...position } = firstRow(rows, 'search_attempt');
  return { used: { run, day, month }, position: { ...position, run: noted } };
}

/** The rows noted after a position, of the account and of the run, sent or not; and the new position. */
export async function readNotedSince(database: Queryable, accountId: number, runId: number, position: LedgerPosition) {
  const { stableId, newestId } = position;
  const rows = await database.query(lookRow, lookSql('$3::bigint', '$4::bigint', '$1', '$2'), [
    accountId,
    runId,
    stableId,
    newestId,
  ]);
  const look = firstRow(rows, 'search_attempt');
  const { account, run } = look;
  const noted = { account: account - position.account, run: run - position.run };
  // Until the transactions open at that read have ended, rows can still appear before its newest row.
  if (look.oldestTransaction < position.ownTransaction) return { ...noted, position: { ...position, account, run } };
  return {
    ...noted,
    position: {
      stableId: newestId,
      account: account - look.accountBefore,
      run: run - look.runBefore,
      newestId: look.newestId,
      ownTransaction: look.ownTransaction,
    },
  };
}

/** Opens the next batch of a run inside its transaction; all rows that the transaction saves have its id. */
export function insertCommitBatch(transaction: Queryable, runId: number, epoch: number, items: number, now: Date) {
  return readValue(
    transaction,
    z.number(),
    `insert into commit_batch (run_id, epoch, sequence, items, committed_at)
     select $1, $2, coalesce(max(sequence), 0) + 1, $3, $4 from commit_batch where run_id = $1
     returning batch_id`,
    [runId, epoch, items, now],
  );
}
