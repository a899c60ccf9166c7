import { z } from 'zod';
import type { CriticalChange } from '../reports/run-facts.js';
import { criticalChangeRow, matchChangeSql } from './change-facts.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** How many critical changes of a run come after a given one, and which they are. */
export interface PendingChanges {
  changes: number;
  firstChangeId: number;
  lastChangeId: number;
}

/** What a recipient is about to be told: the critical changes up to and including `lastChangeId` that it was not told before. */
export interface QueuedWarning extends PendingChanges {
  recipient: string;
  queuedAt: Date;
}

const pendingRow = z.object({ changes: z.number(), first: z.number().nullable(), last: z.number().nullable() });

/** The critical changes that a run has committed after the one of this number; null when there is none. */
export async function countCriticalChanges(
  database: Queryable,
  runId: number,
  after: number,
): Promise<PendingChanges | null> {
  const rows = await database.query(
    pendingRow,
    `select count(*)::integer as changes, min(change_id) as first, max(change_id) as last
     from change_event where run_id = $1 and change_id > $2 and severity = 'critical'`,
    [runId, after],
  );
  const { changes, first, last } = firstRow(rows, 'change_event');
  return first === null || last === null ? null : { changes, firstChangeId: first, lastChangeId: last };
}

/** The first `limit` critical changes of a run between two, both included, in the order in which they were found. */
export async function readCriticalChanges(
  database: Queryable,
  runId: number,
  { firstChangeId, lastChangeId }: PendingChanges,
  limit: number,
): Promise<readonly CriticalChange[]> {
  return database.query(
    criticalChangeRow,
    `${matchChangeSql}
     where event.run_id = $1 and event.change_id between $2 and $3 and event.severity = 'critical'
     order by event.change_id
     limit $4`,
    [runId, firstChangeId, lastChangeId, limit],
  );
}

/** Up to which change each recipient has been told (0 before the first), and when that was last tried. */
export async function readToldChanges(
  database: Queryable,
  runId: number,
): Promise<{ toldThrough: ReadonlyMap<string, number>; lastTriedAt: Date | null }> {
  const rows = await database.query(
    z.object({ recipient: z.string(), through: z.number(), last: z.date() }),
    `select recipient, coalesce(max(last_change_id) filter (where accepted_at is not null), 0) as through, max(tried_at) as last
     from early_warning where run_id = $1 group by recipient`,
    [runId],
  );
  const lastMs = Math.max(...rows.map(({ last }) => last.getTime()));
  return {
    toldThrough: new Map(rows.map(({ recipient, through }) => [recipient, through])),
    lastTriedAt: rows.length === 0 ? null : new Date(lastMs),
  };
}

/** Notes of what recipients are told from now on; whether a mail was accepted, the outbox knows under `toWarningKey`. */
export async function queueWarnings(
  transaction: Queryable,
  runId: number,
  warnings: readonly QueuedWarning[],
): Promise<void> {
  for (const { recipient, firstChangeId, lastChangeId, changes, queuedAt } of warnings) {
    await transaction.execute(
      `insert into early_warning (run_id, recipient, sequence, first_change_id, last_change_id, changes, queued_at, tried_at, accepted_at)
       select $1::bigint, $2::text, coalesce(max(sequence), 0) + 1, $3::bigint, $4::bigint, $5::integer, $6::timestamptz, $6::timestamptz,
         $6::timestamptz
       from early_warning where run_id = $1 and recipient = $2`,
      [runId, recipient, firstChangeId, lastChangeId, changes, queuedAt],
    );
  }
}

/** The key of a warning's mail in the outbox. */
export const toWarningKey = (runId: number, lastChangeId: number, recipient: string): string =>
  `warning/${runId}/${lastChangeId}/${recipient}`;

/** What recipients were told while a run was going on, in order; an empty recipient was told by an event only. */
export async function readEarlyWarnings(
  database: Queryable,
  runId: number,
): Promise<readonly { recipient: string; changes: number; queuedAt: Date; acceptedAt: Date | null }[]> {
  return database.query(
    z.object({ recipient: z.string(), changes: z.number(), queuedAt: z.date(), acceptedAt: z.date().nullable() }),
    `select recipient, changes, warning.queued_at as "queuedAt",
       case when outbox_id is null then accepted_at else sent_at end as "acceptedAt"
     from early_warning warning
     left join outbox on outbox.run_id = warning.run_id
       and dedup_key = 'warning/' || warning.run_id || '/' || last_change_id || '/' || recipient
     where warning.run_id = $1 order by warning.queued_at, recipient`,
    [runId],
  );
}
