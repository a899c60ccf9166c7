import { z } from 'zod';
import type { PartyState } from '../matches/customer-state.js';
import type { Queryable } from './database.js';
import { requireRows } from './require-all.js';

/** Who asked about whom and why. */
export interface CheckQuestion {
  type: 'person' | 'entity';
  /** As it was typed. */
  name: string;
  reason: string;
  askedBy: string;
  askedAt: Date;
}

/** What came of a check. */
export type CheckOutcome =
  | { kind: 'answered'; responseId: number; verdict: PartyState; endedAt: Date }
  | { kind: 'not_answered'; reason: string; endedAt: Date };

/** A check as stored; `responseId` is null unless it was answered. */
export interface StoredCheck extends CheckQuestion {
  /** The name as it was sent. */
  sentName: string;
  outcome: 'in_progress' | 'answered' | 'not_answered';
  outcomeReason: string | null;
  responseId: number | null;
  /** `not_screened` unless it was answered. */
  verdict: PartyState | 'not_screened';
  /** Keyed digest (hex) of the answer. */
  responseDigest: string | null;
  endedAt: Date | null;
}

/** Keeps what is about to be asked. */
export async function insertCheck(
  transaction: Queryable,
  runId: number,
  requestId: number,
  question: CheckQuestion,
): Promise<void> {
  await transaction.execute(
    `insert into single_check (run_id, request_id, name, reason, asked_by, asked_at, outcome, verdict)
     values ($1, $2, $3, $4, $5, $6, 'in_progress', 'not_screened')`,
    [runId, requestId, question.name, question.reason, question.askedBy, question.askedAt],
  );
}

/** Keeps what a check came to. */
export async function finishCheck(transaction: Queryable, runId: number, outcome: CheckOutcome): Promise<void> {
  const isAnswered = outcome.kind === 'answered';
  const saved = await transaction.execute(
    `update single_check set outcome = $2, outcome_reason = $3, response_id = $4, verdict = $5, ended_at = $6 where run_id = $1`,
    [
      runId,
      outcome.kind,
      isAnswered ? null : outcome.reason,
      isAnswered ? outcome.responseId : null,
      isAnswered ? outcome.verdict : 'not_screened',
      outcome.endedAt,
    ],
  );
  requireRows(saved, 1, 'single_check');
}

/** Keeps that a check came to no answer, unless one is kept already. */
export async function failOpenCheck(transaction: Queryable, runId: number, code: string, endedAt: Date): Promise<void> {
  await transaction.execute(
    `update single_check set outcome = 'not_answered', outcome_reason = $2, ended_at = $3
     where run_id = $1 and outcome = 'in_progress'`,
    [runId, code, endedAt],
  );
}

/** The checks that say they are running while nobody holds a lease for them any more, those of one lease only where it is named. */
export async function findDeadChecks(
  database: Queryable,
  leaseKey: string | null = null,
): Promise<readonly { runId: number; leaseKey: string }[]> {
  return database.query(
    z.object({ runId: z.number(), leaseKey: z.string() }),
    `select run.run_id as "runId", run.lease_key as "leaseKey"
     from run left join lease using (lease_key)
     where run.kind = 'check' and run.state = 'running' and (
       lease.epoch is null or lease.epoch <> run.epoch or lease.expires_at <= clock_timestamp()
     ) and ($1::text is null or lease_key = $1)
     order by run.run_id`,
    [leaseKey],
  );
}

const checkRow: z.ZodType<StoredCheck> = z.object({
  type: z.enum(['person', 'entity']),
  name: z.string(),
  reason: z.string(),
  askedBy: z.string(),
  askedAt: z.date(),
  sentName: z.string(),
  outcome: z.enum(['in_progress', 'answered', 'not_answered']),
  outcomeReason: z.string().nullable(),
  responseId: z.number().nullable(),
  verdict: z.enum(['clear', 'below_threshold', 'incompletely_seen', 'open_hit', 'not_screened']),
  responseDigest: z.string().nullable(),
  endedAt: z.date().nullable(),
});

/** The check that a run was, or null when it was none. */
export async function readCheck(database: Queryable, runId: number): Promise<StoredCheck | null> {
  const [row] = await database.query(
    checkRow,
    `select request.type, single_check.name, reason, asked_by as "askedBy", asked_at as "askedAt", request.name as "sentName",
       outcome, outcome_reason as "outcomeReason", response_id as "responseId", verdict,
       encode(response.digest, 'hex') as "responseDigest", ended_at as "endedAt"
     from single_check
     join screening_request request using (request_id)
     left join response using (response_id)
     where run_id = $1`,
    [runId],
  );
  return row ?? null;
}
