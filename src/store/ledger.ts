import { z } from 'zod';
import { firstRow, type Queryable, readValue, requireRows } from './database/database.js';

/** The attempts of one search, and the noted attempts that were never made. */
export interface SearchAttempts {
  requestId: number;
  /** Each POST with its outcome, under the number that was noted before it was sent. */
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

const perWorker = 2 ** 32;

/**
 * The numbers that a process gives its batches and calls in a run, without the database: a commit whose answer was lost is found again by
 * its number.
 */
export class RunNumbers {
  readonly runId: number;
  readonly worker: number;
  #batches = 0;
  #calls = 0;

  /** A run that was resumed so often has had one process more. */
  constructor({ runId, resumed }: { runId: number; resumed: number }) {
    this.runId = runId;
    this.worker = resumed + 1;
  }

  nextBatch(): number {
    this.#batches += 1;
    return this.worker * perWorker + this.#batches;
  }

  /** Takes the numbers of so many calls; returns the first one. */
  nextCalls(count: number): number {
    const first = this.#calls + 1;
    this.#calls += count;
    return first;
  }

  toAttemptId(call: number): number {
    return this.worker * perWorker + call;
  }
}

/** Notes requests as in flight before they are sent, under the numbers from `firstCall`; a repeat changes nothing, other requests are refused. */
export async function noteInFlight(
  transaction: Queryable,
  { runId, worker }: RunNumbers,
  firstCall: number,
  requestIds: readonly number[],
  now: Date,
): Promise<void> {
  const noted = await transaction.execute(
    `with counted as (
       update run_worker set calls = greatest(calls, $3::integer - 1 + cardinality($4::bigint[]))
       where run_id = $1 and worker = $2 returning run_id
     )
     insert into call_in_flight (run_id, worker, first_call, noted_at, requests)
     select run_id, $2, $3, $5, $4 from counted
     on conflict (run_id, worker, first_call) do update set noted_at = excluded.noted_at where call_in_flight.requests = excluded.requests`,
    [runId, worker, firstCall, [...requestIds], now],
  );
  requireRows(noted, 1, 'call_in_flight');
}

/**
 * Saves the outcome of these attempts, except of calls that lie `packed` in a batch, and ends their notes; noted attempts that were never
 * sent become `not_sent`.
 */
export async function saveAttempts(
  transaction: Queryable,
  { runId, worker }: RunNumbers,
  searches: readonly SearchAttempts[],
  packed: ReadonlySet<number> = new Set(),
): Promise<void> {
  const ended = searches.flatMap(({ requestId, attempts }) =>
    attempts.map((attempt) => ({
      attempt_id: attempt.attemptId,
      request_id: requestId,
      started_at: attempt.startedAt.toISOString(),
      ended_at: attempt.endedAt.toISOString(),
      status: attempt.status,
      outcome: attempt.outcome,
      service_request_id: attempt.serviceRequestId,
    })),
  );
  const unsent = searches.flatMap(({ requestId, unsentIds }) =>
    unsentIds.map((attemptId) => ({ attempt_id: attemptId, request_id: requestId })),
  );
  const calls = [...ended, ...unsent].map((call) => call.attempt_id % perWorker);
  if (calls.length === 0) return;
  const explicit = ended.filter((call) => !packed.has(call.attempt_id));
  const [open] = await Promise.all([
    endNotes(transaction, { runId, worker }, calls),
    insertCalls(transaction, runId, [...explicit, ...unsent]),
  ]);
  requireRows(open, calls.length, 'call_in_flight');
}

async function insertCalls(transaction: Queryable, runId: number, calls: readonly object[]): Promise<void> {
  if (calls.length === 0) return;
  const saved = await transaction.execute(
    `insert into search_call (run_id, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id)
     select $1, attempt_id, request_id, coalesce(started_at, now()), ended_at, status, coalesce(outcome, 'not_sent'), service_request_id
     from jsonb_to_recordset($2::text::jsonb) as call (
       attempt_id bigint, request_id bigint, started_at timestamptz, ended_at timestamptz, status smallint, outcome text,
       service_request_id text
     )`,
    [runId, JSON.stringify(calls)],
  );
  requireRows(saved, calls.length, 'search_call');
}

/** Ends the notes of these calls; returns how many were open. A worker has a few groups of notes at most. */
function endNotes(
  transaction: Queryable,
  { runId, worker }: Pick<RunNumbers, 'runId' | 'worker'>,
  calls: readonly number[],
): Promise<number> {
  return readValue(
    transaction,
    z.number(),
    `with noted as (
       select first_call,
         -- The places of ended calls stay, so that the numbers of the others hold.
         array_agg(case when not is_ended then request_id end order by place) as requests,
         count(*) filter (where request_id is not null and is_ended) as ended,
         count(*) filter (where request_id is not null and not is_ended) as open
       from (
         select flight.first_call, one.place, one.request_id, flight.first_call + one.place - 1 = any ($3::bigint[]) as is_ended
         from call_in_flight flight
         cross join lateral unnest(flight.requests) with ordinality as one (request_id, place)
         where flight.run_id = $1 and flight.worker = $2
       ) call
       group by first_call
     ),
     closed as (
       delete from call_in_flight flight using noted
       where flight.run_id = $1 and flight.worker = $2 and flight.first_call = noted.first_call
         and noted.ended > 0 and noted.open = 0
       returning noted.ended
     ),
     kept as (
       update call_in_flight flight set requests = noted.requests from noted
       where flight.run_id = $1 and flight.worker = $2 and flight.first_call = noted.first_call
         and noted.ended > 0 and noted.open > 0
       returning noted.ended
     )
     select coalesce(sum(ended), 0)::integer as ended from (table closed union all table kept) saved`,
    [runId, worker, [...calls]],
  );
}

/** Marks the in-flight attempts of a dead owner as unknown: the service may have billed them. Returns their number. */
export async function markInFlightUnknown(transaction: Queryable, runId: number): Promise<number> {
  const unknown = await transaction.execute(
    `insert into search_call (run_id, attempt_id, request_id, started_at, outcome)
     select run_id, attempt_id, request_id, started_at, 'unknown' from search_attempt
     where run_id = $1 and outcome = 'in_flight'`,
    [runId],
  );
  const ended = await readValue(
    transaction,
    z.number(),
    `with ended as (delete from call_in_flight where run_id = $1 returning requests)
     select count(request_id)::integer as calls from ended cross join lateral unnest(requests) as one (request_id)`,
    [runId],
  );
  requireRows(ended, unknown, 'call_in_flight');
  return unknown;
}

/** The number of bad answers of a run by request, for the requests that remain of its plan. */
export async function countBadAnswers(database: Queryable, runId: number): Promise<ReadonlyMap<number, number>> {
  const rows = await database.query(
    z.object({ requestId: z.number(), attempts: z.number() }),
    `select request_id, count(*) as attempts
     from search_attempt
     where run_id = $1 and outcome = 'bad_response'
       and request_id in (select request_id from open_screening where run_id = $1 and outcome = 'remaining')
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

const notedRow = z.object({ account: z.number(), run: z.number() });
/** How many calls the account and the run have noted, sent or not, in runs that ended a day before `since` or later. */
interface LedgerPosition extends z.infer<typeof notedRow> {
  since: Date;
}

/** SQL: no run may drop out that was counted before; another machine's clock, which says when its run ended, can be wrong. */
const positionSql = (accountId: string, runId: string, since: string): string => `
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
  const rows = await database.query(
    usageRow.extend({ position: notedRow }),
    `select used.*, jsonb_build_object('account', noted.account, 'run', noted.run) as position
     from (${usageSql}) used cross join (${positionSql('$1', '$4', '$2')}) noted`,
    [accountId, now, timezone, runId],
  );
  const { position, ...used } = firstRow(rows, 'run_worker');
  return { used, position: { ...position, since: now } };
}

/** The calls noted after a position, of the account and of the run, sent or not; and the new position. */
export async function readNotedSince(database: Queryable, accountId: number, runId: number, before: LedgerPosition) {
  const { since } = before;
  const rows = await database.query(notedRow, positionSql('$1', '$2', '$3'), [accountId, runId, since]);
  const { account, run } = firstRow(rows, 'run_worker');
  return { account: account - before.account, run: run - before.run, position: { account, run, since } };
}
