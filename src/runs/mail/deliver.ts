import { ConfigError, RunLockedError } from '../../errors.js';
import { attemptDelivery, type DeliveryResult, deliver, type Mailer, openMailer } from '../../mail/delivery.js';
import { buildFailureMessage, type Failure } from '../../mail/failure-message.js';
import { leaveAttachments, type MailMessage } from '../../mail/message.js';
import { listRecipients } from '../../mail/recipients.js';
import type { MailSettings } from '../../mail/settings.js';
import type { Queryable } from '../../store/database/database.js';
import {
  claimNext,
  listOutbox,
  makeDue,
  noteAttempt,
  noteUnprepared,
  type OutboxAttempt,
  type OutboxDrop,
  type OutboxKind,
  type OutboxOutcome,
  type OutboxRow,
  type OutboxState,
  queueOutbox,
  readAttempts,
} from '../../store/outbox.js';
import { dropUnwritten, noteReportSent, readReportMails } from '../../store/outbox-reports.js';
import { findUnsentRuns, readRun } from '../../store/runs.js';
import type { AppContext } from '../app-context.js';
import type { RunSummary } from '../run-summary.js';
import { openOrganisation, type RunSession } from '../session.js';
import {
  type ReportChoice,
  type ReportResult,
  type RunReport,
  runReports,
  writeReportFor,
  writeRunReport,
} from '../write-reports.js';
import {
  allowLastWords,
  describeFailure,
  type FailedWork,
  findStoredMessage,
  limitSending,
  queueWrittenReport,
  toGiveUpAt,
  toNextAttempt,
} from './queue.js';

/** What in the outbox is mail. */
export const mailKinds: readonly OutboxKind[] = ['mail_report', 'mail_warning', 'mail_failure'];

/** No attempt takes longer than this; another process may take it up after twice that. */
const attemptLimitMs = 5 * 60_000;
/** A folder that is not mounted may come back; after so many attempts a mail goes without what it cannot find. */
const mostWithoutAttachment = 4;
/** A server that was out of reach so often in a row is not asked for the others. */
const mostUnreached = 2;

/** How many mails a pass got off, and how many it did not. */
interface MailPass {
  sent: number;
  failed: number;
}

/**
 * Tries to send every mail that is due, each once; reports that are not written yet are written first. A mail that is not accepted is told
 * as a warning and keeps its reason. Once `signal` is aborted none is begun, and the one being sent has a moment left. `keyPrefix` leaves
 * out all whose keys begin otherwise. Throws MailError when the settings are at fault.
 */
export async function deliverDue(app: AppContext, signal?: AbortSignal, keyPrefix = ''): Promise<MailPass> {
  const { database, settings, clock, owner, secret } = app;
  const pass = { sent: 0, failed: 0 };
  if (!settings.mail) return pass;
  const mailer = openMailer(settings.mail, secret('SMTP_URL'));
  const except: number[] = [];
  let unreached = 0;
  try {
    while (unreached < mostUnreached && !signal?.aborted) {
      const claim = { kinds: mailKinds, owner, now: clock.now(), leaseMs: 2 * attemptLimitMs, except, keyPrefix };
      const row = await claimNext(database, claim);
      if (!row) break;
      except.push(row.outboxId);
      if (row.destination === null) {
        if (!(await makeReport(app, row))) pass.failed += 1;
        continue;
      }
      const result = await attempt(mailer, row, signal);
      await note(app, row, result);
      pass[result.kind === 'accepted' ? 'sent' : 'failed'] += 1;
      unreached = result.kind === 'failed' && result.isUnreachable ? unreached + 1 : 0;
    }
  } finally {
    mailer.close();
  }
  return pass;
}

/** One that cannot be read must not keep the others from being sent. */
async function attempt(
  mailer: Mailer,
  { content, attempts }: OutboxRow,
  stop: AbortSignal | undefined,
): Promise<DeliveryResult> {
  const message = findStoredMessage(content);
  if (message === null) return { kind: 'failed', said: 'what is stored of it cannot be read', isUnreachable: false };
  const { signal, clear } = limitSending(attemptLimitMs, stop);
  try {
    const result = await attemptDelivery(mailer, message, signal);
    if (result.kind !== 'failed' || !result.isAttachmentGone || attempts < mostWithoutAttachment) return result;
    return await attemptDelivery(mailer, leaveAttachments(message), signal);
  } finally {
    clear();
  }
}

