import { z } from 'zod';
import { firstRow, type Queryable } from './database/database.js';
import { queueOutbox } from './outbox.js';
import type { RunRow } from './runs.js';

/** An early warning to send: the critical changes up to `lastChangeId` that the recipient does not have yet. */
export interface PendingWarning {
  recipient: string;
  changes: number;
  firstChangeId: number;
  lastChangeId: number;
}

/**
 * The committed critical changes of a run that each of these recipients does not have yet, without recipients that have all; and the time
 * of the last attempt for any recipient, null before the first.
 */
export async function readUnreportedChanges(database: Queryable, runId: number, recipients: readonly string[]) {
  const mailed = await database.query(
    z.object({ recipient: z.string(), through: z.number(), last: z.date() }),
    `select recipient, coalesce(max(last_change_id) filter (where accepted_at is not null), 0) as through, max(tried_at) as last
     from early_warning where run_id = $1 group by recipient`,
    [runId],
  );
  const pending: PendingWarning[] = [];
  for (const recipient of recipients) {
    const through = mailed.find((one) => one.recipient === recipient)?.through ?? 0;
    const rows = await database.query(
      z.object({ changes: z.number(), first: z.number().nullable(), last: z.number().nullable() }),
      `select count(*)::integer as changes, min(change_id) as first, max(change_id) as last
       from change_event where run_id = $1 and change_id > $2 and severity = 'critical'`,
      [runId, through],
    );
    const { changes, first, last } = firstRow(rows, 'change_event');
    if (first !== null && last !== null) pending.push({ recipient, changes, firstChangeId: first, lastChangeId: last });
  }
  const lastTriedAt = mailed.length === 0 ? null : new Date(Math.max(...mailed.map(({ last }) => last.getTime())));
  return { pending, lastTriedAt };
}

const toWarningKey = (runId: number, lastChangeId: number, recipient: string): string =>
  `warning/${runId}/${lastChangeId}/${recipient}`;

/**
 * Stores the early warnings and queues their mails; a warning without mail is only an event. The outbox records whether a mail was
 * accepted.
 */
export async function queueWarnings(
  transaction: Queryable,
  { organisationId, runId }: Pick<RunRow, 'organisationId' | 'runId'>,
  warnings: readonly (PendingWarning & { mail: { content: unknown; messageId: string; giveUpAt: Date } | null })[],
  queuedAt: Date,
): Promise<void> {
  for (const { recipient, firstChangeId, lastChangeId, changes } of warnings) {
    await transaction.execute(
      `insert into early_warning (run_id, recipient, sequence, first_change_id, last_change_id, changes, queued_at, tried_at, accepted_at)
       select $1::bigint, $2::text, coalesce(max(sequence), 0) + 1, $3::bigint, $4::bigint, $5::integer, $6::timestamptz, $6::timestamptz,
         $6::timestamptz
       from early_warning where run_id = $1 and recipient = $2`,
      [runId, recipient, firstChangeId, lastChangeId, changes, queuedAt],
    );
  }
  const what = { organisationId, runId, kind: 'mail_warning', queuedAt } as const;
  await queueOutbox(
    transaction,
    warnings.flatMap(({ recipient, lastChangeId, mail }) =>
      mail === null
        ? []
        : [{ ...what, ...mail, destination: recipient, dedupKey: toWarningKey(runId, lastChangeId, recipient) }],
    ),
  );
}

/** The early warnings of a run in order; one without a recipient was only an event. */
export async function readEarlyWarnings(database: Queryable, runId: number) {
  return database.query(
    z.object({ recipient: z.string(), changes: z.number(), queuedAt: z.date(), acceptedAt: z.date().nullable() }),
    `select recipient, changes, warning.queued_at,
       case when outbox_id is null then accepted_at else sent_at end as "acceptedAt"
     from early_warning warning
     left join outbox on outbox.run_id = warning.run_id
       and dedup_key = 'warning/' || warning.run_id || '/' || last_change_id || '/' || recipient
     where warning.run_id = $1 order by warning.queued_at, recipient`,
    [runId],
  );
}
