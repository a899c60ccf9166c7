import { z } from 'zod';
import { insertRows, type Queryable, readRow } from '../database/database.js';
import { sql } from '../database/statement.js';
import type { RunRow } from '../runs.js';
import { queueOutbox } from './outbox.js';

/** An early warning to send: the critical changes up to `lastChangeId` that the recipient does not have yet. */
export interface PendingWarning {
  recipient: string;
  changes: number;
  firstChangeId: number;
  lastChangeId: number;
}

/**
 * The committed critical changes of a run that no queued warning to each of these recipients lists, without recipients whose warnings list all;
 * and the time of the last warning to any recipient, null before the first.
 */
export async function readUnreportedChanges(database: Queryable, runId: number, recipients: readonly string[]) {
  const mailed = await database.query(
    z.object({ recipient: z.string(), through: z.number(), last: z.date() }),
    sql`select coalesce(destination, '') as recipient, max(last_change_id) as through, max(queued_at) as last
     from outbox where run_id = ${runId} and kind in ('mail_warning', 'warning_event') group by destination`,
  );
  const pending: PendingWarning[] = [];
  for (const recipient of recipients) {
    const through = mailed.find((one) => one.recipient === recipient)?.through ?? 0;
    const { changes, first, last } = await readRow(
      database,
      z.object({ changes: z.number(), first: z.number().nullable(), last: z.number().nullable() }),
      sql`select count(*)::integer as changes, min(change_id) as first, max(change_id) as last
       from found_change where run_id = ${runId} and change_id > ${through} and severity = 'critical'`,
    );
    if (first !== null && last !== null) pending.push({ recipient, changes, firstChangeId: first, lastChangeId: last });
  }
  const lastQueuedAt = mailed.length === 0 ? null : new Date(Math.max(...mailed.map(({ last }) => last.getTime())));
  return { pending, lastQueuedAt };
}

/** Queues the early warnings; one without mail is only an event, which is reported at once. */
export async function queueWarnings(
  transaction: Queryable,
  { organisationId, runId }: Pick<RunRow, 'organisationId' | 'runId'>,
  warnings: readonly (PendingWarning & { mail: { content: unknown; messageId: string; giveUpAt: Date } | null })[],
  queuedAt: Date,
): Promise<void> {
  for (const { recipient, mail, ...listed } of warnings) {
    const dedupKey = `warning/${runId}/${listed.lastChangeId}/${recipient}`;
    const row = { organisationId, runId, dedupKey, queuedAt, ...listed };
    if (mail) {
      await queueOutbox(transaction, [{ ...row, kind: 'mail_warning', destination: recipient, ...mail }]);
    } else {
      const times = { nextAttemptAt: queuedAt, giveUpAt: queuedAt, sentAt: queuedAt };
      await insertRows(transaction, 'outbox', [{ ...row, kind: 'warning_event', state: 'sent', ...times }]);
    }
  }
}

/** The early warnings of a run in order; one without a recipient was only an event. `acceptedAt`: by the mail server, null until then. */
export async function readEarlyWarnings(database: Queryable, runId: number) {
  return database.query(
    z.object({ recipient: z.string(), changes: z.number(), queuedAt: z.date(), acceptedAt: z.date().nullable() }),
    sql`select coalesce(destination, '') as recipient, changes, queued_at, sent_at as "acceptedAt"
     from outbox where run_id = ${runId} and kind in ('mail_warning', 'warning_event')
     order by queued_at, destination`,
  );
}
