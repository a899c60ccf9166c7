import { z } from 'zod';
import { partyTypes } from '../../vocabulary.js';
import { executeAll, findRow, insertRows, type Queryable, readRow, readValue } from '../database/database.js';
import { insertInto, replaceInto, type Sql, sql } from '../database/statement.js';

/** The attempts of one search, and the noted attempts that were never made. */
export interface SearchAttempts {
  requestId: number;
  /** Each POST with its outcome, under the number that was noted before it was sent. */
  attempts: readonly {
    number: number;
    startedAt: Date;
    endedAt: Date;
    status: number | null;
    outcome: string;
    serviceRequestId: string | null;
  }[];
  unsent: readonly number[];
}

/**
 * The numbers that a process gives its batches and calls in a run, without the database: a commit whose answer was lost is found again by
 * its number. Also the wave that is being searched.
 */
export class RunNumbers {
  readonly runId: number;
  readonly worker: number;
  #wave: number;
  #batches = 0;
  #calls = 0;

  /** `worker` is the number of the process in the run. */
  constructor({ runId, worker, wave }: { runId: number; worker: number; wave: number }) {
    this.runId = runId;
    this.worker = worker;
    this.#wave = wave;
  }

  /** What is saved from now on belongs to this wave. */
  get wave(): number {
    return this.#wave;
  }

  beginWave(wave: number): void {
    this.#wave = Math.max(this.#wave, wave);
  }

  nextBatch(): number {
    this.#batches += 1;
    return this.#batches;
  }

  /** Takes the numbers of so many calls; returns the first one. */
  nextCalls(count: number): number {
    const first = this.#calls + 1;
    this.#calls += count;
    return first;
  }
}

/** Whether a batch is stored, when the answer to its commit was lost. */
export function isBatchSaved(transaction: Queryable, { runId, worker }: RunNumbers, batch: number): Promise<boolean> {
  return readValue(
    transaction,
    z.boolean(),
    sql`select exists (select from batch where run_id = ${runId} and worker = ${worker} and number = ${batch}) as saved`,
  );
}

/** Notes that this transaction saves a batch. */
export async function insertBatch(
  transaction: Queryable,
  { runId, worker, wave }: RunNumbers,
  batch: number,
  committedAt: Date,
): Promise<void> {
  await insertRows(transaction, 'batch', [{ runId, worker, number: batch, wave, committedAt }]);
}

/** Notes requests as in flight before they are sent, under the numbers from `firstCall`; a repeat changes nothing. */
export async function noteInFlight(
  transaction: Queryable,
  { runId, worker }: RunNumbers,
  firstCall: number,
  requestIds: readonly number[],
  now: Date,
): Promise<void> {
  const last = firstCall + requestIds.length - 1;
  await executeAll(
    transaction,
    1,
    sql`update run_worker set calls = greatest(calls, ${last}) where run_id = ${runId} and worker = ${worker}`,
  );
  const call = { runId, worker, startedAt: now };
  const rows = requestIds.map((requestId, place) => ({ ...call, requestId, number: firstCall + place }));
  await executeAll(
    transaction,
    rows.length,
    sql`${insertInto('call', rows)}
     on conflict (run_id, request_id, worker, number) do update set started_at = excluded.started_at`,
  );
}

/**
 * Saves the outcome of these attempts; noted attempts that were never sent become `not_sent`. The stored answers of a batch, `responses` by
 * request, belong to the answered calls.
 */
export async function saveAttempts(
  transaction: Queryable,
  { runId, worker }: RunNumbers,
  searches: readonly SearchAttempts[],
  answers: { batch: number; responses: ReadonlyMap<number, number> } | null = null,
): Promise<void> {
  const key = ['run_id', 'request_id', 'worker', 'number'];
  const sent = searches.flatMap(({ requestId, attempts }) =>
    attempts.map((attempt) => {
      const responseId = (attempt.outcome === 'ok' && answers?.responses.get(requestId)) || null;
      return { runId, worker, requestId, ...attempt, responseId, batch: responseId && answers?.batch };
    }),
  );
  // By key, whatever is known of the table: as a join, a night read all its calls for each batch. `recordAttempts` requires a note of each.
  if (sent.length > 0) await executeAll(transaction, sent.length, replaceInto('call', sent, key));
  const unsent = searches.flatMap(({ requestId, unsent }) => unsent.map((number) => ({ requestId, number })));
  if (unsent.length === 0) return;
  await executeAll(
    transaction,
    unsent.length,
    sql`update call set outcome = 'not_sent'
     where run_id = ${runId} and worker = ${worker} and request_id = any (${unsent.map(({ requestId }) => requestId)})
       and number = any (${unsent.map(({ number }) => number)})`,
  );
}

/** Marks the in-flight attempts of a run whose processes write nothing more as unknown: the service may have billed them. */
export async function markInFlightUnknown(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(sql`update call set outcome = 'unknown' where run_id = ${runId} and outcome = 'in_flight'`);
}

/** An answered search of this run, to repeat as a control search; null without one. */
export function findAnsweredRequest(database: Queryable, runId: number) {
  return findRow(
    database,
    z.object({ type: z.enum(partyTypes), name: z.string() }),
    sql`select request.type, request.name from call join screening_request request using (request_id)
     where call.run_id = ${runId} and call.batch is not null limit 1`,
  );
}

