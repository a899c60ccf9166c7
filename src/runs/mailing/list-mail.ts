import type { Queryable } from '../../store/database/database.js';
import {
  listOutbox,
  type OutboxAttempt,
  type OutboxDrop,
  type OutboxKind,
  type OutboxRow,
  type OutboxState,
  readAttempts,
} from '../../store/outbox.js';
import { mailKinds } from './deliver-due.js';
import { findStoredMessage } from './stored-message.js';

/** A mail, or a message to a webhook, as it stands. */
export interface Mail {
  id: number;
  kind: OutboxKind;
  /** Number of the run that it tells of; null where there is none. */
  run: number | null;
  /** Of a report; null until that is written. */
  revision: number | null;
  /**
   * An address, or the URL of a webhook. Null, as the next two, as long as its report is not written; the subject also for a webhook and
   * when what is stored cannot be read.
   */
  recipient: string | null;
  subject: string | null;
  messageId: string | null;
  state: OutboxState;
  queuedAt: Date;
  sentAt: Date | null;
  /** Null once nothing more is tried. */
  nextAttemptAt: Date | null;
  lastError: string | null;
  /** Who put it aside for good and why; null where nobody did. */
  dropped: OutboxDrop | null;
  /** Each attempt and what the other side said. */
  attempts: readonly OutboxAttempt[];
}

const listedKinds: readonly OutboxKind[] = [...mailKinds, 'webhook'];

/** Mails and messages to webhooks, oldest first: what waits, was refused or given up, and with `all` what was sent or put aside. */
export async function listMails(database: Queryable, options: { all: boolean }): Promise<readonly Mail[]> {
  return toMails(database, await listOutbox(database, listedKinds, options));
}

/** What is in these rows of the outbox. */
export async function toMails(database: Queryable, rows: readonly OutboxRow[]): Promise<readonly Mail[]> {
  const attempts = await readAttempts(
    database,
    rows.map(({ outboxId }) => outboxId),
  );
  return rows.map((row) => ({
    id: row.outboxId,
    kind: row.kind,
    run: row.runId,
    revision: row.revision,
    recipient: row.destination,
    subject: findStoredMessage(row.content)?.subject ?? null,
    messageId: row.messageId,
    state: row.state,
    queuedAt: row.queuedAt,
    sentAt: row.sentAt,
    nextAttemptAt: row.state === 'queued' ? row.nextAttemptAt : null,
    lastError: row.lastError,
    dropped: toDrop(row),
    attempts: attempts.get(row.outboxId) ?? [],
  }));
}

const toDrop = ({ droppedAt: at, droppedBy: by, droppedBecause: reason }: OutboxRow): OutboxDrop | null =>
  at === null || by === null || reason === null ? null : { by, reason, at };
