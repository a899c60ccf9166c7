import { ConfigError, flagError } from '../../errors.js';
import type { Queryable } from '../../store/database/database.js';
import {
  dropOutbox,
  listOutbox,
  makeDue,
  noteReportSent,
  type OutboxRow,
  readAttempts,
  readOutbox,
  readReportMails,
} from '../../store/outbox.js';
import { makeWebhooksDue } from '../../store/webhooks.js';
import type { AppContext } from '../app-context.js';
import { findReviewer } from '../review/people.js';
import { notifyStates, readWebhookKeys, toRetryEnd } from '../status.js';
import { type ReportChoice, type ReportResult, runReports } from '../write-reports.js';
import { deliverDue, findStoredMessage, mailKinds, queueWrittenReport, toGiveUpAt } from './deliver.js';

/** A mail, or a message to a webhook, as it stands. */
export interface Mail {
  id: number;
  kind: OutboxRow['kind'];
  /** Number of the run that it reports; null where there is none. */
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
  state: OutboxRow['state'];
  queuedAt: Date;
  sentAt: Date | null;
  /** Null once nothing more is tried. */
  nextAttemptAt: Date | null;
  lastError: string | null;
  /** Who put it aside for good and why; null where nobody did. */
  dropped: { by: string; reason: string; at: Date } | null;
  /** Each attempt and what the other side said. */
  attempts: readonly { attempt: number; triedAt: Date; outcome: 'sent' | 'refused' | 'failed'; said: string }[];
}

/** Mails and messages to webhooks, oldest first: what waits, was refused or given up, and with `all` what was sent or put aside. */
export async function listMails(database: Queryable, options: { all: boolean }): Promise<readonly Mail[]> {
  return toMails(database, await listOutbox(database, [...mailKinds, 'webhook'], options));
}

