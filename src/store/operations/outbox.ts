import { z } from 'zod';
import { type Database, findRow, type Queryable, readColumn, toInsert } from '../database/database.js';
import { isOfSql } from '../organisations.js';
import type { RunRow } from '../runs.js';

const outboxRow = z.object({
  outboxId: z.number(),
  /** A report, critical changes before the report, a failure, or a change of state for another system. */
  kind: z.enum(['mail_report', 'mail_warning', 'mail_failure', 'webhook']),
  /** Null for a report without known recipients: they are chosen when it is written. */
  destination: z.string().nullable(),
  /** Null without a run. */
  runId: z.number().nullable(),
  revision: z.number().nullable(),
  /** A key is queued once, ever. */
  dedupKey: z.string(),
  content: z.unknown(),
  messageId: z.string().nullable(),
  /** `refused`: for good by the receiver; `given_up`: too old; `dropped`: by a person. */
  state: z.enum(['queued', 'sent', 'refused', 'given_up', 'dropped']),
  /** Each attempt with the answer of the receiver, in order. */
  attempts: z.array(
    z.object({ triedAt: z.coerce.date(), outcome: z.enum(['sent', 'refused', 'failed']), said: z.string() }),
  ),
  queuedAt: z.date(),
  nextAttemptAt: z.date(),
  /** An attempt that fails after this moment is the last one. */
  giveUpAt: z.date(),
  lastError: z.string().nullable(),
  sentAt: z.date().nullable(),
  /** When, by whom and why it was dropped for good; null when it was not. */
  droppedAt: z.date().nullable(),
  droppedBy: z.string().nullable(),
  droppedBecause: z.string().nullable(),
});
/** A row of the outbox. */
export type OutboxRow = z.infer<typeof outboxRow>;

/** A message for one destination; it is tried at once unless `nextAttemptAt` is set. */
export interface OutboxEntry
  extends Pick<OutboxRow, 'kind' | 'destination' | 'runId' | 'dedupKey' | 'queuedAt' | 'giveUpAt'>,
    Partial<Pick<OutboxRow, 'nextAttemptAt'>> {
  organisationId: number;
  /** The message as JSON; null without a destination. */
  content: unknown;
  /** Of a mail. */
  messageId?: string;
  /** Of a report. */
  revision?: number;
  /** Of an early warning: the number of its changes, and the first and the last of them. */
  changes?: number;
  firstChangeId?: number;
  lastChangeId?: number;
}

const outboxColumns = `outbox_id, kind, destination, run_id, revision, dedup_key, content,
  message_id, state, attempts, queued_at, next_attempt_at, give_up_at, last_error, sent_at, dropped_at, dropped_by, dropped_because`;

/** Queues each entry whose key was never queued; gives their number. */
export async function queueOutbox(transaction: Queryable, entries: readonly OutboxEntry[]): Promise<number> {
  let queued = 0;
  for (const entry of entries) {
    const content = entry.content === null ? null : JSON.stringify(entry.content);
    const row = { ...entry, content, nextAttemptAt: entry.nextAttemptAt ?? entry.queuedAt };
    const ending = 'on conflict (organisation_id, dedup_key) do nothing';
    queued += await transaction.execute(...toInsert('outbox', row, ending));
  }
  return queued;
}

/** The kinds of rows that are mail. */
export const mailKinds: readonly OutboxRow['kind'][] = ['mail_report', 'mail_warning', 'mail_failure'];

/**
 * Rows of an organisation's outbox, oldest first: those with these numbers; the mails of one revision of a run's report; or all of these kinds, sent and dropped
 * ones only with `all`.
 */
