import { z } from 'zod';
import type { CriticalChange } from '../reports/list-facts.js';
import { criticalChangeRow, matchChangeSql } from './changes.js';
import { firstRow, type Queryable } from './database/database.js';
import { type OutboxEntry, outboxColumns, outboxRow, queueOutbox } from './outbox.js';
import type { RunRow } from './runs.js';

const toUnwrittenKey = (runId: number): string => `report/${runId}/next`;

/** Queues the report of a run as it will stand when it is written, `queuedAt` its end; where an earlier end's waits already, that waits for this one. */
export async function queueReport(
  transaction: Queryable,
  { organisationId, runId }: Pick<RunRow, 'organisationId' | 'runId'>,
  times: Pick<OutboxEntry, 'queuedAt' | 'nextAttemptAt' | 'giveUpAt'>,
): Promise<void> {
  const dedupKey = toUnwrittenKey(runId);
  const queued = await queueOutbox(transaction, [
    { organisationId, kind: 'mail_report', destination: null, runId, dedupKey, content: null, ...times },
  ]);
  if (queued > 0) return;
  await transaction.execute(
    `update outbox set state = 'queued', queued_at = $3, next_attempt_at = $4, give_up_at = $5
     where organisation_id = $1 and dedup_key = $2`,
    [organisationId, dedupKey, times.queuedAt, times.nextAttemptAt ?? times.queuedAt, times.giveUpAt],
  );
}

/** A report's mail to one recipient. */
export interface ReportMail {
  recipient: string;
  content: unknown;
  messageId: string;
}

/**
 * Puts the mails of a report that tells of a run up to `endedAt` in the place of what was queued for it, unless the run has gone on and ended
 * again since. A recipient for whom this revision was queued before, whatever became of that, gets no second mail.
 */
export async function queueReportMails(
  transaction: Queryable,
  { organisationId, runId }: Pick<RunRow, 'organisationId' | 'runId'>,
  { revision, endedAt }: { revision: number; endedAt: Date },
  mails: readonly ReportMail[],
  times: Pick<OutboxEntry, 'queuedAt' | 'giveUpAt'>,
): Promise<void> {
  const entries = mails.map(({ recipient, content, messageId }): OutboxEntry => {
    const dedupKey = `report/${runId}/${revision}/${recipient.toLowerCase()}`;
    const what = { kind: 'mail_report', destination: recipient, runId, revision } as const;
    return { organisationId, ...what, dedupKey, content, messageId, ...times };
  });
  await queueOutbox(transaction, entries);
  await dropUnwritten(transaction, { organisationId, runId }, endedAt);
}

/** Takes out what was queued, when a run ended at `through` or before, for its report that is not written yet. */
export async function dropUnwritten(
  transaction: Queryable,
  { organisationId, runId }: Pick<RunRow, 'organisationId' | 'runId'>,
  through: Date,
): Promise<void> {
  await transaction.execute('delete from outbox where organisation_id = $1 and dedup_key = $2 and queued_at <= $3', [
    organisationId,
    toUnwrittenKey(runId),
    through,
  ]);
}

/**
 * The Message-IDs of the first and of the last report mail that a recipient has of the same roster, or of sweeps;
 * none before the first.
 */
export async function readThread(database: Queryable, run: RunRow, recipient: string): Promise<readonly string[]> {
  const [ends] = await database.query(
    z.object({ first: z.string(), last: z.string() }),
    `select (array_agg(message_id order by outbox_id))[1] as first, (array_agg(message_id order by outbox_id desc))[1] as last
     from outbox join run using (run_id)
     where outbox.organisation_id = $1 and outbox.kind = 'mail_report' and lower(destination) = lower($2) and message_id is not null
       and outbox.state in ('queued', 'sent') and run.roster_id is not distinct from $3::bigint
     having count(*) > 0`,
    [run.organisationId, recipient, run.rosterId],
  );
  if (!ends) return [];
  return ends.first === ends.last ? [ends.first] : [ends.first, ends.last];
}

/** The mails of one revision of a run's report. */
export async function readReportMails(database: Queryable, runId: number, revision: number) {
  return database.query(
    outboxRow,
    `select ${outboxColumns} from outbox where run_id = $1 and revision = $2 and kind = 'mail_report' order by outbox_id`,
    [runId, revision],
  );
}

/** Notes on a report that nobody waits for it any more, once it has been accepted for one recipient at least. */
export async function noteReportSent(transaction: Queryable, runId: number, revision: number, now: Date) {
  await transaction.execute(
    `update report set sent_at = $3
     where run_id = $1 and revision = $2
       and exists (select from outbox where outbox.run_id = $1 and outbox.revision = $2 and state = 'sent')
       and not exists (select from outbox where outbox.run_id = $1 and outbox.revision = $2 and state = 'queued')`,
    [runId, revision, now],
  );
}

/** How many critical changes of a run come after a given one, and which they are. */
interface PendingChanges {
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
export async function countCriticalChanges(database: Queryable, runId: number, after: number) {
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
export async function readReportedChanges(database: Queryable, runId: number) {
  const rows = await database.query(
    z.object({ recipient: z.string(), through: z.number(), last: z.date() }),
    `select recipient, coalesce(max(last_change_id) filter (where accepted_at is not null), 0) as through, max(tried_at) as last
     from early_warning where run_id = $1 group by recipient`,
    [runId],
  );
  const lastMs = Math.max(...rows.map(({ last }) => last.getTime()));
  return {
    reportedThrough: new Map(rows.map(({ recipient, through }) => [recipient, through])),
    lastTriedAt: rows.length === 0 ? null : new Date(lastMs),
  };
}

/** Notes of what recipients are told from now on; whether a mail was accepted, the outbox knows under `toWarningKey`. */
export async function queueWarnings(transaction: Queryable, runId: number, warnings: readonly QueuedWarning[]) {
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
