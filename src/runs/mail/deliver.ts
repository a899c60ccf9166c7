import { setTimeout as delay } from 'node:timers/promises';
import { readMessage, StoreError } from '../../errors.js';
import { type DeliveryResult, openMailer, toDelivery } from '../../mail/delivery.js';
import { type MailMessage, mailMessageSchema } from '../../mail/message.js';
import { buildReportMessage } from '../../mail/report-message.js';
import { listRecipients, toMailTrigger } from '../../mail/settings.js';
import type { Queryable } from '../../store/database/database.js';
import { isPackWaiting } from '../../store/evidence/packs.js';
import {
  claimNext,
  dropUnwritten,
  mailKinds,
  noteAttempt,
  noteReportSent,
  noteUnprepared,
  type OutboxOutcome,
  type OutboxRow,
  queueReport,
  queueReportMails,
  readOutbox,
  toWaitMs,
} from '../../store/operations/outbox.js';
import { findUnsentRuns, type RunRow, readRun, toRunId } from '../../store/runs.js';
import type { AppContext } from '../app-context.js';
import type { RunSummary } from '../run-summary.js';
import { prepareReportMail, type RunReport, writeReportFor } from '../write-reports.js';

/** How long a mail that is not accepted is tried again. */
const retryForMs = 3 * 24 * 3_600_000;

/** When something queued now is no longer sent. */
export const toGiveUpAt = (now: Date): Date => new Date(now.getTime() + retryForMs);

/** When to try again after this many attempts: after 2, 4, 8 minutes and so on, then every hour. */
export const toNextAttempt = (attempts: number, now: Date): Date => new Date(now.getTime() + toWaitMs(attempts));

/** The time left for a message in progress after a stop request; a process that must end has few seconds (PROMISES: 15). */
const graceMs = 2_000;

/** A signal for one message: aborted after `limitMs`, or shortly after `signal` is, so that an answer on its way is received. */
export function limitSending(limitMs: number, signal?: AbortSignal): { signal: AbortSignal; clear: () => void } {
  const limit = new AbortController();
  const timers = new AbortController();
  const endAfter = (ms: number): void => {
    delay(ms, undefined, { signal: timers.signal, ref: false }).then(
      () => limit.abort(new Error('it took too long')),
      () => undefined,
    );
  };
  endAfter(limitMs);
  const hurry = (): void => endAfter(graceMs);
  if (signal?.aborted) hurry();
  else signal?.addEventListener('abort', hurry, { once: true });
  return {
    signal: limit.signal,
    clear: () => {
      timers.abort();
      signal?.removeEventListener('abort', hurry);
    },
  };
}

/** The signal that stops sending; when it is already aborted, the short time left for what cannot be sent later. */
export const allowLastWords = (signal: AbortSignal | undefined): AbortSignal | undefined =>
  signal?.aborted ? AbortSignal.timeout(graceMs) : signal;

/** The message as stored in the outbox; null for other content. */
export function findStoredMessage(content: unknown): MailMessage | null {
  return mailMessageSchema.safeParse(content).data ?? null;
}

/** The longest attempt; another process may repeat it after twice that. */
const attemptLimitMs = 5 * 60_000;
/** A folder that is not mounted may return; after this many attempts a mail is sent without its missing attachments. */
const mostWithoutAttachment = 4;
/** After this many unreachable attempts in a row, the others are not tried. */
const mostUnreached = 2;

/**
 * Tries to send every mail that is due, each once, and writes reports that are not written yet. A mail that is not accepted causes a warning and
 * stores the reason. After `signal` is aborted none is begun, and the one in progress has a short time left. `keyPrefix` selects the keys that
 * begin with it. Throws MailError for wrong settings.
 */
