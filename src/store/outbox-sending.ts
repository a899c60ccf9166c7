import { z } from 'zod';
import type { Database, Queryable } from './database.js';
import { type OutboxKind, type OutboxRow, type OutboxState, outboxColumns, outboxRow } from './outbox.js';

/** Whoever sends: nobody else is given what it has claimed until it says what became of it or `leaseMs` have passed. */
export interface OutboxClaim {
  kinds: readonly OutboxKind[];
  owner: string;
  now: Date;
  /** By the database's clock. */
  leaseMs: number;
  /** Rows not to be given: those that this pass has had already. */
  except: readonly number[];
  /** How the keys of what is given begin; whatever there is without it. */
  keyPrefix?: string;
}

/** Claims what has been due longest and is claimed by nobody alive; null when there is none. */
export async function claimNext(database: Database, claim: OutboxClaim): Promise<OutboxRow | null> {
  // The embedded database has one process: what another has claimed there was left by one that died.
  const rows = await database.query(
    outboxRow,
    `update outbox set claimed_by = $2, claimed_until = clock_timestamp() + $4::float8 * interval '1 millisecond'
     where outbox_id = (
       select outbox_id from outbox
       where state = 'queued' and kind = any ($1::text[]) and next_attempt_at <= $3 and outbox_id <> all ($5::bigint[])
         and (claimed_until is null or claimed_until <= clock_timestamp() or $6::boolean and claimed_by <> $2)
         and starts_with(dedup_key, $7)
       order by next_attempt_at, outbox_id
       limit 1
       for update skip locked
     )
     returning ${outboxColumns}`,
    [
      [...claim.kinds],
      claim.owner,
      claim.now,
      claim.leaseMs,
      [...claim.except],
      database.dialect === 'embedded',
      claim.keyPrefix ?? '',
    ],
  );
  return rows[0] ?? null;
}

/** What became of one attempt, with what the other side said: `failed` is tried again at `nextAttemptAt`. */
export type OutboxOutcome =
  | { kind: 'sent' | 'refused'; said: string }
  | { kind: 'failed'; said: string; nextAttemptAt: Date };

/**
 * Notes what became of an attempt and gives the claim back; one that failed after its row's last moment is given up. Gives how the row
 * stands now, or null, with nothing noted, when the claim was lost to another process.
 */
export async function noteAttempt(
  transaction: Queryable,
  { outboxId }: Pick<OutboxRow, 'outboxId'>,
  { owner, now }: Pick<OutboxClaim, 'owner' | 'now'>,
  outcome: OutboxOutcome,
): Promise<OutboxState | null> {
  const [noted] = await transaction.query(
    outboxRow.pick({ state: true, attempts: true }),
    `update outbox set
       attempts = attempts + 1, claimed_by = null, claimed_until = null,
       state = case when $3 <> 'failed' then $3 when give_up_at < $4::timestamptz then 'given_up' else 'queued' end,
       sent_at = case when $3 = 'sent' then $4::timestamptz else sent_at end,
       last_error = case when $3 = 'sent' then null else $5 end,
       next_attempt_at = coalesce($6::timestamptz, next_attempt_at)
     where outbox_id = $1 and claimed_by = $2
     returning state, attempts`,
    [outboxId, owner, outcome.kind, now, outcome.said, outcome.kind === 'failed' ? outcome.nextAttemptAt : null],
  );
  if (!noted) return null;
  await transaction.execute(
    'insert into outbox_attempt (outbox_id, attempt, tried_at, outcome, said) values ($1, $2, $3, $4, $5)',
    [outboxId, noted.attempts, now, outcome.kind, outcome.said],
  );
  return noted.state;
}

/** Notes why a claimed row could not be prepared, which is no attempt, and gives the claim back until `nextAttemptAt`. */
export async function noteUnprepared(
  database: Queryable,
  { outboxId }: Pick<OutboxRow, 'outboxId'>,
  owner: string,
  { said, now, nextAttemptAt }: { said: string; now: Date; nextAttemptAt: Date },
): Promise<void> {
  await database.execute(
    `update outbox set claimed_by = null, claimed_until = null, last_error = $3, next_attempt_at = $4,
       state = case when give_up_at < $5::timestamptz then 'given_up' else 'queued' end
     where outbox_id = $1 and claimed_by = $2`,
    [outboxId, owner, said, nextAttemptAt, now],
  );
}

const attemptRow = z.object({
  attempt: z.number(),
  triedAt: z.date(),
  outcome: z.enum(['sent', 'refused', 'failed']),
  said: z.string(),
});
/** One attempt to send something, and what the other side said. */
export type OutboxAttempt = z.infer<typeof attemptRow>;

/** The attempts at each of these rows, first to last; a row that was never tried has none. */
export async function readAttempts(
  database: Queryable,
  outboxIds: readonly number[],
): Promise<ReadonlyMap<number, readonly OutboxAttempt[]>> {
  const rows = await database.query(
    attemptRow.extend({ outboxId: z.number() }),
    `select outbox_id as "outboxId", attempt, tried_at as "triedAt", outcome, said
     from outbox_attempt where outbox_id = any ($1::bigint[]) order by outbox_id, attempt`,
    [[...outboxIds]],
  );
  const attempts = new Map<number, OutboxAttempt[]>();
  for (const { outboxId, ...attempt } of rows) attempts.set(outboxId, [...(attempts.get(outboxId) ?? []), attempt]);
  return attempts;
}