/** What is in these rows of the outbox. */
async function toMails(database: Queryable, rows: readonly OutboxRow[]): Promise<readonly Mail[]> {
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

const toDrop = ({ droppedAt: at, droppedBy: by, droppedBecause: reason }: OutboxRow) =>
  at === null || by === null || reason === null ? null : { by, reason, at };

/** A written report and how its mails stand. */
export interface SentReport extends ReportResult {
  mails: readonly Mail[];
}

/**
 * Writes reports as `runReports` does, mails them to whoever has not been queued for them, and tries all that is due. Throws ConfigError
 * also when no mail is configured.
 */
export async function sendReports(app: AppContext, choice: ReportChoice): Promise<readonly SentReport[]> {
  const { database, settings, clock } = app;
  if (!settings.mail) {
    throw new ConfigError([{ where: 'mail', path: '', message: 'is not configured, so the report cannot be sent' }]);
  }
  const reports = await runReports(app, choice, (report) => queueWrittenReport(app, report));
  for (const { runNumber, revision } of reports) {
    const waiting = (await readReportMails(database, runNumber, revision)).filter(({ state }) => state === 'queued');
    const now = clock.now();
    await makeDue(
      database,
      waiting.map(({ outboxId }) => outboxId),
      { now, giveUpAt: toGiveUpAt(settings.mail, now) },
    );
  }
  await deliverDue(app);
  const sent: SentReport[] = [];
  for (const report of reports) {
    const rows = await readReportMails(database, report.runNumber, report.revision);
    sent.push({ ...report, mails: await toMails(database, rows) });
  }
  return sent;
}

const isWebhook = ({ kind }: OutboxRow): boolean => kind === 'webhook';
const isQueued = ({ state }: OutboxRow): boolean => state === 'queued';
const toIds = (rows: readonly OutboxRow[]): readonly number[] => rows.map(({ outboxId }) => outboxId);
const refuse = (message: string): ConfigError => new ConfigError([{ where: 'mail', path: '', message }]);

/**
 * Tries again now: the mails and messages to webhooks of these numbers, whatever became of them, or all mail that waits. Messages go with
 * the ids and bytes that they had, after what is older and waits for the same webhook. Gives the named ones and all of their sort that are
 * still not accepted. Throws ConfigError, with nothing tried, for a number that there is not, for what was put aside, where no mail is
 * configured, and where a webhook or its secret is not.
 */
export async function retryMails(app: AppContext, ids: readonly number[]): Promise<readonly Mail[]> {
  const { database } = app;
  const named = await readOutbox(database, ids);
  const missing = ids.filter((id) => !named.some(({ outboxId }) => outboxId === id));
  if (missing.length > 0) throw refuse(`there is no mail ${missing.join(', ')}; nightscreen mail list shows them`);
  const aside = named.find(({ state }) => state === 'dropped');
  if (aside) throw refuse(`${aside.outboxId} was put aside for good by ${aside.droppedBy}: ${aside.droppedBecause}`);
  const webhooks = named.filter(isWebhook);
  const isMailMeant = webhooks.length < named.length || ids.length === 0;
  if (isMailMeant && !app.settings.mail) {
    throw refuse('is not configured, so none can be sent; messages to webhooks that wait: nightscreen status send');
  }
  if (webhooks.length > 0) requireReachable(app, webhooks);
  const mails =
    ids.length > 0
      ? named.filter((row) => !isWebhook(row))
      : (await listOutbox(database, mailKinds, { all: false })).filter(isQueued);
  if (isMailMeant) await retryMail(app, mails);
  if (webhooks.length > 0) {
    await makeWebhooksDue(database, toIds(webhooks), app.clock.now(), toRetryEnd(app.clock.now()));
    await notifyStates(app);
  }
  const tried = [...(isMailMeant ? mailKinds : []), ...(webhooks.length > 0 ? (['webhook'] as const) : [])];
  const wanted = new Set(toIds([...mails, ...webhooks]));
  const after = await listOutbox(database, tried, { all: true });
  return toMails(
    database,
    after.filter((row) => isQueued(row) || wanted.has(row.outboxId)),
  );
}

async function retryMail(app: AppContext, mails: readonly OutboxRow[]): Promise<void> {
  const { database, settings, clock } = app;
  if (!settings.mail) return;
  const now = clock.now();
  await makeDue(database, toIds(mails), { now, giveUpAt: toGiveUpAt(settings.mail, now) });
  await deliverDue(app);
}

/** Throws ConfigError where a message goes to an address that is no webhook here, or has no secret here. */
function requireReachable(app: AppContext, webhooks: readonly OutboxRow[]): void {
  const keysByUrl = readWebhookKeys(app);
  const strange = webhooks.find(({ destination }) => !keysByUrl.has(destination ?? ''));
  if (strange) {
    throw refuse(
      `${strange.outboxId} is a message to ${strange.destination}, which is no webhook in this configuration; nightscreen mail drop ${strange.outboxId} puts it aside`,
    );
  }
}

/**
 * Puts mails and messages to webhooks aside for good, all of those that are named or none: they are never tried again, and who did it and why
 * is kept; on Postgres the login says who. `evenQueued` is for what is still being tried as well. Gives them as they stand then. Throws ConfigError for a number that there is not, for what was sent or put aside before, for what
 * is still being tried unless that is wanted, and where a reason or a name is missing.
 */
export async function dropMails(
  { database, clock }: Pick<AppContext, 'database' | 'clock'>,
  {
    ids,
    reason = '',
    by,
    evenQueued,
  }: { ids: readonly number[]; reason: string | undefined; by: string | undefined; evenQueued: boolean },
): Promise<readonly Mail[]> {
  if (reason.trim() === '')
    throw flagError('--reason', 'is missing: what is put aside is kept with who did it and why');
  const { name } = await findReviewer(database, by, false, '--by');
  const at = clock.now();
  const wanted = [...new Set(ids)];
  const rows = await database.transaction(async (transaction) => {
    const known = await readOutbox(transaction, wanted);
    const problems = wanted.flatMap(
      (id) =>
        findBlocker(
          id,
          known.find(({ outboxId }) => outboxId === id),
          evenQueued,
        ) ?? [],
    );
    if (problems.length > 0) throw refuseToDrop(problems);
    const dropped = await dropOutbox(transaction, database, wanted, {
      by: name,
      reason: reason.trim(),
      at,
      evenQueued,
    });
    const held = wanted.filter((id) => !dropped.includes(id));
    if (held.length > 0)
      throw refuseToDrop(held.map((id) => `${id} is being sent at this moment: look again in a minute`));
    for (const { runId, revision } of known) {
      if (runId !== null && revision !== null) await noteReportSent(transaction, runId, revision, at);
    }
    return readOutbox(transaction, wanted);
  });
  return toMails(database, rows);
}

/** Why something of the outbox cannot be put aside, in words; null when it can. */
function findBlocker(id: number, row: OutboxRow | undefined, evenQueued: boolean): string | null {
  if (!row) return `there is no ${id}; nightscreen mail list shows what there is`;
  switch (row.state) {
    case 'sent':
      return `${id} was sent`;
    case 'dropped':
      return `${id} was put aside before, by ${row.droppedBy}: ${row.droppedBecause}`;
    case 'queued':
      return evenQueued
        ? null
        : `${id} is still being tried, next at ${row.nextAttemptAt.toISOString()}; to put it aside all the same, add --even-queued`;
    default:
      return null;
  }
}

const refuseToDrop = (messages: readonly string[]): ConfigError =>
  new ConfigError(messages.map((message) => ({ where: 'mail drop', path: '', message })));
