import { z } from 'zod';
import { type Database, findRow, findValue, type Queryable, readColumn } from '../database/database.js';
import { insertInto, json, type Sql, sql } from '../database/statement.js';
import { isOfOrganisation } from '../organisations.js';
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

const outboxColumns = sql`outbox_id, kind, destination, run_id, revision, dedup_key, content,
  message_id, state, attempts, queued_at, next_attempt_at, give_up_at, last_error, sent_at, dropped_at, dropped_by, dropped_because`;

/** Queues each entry whose key was never queued; gives their number. */
export async function queueOutbox(transaction: Queryable, entries: readonly OutboxEntry[]): Promise<number> {
  if (entries.length === 0) return 0;
  const rows = entries.map((entry) => ({ ...entry, nextAttemptAt: entry.nextAttemptAt ?? entry.queuedAt }));
  return transaction.execute(sql`${insertInto('outbox', rows)} on conflict (organisation_id, dedup_key) do nothing`);
}

/** The kinds of rows that are mail. */
export const mailKinds: readonly OutboxRow['kind'][] = ['mail_report', 'mail_warning', 'mail_failure'];

/**
 * Rows of an organisation's outbox, oldest first: those with these numbers; those whose keys begin so; the mails of one revision of a run's report; or all of these kinds, sent and dropped
 * ones only with `all`.
 */
export async function readOutbox(
  database: Queryable,
  organisation: string,
  choice:
    | { outboxIds: readonly number[] }
    | { keyPrefix: string }
    | { runId: number; revision: number }
    | { kinds: readonly OutboxRow['kind'][]; all: boolean },
): Promise<readonly OutboxRow[]> {
  return database.query(
    outboxRow,
    sql`select ${outboxColumns} from outbox
     where ${isOfOrganisation('outbox', organisation)} and ${toChoiceSql(choice)} order by outbox_id`,
  );
}

function toChoiceSql(choice: Parameters<typeof readOutbox>[2]): Sql {
  if ('outboxIds' in choice) return sql`outbox_id = any (${choice.outboxIds}) and kind <> 'warning_event'`;
  if ('keyPrefix' in choice) return sql`starts_with(dedup_key, ${choice.keyPrefix})`;
  if ('kinds' in choice)
    return sql`kind = any (${choice.kinds}) and (${choice.all} or state not in ('sent', 'dropped'))`;
  return sql`run_id = ${choice.runId} and revision = ${choice.revision} and kind = 'mail_report'`;
}

/** Makes rows of an organisation due at once, whatever their state unless dropped; after a failed attempt others follow until `giveUpAt`. */
export async function makeDue(
  database: Queryable,
  organisation: string,
  outboxIds: readonly number[],
  { now, giveUpAt }: { now: Date; giveUpAt: Date },
): Promise<void> {
  await database.execute(sql`
    update outbox set state = 'queued', next_attempt_at = ${now}, give_up_at = greatest(give_up_at, ${giveUpAt}::timestamptz)
    where ${isOfOrganisation('outbox', organisation)} and outbox_id = any (${outboxIds}) and state <> 'dropped'`);
}

/**
 * Claims the row of an organisation that has been due longest and that no living process has claimed, without those in `except` and those whose keys begin otherwise;
 * null without one. No other process gets it before its result is noted or `leaseMs` have passed by the database's clock.
 */
