import { z } from 'zod';
import type { Queryable } from './database.js';
import { requireRows } from './require-all.js';

/** How one POST ended, as the ledger keeps it, in the row that was noted before it was sent. */
export interface AttemptRecord {
  attemptId: number;
  startedAt: Date;
  endedAt: Date;
  status: number | null;
  outcome: string;
  serviceRequestId: string | null;
}

/** The attempts of one search, and the rows noted for attempts that were never made. */
export interface SearchAttempts {
  attempts: readonly AttemptRecord[];
  unsentIds: readonly number[];
}

/** Notes requests as in flight before they are sent; gives the ledger row of each. */
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
  const noted = new Map(rows.map((row) => [row.request_id, row.attempt_id]));
  requireRows(noted.size, requestIds.length, 'search_attempt');
  return noted;
}

/** Saves how the attempts of these searches ended; what was noted and not sent after all is `not_sent`. */
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

/** Marks what a vanished owner left in flight as unknown: the service may have done and billed it. Gives their number. */
export async function markInFlightUnknown(transaction: Queryable, runId: number): Promise<number> {
  return transaction.execute(
    `update search_attempt set outcome = 'unknown' where run_id = $1 and outcome = 'in_flight'`,
    [runId],
  );
}

/** How often a run has had bad answers to requests that remain of its plan, by request. */
export async function countBadAnswers(database: Queryable, runId: number): Promise<ReadonlyMap<number, number>> {
  const rows = await database.query(
    z.object({ requestId: z.number(), attempts: z.number() }),
    `select request_id as "requestId", count(*) as attempts
     from search_attempt
     where run_id = $1 and outcome = 'bad_response'
       and request_id in (select request_id from screening where run_id = $1 and outcome = 'remaining')
     group by request_id`,
    [runId],
  );
  return new Map(rows.map(({ requestId, attempts }) => [requestId, attempts]));
}
