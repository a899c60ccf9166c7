import { z } from 'zod';
import type { Queryable } from './database.js';

const outboxKinds = ['mail_report', 'mail_warning', 'mail_failure', 'webhook'] as const;
/** What is told: a report, critical changes before the report, a run that could not be made, a change of state to another system. */
export type OutboxKind = (typeof outboxKinds)[number];

const outboxStates = ['queued', 'sent', 'refused', 'given_up', 'dropped'] as const;
/** How something that leaves stands: `refused` for good by the other side, `given_up` because it was too old, `dropped` because somebody put it aside. */
export type OutboxState = (typeof outboxStates)[number];

/** Something to be sent to one destination. */
export interface OutboxEntry {
  organisationId: number;
  kind: OutboxKind;
  /** Null for a report whose recipients are found once it is written. */
  destination: string | null;
  /** The run that it tells of; null where there is none. */
  runId: number | null;
  /** What has the same key is queued once, ever. */
  dedupKey: string;
  /** The message as it will be sent, as JSON; null without a destination. */
  content: unknown;
  /** Of a mail. */
  messageId?: string;
  /** Of a report. */
  revision?: number;
  queuedAt: Date;
  /** Not tried before; from the moment when it is queued where it is left out. */
  nextAttemptAt?: Date;
  /** An attempt that fails after this moment is the last one. */
  giveUpAt: Date;
}

/** Something in the outbox. */
export interface OutboxRow {
  outboxId: number;
  kind: OutboxKind;
  destination: string | null;
  runId: number | null;
  revision: number | null;
  dedupKey: string;
  content: unknown;
  messageId: string | null;
  state: OutboxState;
  attempts: number;
  queuedAt: Date;
  nextAttemptAt: Date;
  giveUpAt: Date;
  lastError: string | null;
  sentAt: Date | null;
  /** When, by whom and why it was put aside for good; null where nobody did. */
  droppedAt: Date | null;
  droppedBy: string | null;
  droppedBecause: string | null;
}

/** A row of the outbox as the database gives it, by `outboxColumns`. */
export const outboxRow = z.object({
  outboxId: z.number(),
  kind: z.enum(outboxKinds),
  destination: z.string().nullable(),
  runId: z.number().nullable(),
  revision: z.number().nullable(),
  dedupKey: z.string(),
  content: z.unknown(),
  messageId: z.string().nullable(),
  state: z.enum(outboxStates),
  attempts: z.number(),
  queuedAt: z.date(),
  nextAttemptAt: z.date(),
  giveUpAt: z.date(),
  lastError: z.string().nullable(),
  sentAt: z.date().nullable(),
  droppedAt: z.date().nullable(),
  droppedBy: z.string().nullable(),
  droppedBecause: z.string().nullable(),
}) satisfies z.ZodType<OutboxRow>;

/** SQL: the columns of `outbox` that `outboxRow` reads. */
export const outboxColumns = `outbox_id as "outboxId", kind, destination, run_id as "runId", revision, dedup_key as "dedupKey", content,
  message_id as "messageId", state, attempts, queued_at as "queuedAt", next_attempt_at as "nextAttemptAt", give_up_at as "giveUpAt",
  last_error as "lastError", sent_at as "sentAt",
  dropped_at as "droppedAt", dropped_by as "droppedBy", dropped_because as "droppedBecause"`;

/** Queues what was never queued under its key; gives how many that were. */
export async function queueOutbox(transaction: Queryable, entries: readonly OutboxEntry[]): Promise<number> {
  let queued = 0;
  for (const entry of entries) {
    queued += await transaction.execute(
      `insert into outbox (
         organisation_id, kind, destination, run_id, revision, dedup_key, content, message_id, queued_at, next_attempt_at, give_up_at
       )
       values ($1, $2, $3, $4, $5, $6, $7::text::jsonb, $8, $9, $10, $11)
       on conflict (organisation_id, dedup_key) do nothing`,
      [
        entry.organisationId,
        entry.kind,
        entry.destination,
        entry.runId,
        entry.revision ?? null,
        entry.dedupKey,
        entry.content === null ? null : JSON.stringify(entry.content),
        entry.messageId ?? null,
        entry.queuedAt,
        entry.nextAttemptAt ?? entry.queuedAt,
        entry.giveUpAt,
      ],
    );
  }
  return queued;
}

/** What the outbox holds of these kinds, oldest first: what waits, was refused or given up; what was sent or put aside only where `all` is asked for. */
export async function listOutbox(
  database: Queryable,
  kinds: readonly OutboxKind[],
  { all }: { all: boolean },
): Promise<readonly OutboxRow[]> {
  return database.query(
    outboxRow,
    `select ${outboxColumns} from outbox where kind = any ($1::text[]) and ($2::boolean or state not in ('sent', 'dropped')) order by outbox_id`,
    [[...kinds], all],
  );
}

/** What of these numbers the outbox holds, in their order. */
export async function readOutbox(database: Queryable, outboxIds: readonly number[]): Promise<readonly OutboxRow[]> {
  return database.query(
    outboxRow,
    `select ${outboxColumns} from outbox where outbox_id = any ($1::bigint[]) order by outbox_id`,
    [[...outboxIds]],
  );
}

/** Makes rows due at once, whatever became of them but being put aside; an attempt that fails is followed by others until `giveUpAt`. */
export async function makeDue(
  database: Queryable,
  outboxIds: readonly number[],
  { now, giveUpAt }: { now: Date; giveUpAt: Date },
): Promise<void> {
  await database.execute(
    `update outbox set state = 'queued', next_attempt_at = $2, give_up_at = greatest(give_up_at, $3::timestamptz)
     where outbox_id = any ($1::bigint[]) and state <> 'dropped'`,
    [[...outboxIds], now, giveUpAt],
  );
}