export function claimNext(
  database: Database,
  claim: {
    organisation: string;
    kinds: readonly OutboxRow['kind'][];
    owner: string;
    now: Date;
    leaseMs: number;
    except: readonly number[];
    keyPrefix?: string;
  },
): Promise<OutboxRow | null> {
  const { organisation, kinds, owner, now, leaseMs, except, keyPrefix = '' } = claim;
  // The embedded database has one process: another owner's claim is left from a process that died.
  return findRow(
    database,
    outboxRow,
    sql`update outbox set claimed_by = ${owner}, claimed_until = clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'
     where outbox_id = (
       select outbox_id from outbox
       where state = 'queued' and kind = any (${kinds}) and next_attempt_at <= ${now} and outbox_id <> all (${except})
         and (claimed_until is null or claimed_until <= clock_timestamp() or ${database.dialect === 'embedded'}::boolean and claimed_by <> ${owner})
         and starts_with(dedup_key, ${keyPrefix}) and ${isOfOrganisation('outbox', organisation)}
       order by next_attempt_at, outbox_id
       limit 1
       for update skip locked
     )
     returning ${outboxColumns}`,
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
  const { kind, said } = outcome;
  const tried = { triedAt: now, outcome: kind, said };
  return findValue(
    transaction,
    outboxRow.shape.state,
    sql`update outbox set
       attempts = attempts || ${json(tried)}, claimed_by = null, claimed_until = null,
       state = case when ${kind !== 'failed'} then ${kind} when give_up_at < ${now} then 'given_up' else 'queued' end,
       sent_at = ${kind === 'sent' ? sql`${now}` : sql`sent_at`},
       last_error = ${kind === 'sent' ? null : said},
       next_attempt_at = coalesce(${outcome.kind === 'failed' ? outcome.nextAttemptAt : null}, next_attempt_at)
     where outbox_id = ${outboxId} and claimed_by = ${owner}
     returning state`,
  );
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
  await database.execute(sql`
    update outbox set claimed_by = null, claimed_until = null, last_error = ${said}, next_attempt_at = ${nextAttemptAt},
      state = case when give_up_at < ${now}::timestamptz then 'given_up' else 'queued' end
    where outbox_id = ${outboxId} and claimed_by = ${owner}`);
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
    sql`update outbox set state = 'dropped', dropped_at = ${at}, dropped_by = ${by}, dropped_because = ${reason}, claimed_by = null, claimed_until = null
     where outbox_id = any (${outboxIds})
       and (state in ('refused', 'given_up') or ${evenQueued}::boolean and state = 'queued')
       and (claimed_until is null or claimed_until <= clock_timestamp() or ${dialect === 'embedded'}::boolean) and ${isOfOrganisation('outbox', organisation)}
     returning outbox_id as id`,
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
  await transaction.execute(sql`
    update outbox set
      state = 'queued', queued_at = ${times.queuedAt}, next_attempt_at = ${times.nextAttemptAt ?? times.queuedAt},
      give_up_at = ${times.giveUpAt}
    where organisation_id = ${organisationId} and dedup_key = ${dedupKey}`);
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
    const entry = { organisationId, kind: 'mail_report', destination, runId, revision, dedupKey } as const;
    entries.push({ ...entry, content, messageId, ...times });
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
  await transaction.execute(
    sql`delete from outbox where organisation_id = ${organisationId} and dedup_key = ${toUnwrittenKey(runId)} and queued_at <= ${through}`,
  );
}

/** The Message-IDs of the first and the last report mail to a recipient about the same roster, or about sweeps; empty before the first. */
async function readThread(database: Queryable, run: Pick<RunRow, 'organisationId' | 'rosterId'>, recipient: string) {
  const [ends] = await database.query(
    z.object({ first: z.string(), last: z.string() }),
    sql`select (array_agg(message_id order by outbox_id))[1] as first, (array_agg(message_id order by outbox_id desc))[1] as last
     from outbox join run using (run_id)
     where outbox.organisation_id = ${run.organisationId} and outbox.kind = 'mail_report' and lower(destination) = lower(${recipient})
       and message_id is not null
       and outbox.state in ('queued', 'sent') and run.roster_id is not distinct from ${run.rosterId}::bigint
     having count(*) > 0`,
  );
  if (!ends) return [];
  return ends.first === ends.last ? [ends.first] : [ends.first, ends.last];
}

/** Notes on a report that none of its mails waits any more, once at least one recipient has accepted it. */
export async function noteReportSent(transaction: Queryable, runId: number, revision: number, now: Date) {
  await transaction.execute(sql`
    update report set sent_at = ${now}
    where run_id = ${runId} and revision = ${revision}
      and exists (select from outbox where outbox.run_id = ${runId} and outbox.revision = ${revision} and state = 'sent')
      and not exists (select from outbox where outbox.run_id = ${runId} and outbox.revision = ${revision} and state = 'queued')`);
}
