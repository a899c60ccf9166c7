import { z } from 'zod';
import type { Database, Queryable } from './database.js';

/** Who puts something of the outbox aside for good, when, and why. */
export interface OutboxDrop {
  by: string;
  reason: string;
  at: Date;
}

/**
 * Puts what was refused or given up aside for good, and with `evenQueued` what is still to be tried; gives the numbers of what it put aside:
 * nothing that was sent, was put aside before, or is being sent at this moment.
 */
export async function dropOutbox(
  transaction: Queryable,
  { dialect }: Pick<Database, 'dialect'>,
  outboxIds: readonly number[],
  { by, reason, at, evenQueued }: OutboxDrop & { evenQueued: boolean },
): Promise<readonly number[]> {
  const rows = await transaction.query(
    z.object({ id: z.number() }),
    // The embedded database has one process: what another has claimed there was left by one that died.
    `update outbox set state = 'dropped', dropped_at = $2, dropped_by = $3, dropped_because = $4, claimed_by = null, claimed_until = null
     where outbox_id = any ($1::bigint[])
       and (state in ('refused', 'given_up') or $5::boolean and state = 'queued')
       and (claimed_until is null or claimed_until <= clock_timestamp() or $6::boolean)
     returning outbox_id as id`,
    [[...outboxIds], at, by, reason, evenQueued, dialect === 'embedded'],
  );
  return rows.map(({ id }) => id);
}
