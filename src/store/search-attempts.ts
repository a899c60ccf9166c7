import { z } from 'zod';
import type { Queryable } from './database.js';

/** How one POST ended, as the ledger keeps it. */
export interface AttemptRecord {
  startedAt: Date;
  endedAt: Date;
  status: number | null;
  outcome: string;
  serviceRequestId: string | null;
}

/** The attempts of one search; the first fills the row that was noted before it was sent. */
export interface SearchAttempts {
  attemptId: number;
  requestId: number;
  attempts: readonly AttemptRecord[];
}

/** Notes searches as in flight before they are sent; gives the ledger row of each request. */
export async function noteInFlight(
  transaction: Queryable,
  runId: number,
  requestIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, number>> {
  const rows = await transaction.query(
    z.object({ attempt_id: z.number(), request_id: z.number() }),
    `insert into search_attempt (run_id, request_id, started_at, outcome)
     select $1, request_id, $3, 'in_flight' from unnest($2::bigint[]) as request_id
     returning attempt_id, request_id`,
    [runId, [...requestIds], now],
  );
  return new Map(rows.map((row) => [row.request_id, row.attempt_id]));
}

/** Saves how the attempts of these searches ended; a search of which nothing was sent is `not_sent`. */
export async function saveAttempts(
  transaction: Queryable,
  runId: number,
  searches: readonly SearchAttempts[],
): Promise<void> {
  const ended = searches.flatMap(({ attemptId, requestId, attempts }) =>
    attempts.map((attempt, index) => ({
      attempt_id: index === 0 ? attemptId : null,
      request_id: requestId,
      started_at: attempt.startedAt.toISOString(),
      ended_at: attempt.endedAt.toISOString(),
      status: attempt.status,
      outcome: attempt.outcome,
      service_request_id: attempt.serviceRequestId,
    })),
  );
  await fillNoted(
    transaction,
    ended.filter((row) => row.attempt_id !== null),
  );
  await insertRepeats(
    transaction,
    runId,
    ended.filter((row) => row.attempt_id === null),
  );
  await markNotSent(
    transaction,
    searches.filter((search) => search.attempts.length === 0).map((search) => search.attemptId),
  );
}

const endedColumns = `attempt_id bigint, request_id bigint, started_at timestamptz, ended_at timestamptz, status smallint,
  outcome text, service_request_id text`;

/** The first attempts: their rows were noted before they were sent. */
async function fillNoted(transaction: Queryable, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return;
  await transaction.execute(
    `update search_attempt set started_at = ended.started_at, ended_at = ended.ended_at, status = ended.status,
       outcome = ended.outcome, service_request_id = ended.service_request_id
     from jsonb_to_recordset($1::text::jsonb) as ended (${endedColumns})
     where search_attempt.attempt_id = ended.attempt_id`,
    [JSON.stringify(rows)],
  );
}

/** The attempts after the first. */
async function insertRepeats(transaction: Queryable, runId: number, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return;
  await transaction.execute(
    `insert into search_attempt (run_id, request_id, started_at, ended_at, status, outcome, service_request_id)
     select $1, request_id, started_at, ended_at, status, outcome, service_request_id
     from jsonb_to_recordset($2::text::jsonb) as ended (${endedColumns})`,
    [runId, JSON.stringify(rows)],
  );
}

/** Searches that were noted and then not sent after all. */
async function markNotSent(transaction: Queryable, attemptIds: readonly number[]): Promise<void> {
  if (attemptIds.length === 0) return;
  await transaction.execute(`update search_attempt set outcome = 'not_sent' where attempt_id = any ($1::bigint[])`, [
    [...attemptIds],
  ]);
}

/** Marks what a vanished owner left in flight as unknown: the service may have done and billed it. Gives their number. */
export async function markInFlightUnknown(transaction: Queryable, runId: number): Promise<number> {
  return transaction.execute(
    `update search_attempt set outcome = 'unknown' where run_id = $1 and outcome = 'in_flight'`,
    [runId],
  );
}