async function note(
  { database, clock, owner, emit }: AppContext,
  row: OutboxRow,
  result: DeliveryResult,
): Promise<void> {
  const now = clock.now();
  const { outboxId, runId, revision, destination } = row;
  const { said } = result;
  const outcome: OutboxOutcome =
    result.kind === 'failed'
      ? { kind: 'failed', said, nextAttemptAt: toNextAttempt(row.attempts + 1, now) }
      : { kind: result.kind === 'accepted' ? 'sent' : 'refused', said };
  const state = await database.transaction(async (transaction) => {
    const noted = await noteAttempt(transaction, row, { owner, now }, outcome);
    if (noted !== null && runId !== null && revision !== null) await noteReportSent(transaction, runId, revision, now);
    return noted;
  });
  if (state === 'sent' || state === null) return;
  const next =
    state === 'queued' ? 'it is tried again' : `it is not tried again unless by nightscreen mail retry ${outboxId}`;
  const message = `mail ${outboxId} to ${destination} was not accepted (${said}); ${next}`;
  emit({ kind: 'warning', runId: null, code: state === 'queued' ? 'mail_waits' : 'mail_not_sent', message });
}

/** Writes the report that a mail waits for and queues the mails of it; false, with the reason noted, when that cannot be done. */
async function makeReport(app: AppContext, row: OutboxRow): Promise<boolean> {
  const { database, clock, owner, emit } = app;
  const run = row.runId === null ? null : await readRun(database, row.runId);
  // What an abandoned run found is in the next report of its roster.
  if (run === null || run.state === 'abandoned') {
    if (run) await dropUnwritten(database, run, row.queuedAt);
    return true;
  }
  try {
    if (run.state === 'running') throw new Error('the run goes on');
    await queueWrittenReport(app, await writeReportFor(app, run));
    return true;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const now = clock.now();
    await noteUnprepared(database, row, owner, { said, now, nextAttemptAt: toNextAttempt(3, now) });
    emit({ kind: 'warning', runId: null, code: 'mail_waits', message: `a report cannot be mailed yet: ${said}` });
    return false;
  }
}

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

/** Queues the reports that nobody has been sent yet, of each roster's newest screening and of those it overtook, and tries all that is due. */
export async function sendUnsentReports(app: AppContext): Promise<MailPass> {
  for (const run of await findUnsentRuns(app.database)) {
    await queueWrittenReport(app, await writeReportFor(app, run));
  }
  return deliverDue(app);
}

/** How many mails a report has, and how many of them were accepted. */
interface MailCounts {
  queued: number;
  sent: number;
}

/**
 * Mails the report of a run that has just ended, and whatever else is due; nothing more is tried once somebody has asked to stop. Whatever
 * goes wrong is a warning and nothing to the run. Gives how the report's mails stand; null where no mail is configured or
 * that went wrong.
 */
export async function mailRunReport(
  app: AppContext,
  report: RunReport,
  signal: AbortSignal,
): Promise<MailCounts | null> {
  if (!app.settings.mail) return null;
  try {
    await queueWrittenReport(app, report);
    await deliverDue(app, signal);
    const mails = await readReportMails(app.database, report.runNumber, report.revision);
    return { sent: mails.filter(({ state }) => state === 'sent').length, queued: mails.length };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `the report is not mailed yet (${reason}); nightscreen mail retry tries again`;
    app.emit({ kind: 'warning', runId: report.runId, code: 'mail_waits', message });
    return null;
  }
}

/** Writes and mails the report of a run that has ended; only mails what is due where the run has none to write. */
export async function reportAndMail(
  app: AppContext,
  summary: RunSummary,
  { hasReport, writeReport }: { hasReport: boolean; writeReport: boolean },
  signal: AbortSignal,
): Promise<RunSummary> {
  if (!hasReport) await mailWithoutReport(app, summary.runId, signal);
  if (!hasReport || !writeReport) return summary;
  const report = await writeRunReport(app, summary.runId);
  const mail = await mailRunReport(app, report, signal);
  return { ...summary, artifacts: report.directory, ...(mail && { mail }) };
}

/** Tries what is due when a run has ended that has no report to mail; whatever goes wrong is a warning and nothing to the run. */
async function mailWithoutReport(app: AppContext, runId: string, signal: AbortSignal): Promise<void> {
  try {
    await deliverDue(app, signal);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `the failure is not mailed yet (${reason}); nightscreen mail retry tries again`;
    app.emit({ kind: 'warning', runId, code: 'mail_waits', message });
  }
}