/** How many answers a run has got so far, how many of them were bad, and that by request of what remains of its plan. */
export interface AnswerCounts {
  answers: number;
  bad: number;
  remaining: ReadonlyMap<number, number>;
}

export async function countAnswers(database: Queryable, runId: number): Promise<AnswerCounts> {
  const counts = await readRow(
    database,
    z.object({ answers: z.number(), bad: z.number() }),
    sql`select count(*) as answers, count(*) filter (where outcome = 'bad_response') as bad
     from call where run_id = ${runId} and outcome in ('ok', 'bad_response')`,
  );
  return { ...counts, remaining: await countBadAnswers(database, runId) };
}

/** The number of bad answers of a run by request: of these requests, or of all that remain of its plan. */
export async function countBadAnswers(
  database: Queryable,
  runId: number,
  requestIds: readonly number[] | null = null,
): Promise<ReadonlyMap<number, number>> {
  const amongSql =
    requestIds === null
      ? sql`in (select request_id from screening where run_id = ${runId} and outcome = 'remaining')`
      : sql`= any (${requestIds})`;
  const rows = await database.query(
    z.object({ requestId: z.number(), attempts: z.number() }),
    sql`select request_id, count(*) as attempts
     from call
     where run_id = ${runId} and outcome = 'bad_response' and request_id ${amongSql}
     group by request_id`,
  );
  return new Map(rows.map(({ requestId, attempts }) => [requestId, attempts]));
}

/**
 * SQL: the service may have billed the call. That is each call that left this machine, or may have, except those that the service refused
 * (4xx, or 503: screening temporarily unavailable). So a truncated, late, invalid or unknown answer counts.
 */
const isBillableSql = sql`
  attempt.outcome <> 'not_sent'
  and not (attempt.outcome = 'error_status' and (attempt.status between 400 and 499 or attempt.status = 503))`;

/** Stores with a closing run the number of its calls that the service may have billed. */
export async function noteBillableAttempts(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(
    sql`update run set billable_attempts = (
       select count(*) from call attempt where attempt.run_id = run.run_id and ${isBillableSql}
     ) where run_id = ${runId}`,
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
/** SQL: the billable calls of an account; a run inside the day or the month is counted by its stored number. */
const usageSql = (accountId: number, now: Date, timezone: string, runId: number | null): Sql => sql`
  with span as (
    select date_trunc('day', ${now}::timestamptz, ${timezone}) as day_began, date_trunc('month', ${now}::timestamptz, ${timezone}) as month_began
  ), used as (
    select run.run_id, counted.*
    from span
    join run on run.account_id = ${accountId} and (run.finished_at is null or run.finished_at >= span.month_began)
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
      from call attempt
      where attempt.run_id = run.run_id and ${isBillableSql} and not known.is_noted
      having not known.is_noted
    ) counted
  )
  select coalesce(sum(run) filter (where run_id = ${runId}), 0)::bigint as run, coalesce(sum(day), 0)::bigint as day,
    coalesce(sum(month), 0)::bigint as month
  from used`;

/** The billable calls of the account over all its runs and rosters, with those of a run apart. */
export function readBudgetUsage(
  database: Queryable,
  accountId: number,
  now: Date,
  timezone: string,
  runId: number | null,
) {
  return readRow(database, usageRow, usageSql(accountId, now, timezone, runId));
}

const notedRow = z.object({ account: z.number(), run: z.number() });
/** How many calls the account and the run have noted, sent or not, in runs that ended a day before `since` or later. */
interface LedgerPosition extends z.infer<typeof notedRow> {
  since: Date;
}

/** SQL: no run may drop out that was counted before; another machine's clock, which says when its run ended, can be wrong. */
const positionSql = (accountId: number, runId: number, since: Date): Sql => sql`
  select coalesce(sum(worker.calls), 0)::bigint as account,
    coalesce(sum(worker.calls) filter (where run.run_id = ${runId}), 0)::bigint as run
  from run join run_worker worker on worker.run_id = run.run_id
  where run.account_id = ${accountId} and (run.finished_at is null or run.finished_at >= ${since}::timestamptz - interval '1 day')`;

/** The billable calls of the account, and the position up to which they count, in one snapshot. */
export async function readUsageAndPosition(
  database: Queryable,
  accountId: number,
  now: Date,
  timezone: string,
  runId: number,
): Promise<{ used: z.infer<typeof usageRow>; position: LedgerPosition }> {
  const { position, ...used } = await readRow(
    database,
    usageRow.extend({ position: notedRow }),
    sql`select used.*, to_jsonb(noted) as position
     from (${usageSql(accountId, now, timezone, runId)}) used cross join (${positionSql(accountId, runId, now)}) noted`,
  );
  return { used, position: { ...position, since: now } };
}

/** The calls noted after a position, of the account and of the run, sent or not; and the new position. */
export async function readNotedSince(database: Queryable, accountId: number, runId: number, before: LedgerPosition) {
  const { since } = before;
  const { account, run } = await readRow(database, notedRow, positionSql(accountId, runId, since));
  return { account: account - before.account, run: run - before.run, position: { account, run, since } };
}
