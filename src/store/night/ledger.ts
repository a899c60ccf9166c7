import { z } from 'zod';
import { partyTypes } from '../../vocabulary.js';
import { findRow, firstRow, type Queryable, readValue, requireRows, toInsert } from '../database/database.js';

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

  /** A run that was resumed so often has had one process more. */
  constructor({ runId, resumed, wave }: { runId: number; resumed: number; wave: number }) {
    this.runId = runId;
    this.worker = resumed + 1;
    this.#wave = wave;
  }

  /** What is saved from now on belongs to this wave. */
  get wave(): number {
    return this.#wave;
  }

  beginWave(wave: number): void {
    this.#wave = wave;
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
    'select exists (select from batch where run_id = $1 and worker = $2 and number = $3) as saved',
    [runId, worker, batch],
  );
}

/** Notes that this transaction saves a batch. */
export async function insertBatch(
  transaction: Queryable,
  { runId, worker, wave }: RunNumbers,
  batch: number,
  committedAt: Date,
): Promise<void> {
  const row = { runId, worker, number: batch, wave, committedAt };
  requireRows(await transaction.execute(...toInsert('batch', row)), 1, 'batch');
}

/** Notes requests as in flight before they are sent, under the numbers from `firstCall`; a repeat changes nothing. */
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
     insert into call (run_id, request_id, worker, number, started_at)
     select counted.run_id, asked.request_id, $2, $3::integer - 1 + asked.place, $5
     from counted cross join unnest($4::bigint[]) with ordinality as asked (request_id, place)
     on conflict (run_id, request_id, worker, number) do update set started_at = excluded.started_at`,
    [runId, worker, firstCall, [...requestIds], now],
  );
  requireRows(noted, requestIds.length, 'call');
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
  const calls = searches.flatMap(({ requestId, attempts, unsent }) => [
    ...attempts.map((attempt) => {
      const responseId = (attempt.outcome === 'ok' && answers?.responses.get(requestId)) || null;
      return {
        request_id: requestId,
        number: attempt.number,
        started_at: attempt.startedAt,
        ended_at: attempt.endedAt,
        status: attempt.status,
        outcome: attempt.outcome,
        service_request_id: attempt.serviceRequestId,
        response_id: responseId,
        batch: responseId && answers?.batch,
      };
    }),
    ...unsent.map((number) => ({ request_id: requestId, number, outcome: 'not_sent' })),
  ]);
  if (calls.length === 0) return;
  const ended = await transaction.execute(
    `update call set started_at = coalesce(ended.started_at, call.started_at), ended_at = ended.ended_at, status = ended.status,
       outcome = ended.outcome, service_request_id = ended.service_request_id, response_id = ended.response_id, batch = ended.batch
     from jsonb_to_recordset($3::text::jsonb) as ended (
       request_id bigint, number integer, started_at timestamptz, ended_at timestamptz, status smallint, outcome text,
       service_request_id text, response_id bigint, batch integer
     )
     where call.run_id = $1 and call.worker = $2 and call.request_id = ended.request_id and call.number = ended.number`,
    [runId, worker, JSON.stringify(calls)],
  );
  requireRows(ended, calls.length, 'call');
}

/** Marks the in-flight attempts of a dead worker as unknown: the service may have billed them. */
export async function markInFlightUnknown(
  transaction: Queryable,
  { runId, worker }: Pick<RunNumbers, 'runId' | 'worker'>,
): Promise<void> {
  await transaction.execute(
    `update call set outcome = 'unknown' where run_id = $1 and worker = $2 and outcome = 'in_flight'`,
    [runId, worker],
  );
}

/** An answered search of this run, to repeat as a control search; null without one. */
export function findAnsweredRequest(database: Queryable, runId: number) {
  return findRow(
    database,
    z.object({ type: z.enum(partyTypes), name: z.string() }),
    `select request.type, request.name from call join screening_request request using (request_id)
     where call.run_id = $1 and call.batch is not null limit 1`,
    [runId],
  );
}

/** The number of bad answers of a run by request, for the requests that remain of its plan. */
export async function countBadAnswers(database: Queryable, runId: number): Promise<ReadonlyMap<number, number>> {
  const rows = await database.query(
    z.object({ requestId: z.number(), attempts: z.number() }),
    `select request_id, count(*) as attempts
     from call
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
       select count(*) from call attempt where attempt.run_id = run.run_id and ${isBillableSql}
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
      from call attempt
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