export async function readOutbox(
  database: Queryable,
  organisation: string,
  choice:
    | { outboxIds: readonly number[] }
    | { runId: number; revision: number }
    | { kinds: readonly OutboxRow['kind'][]; all: boolean },
): Promise<readonly OutboxRow[]> {
  const [condition, values] =
    'outboxIds' in choice
      ? [`outbox_id = any ($2::bigint[]) and kind <> 'warning_event'`, [choice.outboxIds]]
      : 'kinds' in choice
        ? [`kind = any ($2::text[]) and ($3::boolean or state not in ('sent', 'dropped'))`, [choice.kinds, choice.all]]
        : [`run_id = $2 and revision = $3 and kind = 'mail_report'`, [choice.runId, choice.revision]];
  return database.query(
    outboxRow,
    `select ${outboxColumns} from outbox where ${isOfSql('outbox')} and ${condition} order by outbox_id`,
    [organisation, ...values],
  );
}

/** Makes rows of an organisation due at once, whatever their state unless dropped; after a failed attempt others follow until `giveUpAt`. */
export async function makeDue(
  database: Queryable,
  organisation: string,
  outboxIds: readonly number[],
  { now, giveUpAt }: { now: Date; giveUpAt: Date },
): Promise<void> {
  await database.execute(
    `update outbox set state = 'queued', next_attempt_at = $3, give_up_at = greatest(give_up_at, $4::timestamptz)
     where ${isOfSql('outbox')} and outbox_id = any ($2::bigint[]) and state <> 'dropped'`,
    [organisation, [...outboxIds], now, giveUpAt],
  );
}

/**
 * Claims the row of an organisation that has been due longest and that no living process has claimed, without those in `except` and those whose keys begin otherwise;
 * null without one. No other process gets it before its result is noted or `leaseMs` have passed by the database's clock.
 */
export function claimNext(
  database: Database,
  {
    organisation,
    kinds,
    owner,
    now,
    leaseMs,
    except,
    keyPrefix = '',
  }: {
    organisation: string;
    kinds: readonly OutboxRow['kind'][];
    owner: string;
    now: Date;
    leaseMs: number;
    except: readonly number[];
    keyPrefix?: string;
  },
): Promise<OutboxRow | null> {
  // The embedded database has one process: another owner's claim is left from a process that died.
  return findRow(
    database,
    outboxRow,
    `update outbox set claimed_by = $2, claimed_until = clock_timestamp() + $4::float8 * interval '1 millisecond'
     where outbox_id = (
       select outbox_id from outbox
       where state = 'queued' and kind = any ($1::text[]) and next_attempt_at <= $3 and outbox_id <> all ($5::bigint[])
         and (claimed_until is null or claimed_until <= clock_timestamp() or $6::boolean and claimed_by <> $2)
         and starts_with(dedup_key, $7) and ${isOfSql('outbox', '$8')}
       order by next_attempt_at, outbox_id
       limit 1
       for update skip locked
     )
     returning ${outboxColumns}`,
    [kinds, owner, now, leaseMs, except, database.dialect === 'embedded', keyPrefix, organisation],
  );
}

/** The result of one attempt, with the answer of the receiver; a failed one is repeated at `nextAttemptAt`. */
export type OutboxOutcome =
  | { kind: 'sent' | 'refused'; said: string }
  | { kind: 'failed'; said: string; nextAttemptAt: Date };

/**
 * Notes the result of an attempt and ends the claim; a failure after the row's last moment gives the row up. Gives the new state, or null, with
 * nothing noted, when another process has taken the claim.
 */
export async function noteAttempt(
  transaction: Queryable,
  { outboxId }: Pick<OutboxRow, 'outboxId'>,
  { owner, now }: { owner: string; now: Date },
  outcome: OutboxOutcome,
): Promise<OutboxRow['state'] | null> {
  const [noted] = await transaction.query(
    outboxRow.pick({ state: true }),
    `update outbox set
       attempts = attempts || jsonb_build_object('triedAt', $4::timestamptz, 'outcome', $3::text, 'said', $5::text), claimed_by = null, claimed_until = null,
       state = case when $3 <> 'failed' then $3 when give_up_at < $4::timestamptz then 'given_up' else 'queued' end,
       sent_at = case when $3 = 'sent' then $4::timestamptz else sent_at end,
       last_error = case when $3 = 'sent' then null else $5 end,
       next_attempt_at = coalesce($6::timestamptz, next_attempt_at)
     where outbox_id = $1 and claimed_by = $2
     returning state`,
    [outboxId, owner, outcome.kind, now, outcome.said, outcome.kind === 'failed' ? outcome.nextAttemptAt : null],
  );
  return noted?.state ?? null;
}

