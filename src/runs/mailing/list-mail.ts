import { ConfigError } from '../../errors.js';
import type { Queryable } from '../../store/database.js';
import {
  listOutbox,
  makeDue,
  type OutboxKind,
  type OutboxRow,
  type OutboxState,
  readOutbox,
} from '../../store/outbox.js';
import type { OutboxDrop } from '../../store/outbox-drops.js';
import { type OutboxAttempt, readAttempts } from '../../store/outbox-sending.js';
import type { Workplace } from '../workplace.js';
import { deliverDue, mailKinds } from './deliver-due.js';
import { toGiveUpAt } from './mail-times.js';
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

/**
 * Tries mails again now: those of these numbers, whatever became of them, or all that wait. Gives the named ones and all that are still not
 * accepted. Throws ConfigError for a number that is no mail, for a mail that was put aside, and where no mail is configured.
 */
export async function retryMails(workplace: Workplace, ids: readonly number[]): Promise<readonly Mail[]> {
  const { database, settings, clock } = workplace;
  const refuse = (message: string): ConfigError => new ConfigError([{ where: 'mail', path: '', message }]);
  if (!settings.mail) throw refuse('is not configured, so nothing can be sent');
  const found = await readOutbox(database, ids);
  const webhook = found.find(({ kind }) => kind === 'webhook');
  if (webhook) {
    throw refuse(
      `${webhook.outboxId} is a message to a webhook; what of those waits is sent by nightscreen status send`,
    );
  }
  const aside = found.find(({ state }) => state === 'dropped');
  if (aside) throw refuse(`${aside.outboxId} was put aside for good by ${aside.droppedBy}: ${aside.droppedBecause}`);
  const named = found.filter(({ kind }) => mailKinds.includes(kind));
  const missing = ids.filter((id) => !named.some(({ outboxId }) => outboxId === id));
  if (missing.length > 0) throw refuse(`there is no mail ${missing.join(', ')}; nightscreen mail list shows them`);
  const waiting = ids.length > 0 ? named : (await listOutbox(database, mailKinds, { all: false })).filter(isQueued);
  const now = clock.now();
  const giveUpAt = toGiveUpAt(settings.mail, now);
  await makeDue(
    database,
    waiting.map(({ outboxId }) => outboxId),
    { now, giveUpAt },
  );
  await deliverDue(workplace);
  const after = await listOutbox(database, mailKinds, { all: true });
  return toMails(
    database,
    after.filter((row) => isQueued(row) || waiting.some(({ outboxId }) => outboxId === row.outboxId)),
  );
}

const toDrop = ({ droppedAt: at, droppedBy: by, droppedBecause: reason }: OutboxRow): OutboxDrop | null =>
  at === null || by === null || reason === null ? null : { by, reason, at };

const isQueued = ({ state }: OutboxRow): boolean => state === 'queued';