export async function deliverDue(app: AppContext, signal?: AbortSignal, keyPrefix = '') {
  const { database, settings, nameInCommands, clock, owner, secret } = app;
  const pass = { sent: 0, failed: 0 };
  if (!settings.mail) return pass;
  const mailer = openMailer(toDelivery(settings.mail, settings.reports, nameInCommands), secret('SMTP_URL'));
  const except: number[] = [];
  let unreached = 0;
  const attempt = async ({ content, attempts }: OutboxRow): Promise<DeliveryResult> => {
    const message = findStoredMessage(content);
    // A mail that cannot be read must not block the others.
    if (message === null) return { kind: 'failed', said: 'its stored content cannot be read', isUnreachable: false };
    const limit = limitSending(attemptLimitMs, signal);
    const may = { mayLeaveAttachments: attempts.length >= mostWithoutAttachment };
    return mailer.attempt(message, limit.signal, may).finally(limit.clear);
  };
  try {
    while (unreached < mostUnreached && !signal?.aborted) {
      const { organisation } = settings;
      const limits = { now: clock.now(), leaseMs: 2 * attemptLimitMs, except, keyPrefix };
      const claim = { organisation, kinds: mailKinds, owner, ...limits };
      const row = await claimNext(database, claim);
      if (!row) break;
      except.push(row.outboxId);
      if (row.destination === null) {
        if (!(await makeReport(app, row))) pass.failed += 1;
        continue;
      }
      const result = await attempt(row);
      await note(app, row, result);
      pass[result.kind === 'accepted' ? 'sent' : 'failed'] += 1;
      unreached = result.kind === 'failed' && result.isUnreachable ? unreached + 1 : 0;
    }
  } finally {
    mailer.close();
  }
  return pass;
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
      ? { kind: 'failed', said, nextAttemptAt: toNextAttempt(row.attempts.length + 1, now) }
      : { kind: result.kind === 'accepted' ? 'sent' : 'refused', said };
  const state = await database.transaction(async (transaction) => {
    const noted = await noteAttempt(transaction, row, { owner, now }, outcome);
    if (noted !== null && runId !== null && revision !== null) await noteReportSent(transaction, runId, revision, now);
    return noted;
  });
  if (state === 'sent' || state === null) return;
  const next =
    state === 'queued' ? 'it is tried again' : `it is not tried again unless by nightscreen outbox retry ${outboxId}`;
  const message = `mail ${outboxId} to ${destination} was not accepted (${said}); ${next}`;
  emit({ kind: 'warning', runId: null, code: state === 'queued' ? 'mail_waits' : 'mail_not_sent', message });
}

/** How many mails have been refused or given up since this moment, and are neither sent nor dropped by a person. */
export async function countLostMails({ database, settings }: AppContext, since: Date): Promise<number> {
  const rows = await readOutbox(database, settings.organisation, { kinds: mailKinds, all: false });
  return rows.filter(({ state, attempts }) => {
    const triedAt = attempts.at(-1)?.triedAt;
    return state !== 'queued' && triedAt !== undefined && triedAt >= since;
  }).length;
}

async function makeReport(app: AppContext, row: OutboxRow): Promise<boolean> {
  const { database, clock, owner, emit } = app;
  const run = row.runId === null ? null : await readRun(database, row.runId);
  // The next report of the roster contains the results of an abandoned run.
  if (run === null || run.state === 'abandoned') {
    if (run) await dropUnwritten(database, run, row.queuedAt);
    return true;
  }
  try {
    if (run.state === 'running') throw new Error('the run is in progress');
    await queueWrittenReport(app, await writeReportFor(app, run));
    return true;
  } catch (error) {
    const said = readMessage(error);
    const now = clock.now();
    await noteUnprepared(database, row, owner, { said, now, nextAttemptAt: toNextAttempt(3, now) });
    emit({ kind: 'warning', runId: null, code: 'mail_waits', message: `a report cannot be mailed yet: ${said}` });
    return false;
  }
}

/** Within this time, only the process of the run writes its report. */
const ownWriteMs = 10 * 60_000;

/** Queues the report of a run that ends, in the transaction that closes it; without configured mail it does nothing. */
export async function queueReportOf(
  { settings, clock }: AppContext,
  transaction: Queryable,
  run: Pick<RunRow, 'organisationId' | 'runId'>,
): Promise<void> {
  if (!settings.mail) return;
  const now = clock.now();
  const nextAttemptAt = new Date(now.getTime() + ownWriteMs);
  // The end of the run distinguishes this report from one of an earlier end that may be in progress.
  const queuedAt = (await readRun(transaction, run.runId))?.finishedAt ?? now;
  await queueReport(transaction, run, { queuedAt, nextAttemptAt, giveUpAt: toGiveUpAt(now) });
}

