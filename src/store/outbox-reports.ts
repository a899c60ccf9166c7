import { z } from 'zod';
import type { Queryable } from './database.js';
import { type OutboxEntry, type OutboxRow, outboxColumns, outboxRow, queueOutbox } from './outbox.js';
import type { RunRow } from './run-row.js';

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
export async function readReportMails(
  database: Queryable,
  runId: number,
  revision: number,
): Promise<readonly OutboxRow[]> {
  return database.query(
    outboxRow,
    `select ${outboxColumns} from outbox where run_id = $1 and revision = $2 and kind = 'mail_report' order by outbox_id`,
    [runId, revision],
  );
}

/** Notes on a report that nobody waits for it any more, once it has been accepted for one recipient at least. */
export async function noteReportSent(
  transaction: Queryable,
  runId: number,
  revision: number,
  now: Date,
): Promise<void> {
  await transaction.execute(
    `update report set sent_at = $3
     where run_id = $1 and revision = $2
       and exists (select from outbox where outbox.run_id = $1 and outbox.revision = $2 and state = 'sent')
       and not exists (select from outbox where outbox.run_id = $1 and outbox.revision = $2 and state = 'queued')`,
    [runId, revision, now],
  );
}