/** The mails that tell of work that failed, one for each recipient; those of the same incident and day have the same Message-ID. */
export function buildFailureMails(work: FailedWork, mail: MailSettings, at: Date): readonly MailMessage[] {
  return buildMails({ ...describeFailure(work), task: work.task, roster: work.roster, at }, mail);
}

/**
 * Mails that something did not run or failed, once for each incident and day; directly, without the outbox, when the database has gone away.
 * Does nothing where no mail is configured, nor for a roster that another process has begun within hours. Of work that somebody has asked to
 * stop it is said that it was stopped, and only a moment is given to sending. Whatever goes wrong with that is told as a warning.
 */
export async function mailFailure(app: AppContext, work: FailedWork): Promise<void> {
  const { database, settings, clock, emit } = app;
  if (!settings.mail || isDoneElsewhere(work)) return;
  const mails = buildFailureMails(work, settings.mail, clock.now());
  try {
    const { organisationId } = await openOrganisation(app);
    await database.transaction((transaction) => queueMails(app, transaction, { organisationId, runId: null }, mails));
  } catch {
    return mailDirectly(app, mails, work.signal);
  }
  try {
    await deliverDue(app, allowLastWords(work.signal));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    emit({ kind: 'warning', runId: null, code: 'mail_waits', message: `the failure is not mailed yet: ${reason}` });
  }
}

/** Longer than this no night takes, so whoever holds the roster for longer keeps it from being screened. */
const longestNightMs = 12 * 3_600_000;

/** Several hosts may start the same night, and one of them is at it. */
const isDoneElsewhere = ({ error }: FailedWork): boolean =>
  error instanceof RunLockedError && error.heldMs !== null && error.heldMs < longestNightMs;

/** The database that would keep it is what has failed, so it is tried once. */
async function mailDirectly(
  { settings, secret, emit }: AppContext,
  mails: readonly MailMessage[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const warn = (reason: string): void => {
    const message = `the failure could not be mailed, and is not tried again: ${reason}`;
    emit({ kind: 'warning', runId: null, code: 'mail_not_sent', message });
  };
  if (!settings.mail) return;
  try {
    for (const { kind, said } of await deliver(mails, settings.mail, secret('SMTP_URL'), allowLastWords(signal))) {
      if (kind !== 'accepted') warn(said);
    }
  } catch (error) {
    warn(error instanceof Error ? error.message : String(error));
  }
}

/** Queues the mail of a run that ends without a report, in the transaction that closes it. */
export async function queueBrokenRun(
  { app, run, runId, roster }: RunSession,
  transaction: Queryable,
  { outcome, reasons }: Pick<Failure, 'outcome'> & { reasons: readonly string[] },
): Promise<void> {
  const { settings, clock } = app;
  if (!settings.mail) return;
  const actions = [`See what happened: nightscreen runs show ${runId}`];
  const failure = { task: run.kind, roster, outcome, reason: reasons.join('\n'), at: clock.now(), actions };
  await queueMails(app, transaction, run, buildMails(failure, settings.mail, runId));
}

function buildMails(failure: Failure, mail: MailSettings, incident = ''): readonly MailMessage[] {
  const { task, roster, outcome, reason, at } = failure;
  // Figures such as how long ago somebody was heard of make no other incident.
  const why = reason.replace(/\d+/g, '#');
  const key = [task, roster ?? '', outcome, incident, at.toISOString().slice(0, 10), why];
  const recipients = listRecipients(mail, { kind: 'failure', roster, level: 'red', severities: [] });
  return recipients.map(({ address }) => buildFailureMessage(failure, key, address, mail));
}

async function queueMails(
  { settings, clock }: AppContext,
  transaction: Queryable,
  about: { organisationId: number; runId: number | null },
  mails: readonly MailMessage[],
): Promise<void> {
  if (!settings.mail) return;
  const now = clock.now();
  const times = { queuedAt: now, giveUpAt: toGiveUpAt(settings.mail, now) };
  const entries = mails.map((message) => {
    const { to: destination, messageId } = message;
    const { organisationId, runId } = about;
    const what = { organisationId, runId, kind: 'mail_failure', destination } as const;
    return { ...what, dedupKey: `failure/${messageId}`, content: message, messageId, ...times };
  });
  await queueOutbox(transaction, entries);
}

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