/** Queues the mails of a written report, each once for its revision and recipient; without configured mail it does nothing. */
export async function queueWrittenReport(app: AppContext, written: RunReport): Promise<void> {
  const { database, settings, clock } = app;
  const { mail } = settings;
  const { report, revision, runNumber } = written;
  if (!mail) return;
  const now = clock.now();
  const recipients = listRecipients(mail, toMailTrigger(report));
  const prepared = await prepareReportMail(app, report, written, recipients);
  const isWaiting = await isPackWaiting(database, runNumber);
  const waiting = 'The pack of evidence of this run could not be written yet. The operator has a warning.';
  const toMail = { ...prepared, notes: [...(prepared.notes ?? []), ...(isWaiting ? [waiting] : [])] };
  await database.transaction(async (transaction) => {
    const run = await readRun(transaction, runNumber);
    if (run === null) return;
    const mails = recipients.map((recipient) => buildReportMessage(report, toMail, recipient, mail));
    const reported = { revision, endedAt: report.run.finishedAt };
    await queueReportMails(transaction, run, reported, mails, { queuedAt: now, giveUpAt: toGiveUpAt(now) });
  });
}

/** Queues the unsent reports of each roster's newest screening and of those before it, and sends all mail that is due. */
export async function sendUnsentReports(app: AppContext): ReturnType<typeof deliverDue> {
  for (const run of await findUnsentRuns(app.database, app.settings.organisation)) {
    try {
      await queueWrittenReport(app, await writeReportFor(app, run));
    } catch (error) {
      // It can never be written again, and the others must not wait for it.
      if (!(error instanceof StoreError && error.code === 'history_dropped')) throw error;
      app.emit({ kind: 'warning', runId: toRunId(run), code: 'mail_not_sent', message: error.message });
    }
  }
  return deliverDue(app);
}

/**
 * Mails the report of a run that has just ended, and all other mail that is due, until a stop is requested. A failure is a warning and does not
 * affect the run. Gives how many mails the report has and how many were accepted; null after a failure or without configured mail.
 */
export async function mailRunReport(
  app: AppContext,
  report: RunReport,
  signal: AbortSignal,
): Promise<{ queued: number; sent: number } | null> {
  if (!app.settings.mail) return null;
  try {
    await queueWrittenReport(app, report);
    await deliverDue(app, signal);
    const mails = await readOutbox(app.database, app.settings.organisation, {
      runId: report.runNumber,
      revision: report.revision,
    });
    return { sent: mails.filter(({ state }) => state === 'sent').length, queued: mails.length };
  } catch (error) {
    const message = `the report is not mailed yet (${readMessage(error)}); nightscreen outbox retry tries again`;
    app.emit({ kind: 'warning', runId: report.runId, code: 'mail_waits', message });
    return null;
  }
}

/**
 * Writes and mails the report of a run that has ended; without a report it only sends the mail that is due. Mail that
 * was lost since the start of the run changes exit code 0 to 3, and never the state of the run.
 */
export async function reportAndMail(
  app: AppContext,
  summary: RunSummary,
  { hasReport, writeReport }: { hasReport: boolean; writeReport: boolean },
  signal: AbortSignal,
): Promise<RunSummary> {
  if (!hasReport) await deliverOrWarn(app, 'the failure is', { runId: summary.runId, signal });
  if (!hasReport || !writeReport) return summary;
  const report = await writeReportFor(app, summary.runId);
  const mail = await mailRunReport(app, report, signal);
  const lost = await countLostMails(app, report.report.run.startedAt);
  return {
    ...summary,
    exitCode: lost > 0 && summary.exitCode === 0 ? 3 : summary.exitCode,
    artifacts: report.directory,
    ...(mail && { mail: { ...mail, lost } }),
  };
}

/** Sends the mail that is due as `deliverDue` does; an error is a warning that `what` not mailed yet, such as `alarms are`. */
export async function deliverOrWarn(
  app: AppContext,
  what: string,
  { runId = null, signal, keyPrefix }: { runId?: string | null; signal: AbortSignal | undefined; keyPrefix?: string },
): Promise<void> {
  try {
    await deliverDue(app, signal, keyPrefix);
  } catch (error) {
    const message = `${what} not mailed yet (${readMessage(error)}); nightscreen outbox retry tries again`;
    app.emit({ kind: 'warning', runId, code: 'mail_waits', message });
  }
}