const minuteMs = 60_000;

/** The wait after this many failed attempts: a minute, doubled each time, at most an hour. */
export const toWaitMs = (attempts: number): number => Math.min(60, 2 ** Math.min(attempts, 10)) * minuteMs;

/** Notes why a claimed row could not be prepared, which is no attempt, and ends the claim until `nextAttemptAt`. */
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

/**
 * Drops refused and given up rows of an organisation for good, with `evenQueued` also those that still wait; gives the numbers of the dropped ones. Rows that were
 * sent or dropped before, or are being sent at this moment, stay.
 */
export function dropOutbox(
  transaction: Queryable,
  { dialect, organisation }: Pick<Database, 'dialect'> & { organisation: string },
  outboxIds: readonly number[],
  { by, reason, at, evenQueued }: { by: string; reason: string; at: Date; evenQueued: boolean },
): Promise<readonly number[]> {
  return readColumn(
    transaction,
    z.number(),
    // The embedded database has one process: another owner's claim is left from a process that died.
    `update outbox set state = 'dropped', dropped_at = $2, dropped_by = $3, dropped_because = $4, claimed_by = null, claimed_until = null
     where outbox_id = any ($1::bigint[])
       and (state in ('refused', 'given_up') or $5::boolean and state = 'queued')
       and (claimed_until is null or claimed_until <= clock_timestamp() or $6::boolean) and ${isOfSql('outbox', '$7')}
     returning outbox_id as id`,
    [[...outboxIds], at, by, reason, evenQueued, dialect === 'embedded', organisation],
  );
}

const toUnwrittenKey = (runId: number): string => `report/${runId}/next`;

/** Queues the next report of a run; `queuedAt` is the end of the run. When the report of an earlier end still waits, it is replaced. */
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

/**
 * Replaces the queued report of a run by the mails of the report up to `endedAt`, unless the run was resumed and has ended again since. A mail
 * continues the thread of its recipient. A recipient with an earlier mail of this revision, whatever its state, gets no second one.
 */
export async function queueReportMails(
  transaction: Queryable,
  run: Pick<RunRow, 'organisationId' | 'runId' | 'rosterId'>,
  { revision, endedAt }: { revision: number; endedAt: Date },
  mails: readonly { to: string; messageId: string }[],
  times: Pick<OutboxEntry, 'queuedAt' | 'giveUpAt'>,
): Promise<void> {
  const { organisationId, runId } = run;
  const entries: OutboxEntry[] = [];
  for (const mail of mails) {
    const { to: destination, messageId } = mail;
    const dedupKey = `report/${runId}/${revision}/${destination.toLowerCase()}`;
    const content = { ...mail, thread: await readThread(transaction, run, destination) };
    entries.push({
      organisationId,
      kind: 'mail_report',
      destination,
      runId,
      revision,
      dedupKey,
      content,
      messageId,
      ...times,
    });
  }
  await queueOutbox(transaction, entries);
  await dropUnwritten(transaction, run, endedAt);
}

/** Removes the queued report of a run that ended at `through` or before and is not written yet. */
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

/** The Message-IDs of the first and the last report mail to a recipient about the same roster, or about sweeps; empty before the first. */
async function readThread(
  database: Queryable,
  run: Pick<RunRow, 'organisationId' | 'rosterId'>,
  recipient: string,
): Promise<readonly string[]> {
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

/** Notes on a report that none of its mails waits any more, once at least one recipient has accepted it. */
export async function noteReportSent(transaction: Queryable, runId: number, revision: number, now: Date) {
  await transaction.execute(
    `update report set sent_at = $3
     where run_id = $1 and revision = $2
       and exists (select from outbox where outbox.run_id = $1 and outbox.revision = $2 and state = 'sent')
       and not exists (select from outbox where outbox.run_id = $1 and outbox.revision = $2 and state = 'queued')`,
    [runId, revision, now],
  );
}
