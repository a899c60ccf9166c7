import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import {
  ApiError,
  ConfigError,
  NightscreenError,
  NotStartedError,
  ReportError,
  RosterError,
  RunLockedError,
} from '../../errors.js';
import type { Failure } from '../../mail/failure-message.js';
import type { MailMessage } from '../../mail/message.js';
import { listRecipients, toMailTrigger } from '../../mail/recipients.js';
import { buildReportMessage } from '../../mail/report-message.js';
import type { MailSettings } from '../../mail/settings.js';
import { toDurationMs } from '../../roster/duration.js';
import type { Queryable } from '../../store/database/database.js';
import { queueReport, queueReportMails, type ReportMail, readThread } from '../../store/outbox-reports.js';
import { type RunRow, readRun } from '../../store/runs.js';
import type { AppContext } from '../app-context.js';
import { RunHalted } from '../halt.js';
import { prepareReportMail, type RunReport } from '../write-reports.js';

const minuteMs = 60_000;
/** The longest wait between two attempts at something in the outbox. */
export const longestWaitMs = 60 * minuteMs;

/** When something queued now is sent no more. */
export const toGiveUpAt = ({ retryFor }: MailSettings, now: Date): Date =>
  new Date(now.getTime() + toDurationMs(retryFor));

/** How long to wait after so many failed attempts: a minute doubled each time, and at most an hour. */
export const toWaitMs = (attempts: number): number => Math.min(longestWaitMs, 2 ** Math.min(attempts, 10) * minuteMs);

/** When to try again after so many attempts: after 2, 4, 8 minutes and so on, and then every hour. */
export const toNextAttempt = (attempts: number, now: Date): Date => new Date(now.getTime() + toWaitMs(attempts));

/** How long what is being sent may take once somebody has asked to stop; a process that is asked to end has few seconds (PROMISES: 15). */
const graceMs = 2_000;

/** A signal for the sending of one thing: aborted after `limitMs`, or a moment after `signal` is, so that an answer on its way is heard. */
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

/** The signal that sending is to stop for; where that is aborted already, the time that is left for what cannot be told later. */
export const allowLastWords = (signal: AbortSignal | undefined): AbortSignal | undefined =>
  signal?.aborted ? AbortSignal.timeout(graceMs) : signal;

const bodySchema = z.object({ text: z.string(), html: z.string() });

const messageSchema = bodySchema.extend({
  messageId: z.string(),
  from: z.string(),
  to: z.string(),
  subject: z.string(),
  date: z.iso.datetime().transform((text) => new Date(text)),
  attachments: z.array(z.object({ name: z.string(), path: z.string(), contentType: z.string(), sha256: z.string() })),
  thread: z.array(z.string()).optional(),
  reduced: bodySchema.optional(),
  attachmentMissing: bodySchema.optional(),
  /** The name in mails that an earlier version queued. */
  bereft: bodySchema.optional(),
});

/** The message as it was stored in the outbox; null for anything else. */
export function findStoredMessage(content: unknown): MailMessage | null {
  const stored = messageSchema.safeParse(content).data;
  if (stored === undefined) return null;
  const { bereft, ...message } = stored;
  return bereft === undefined ? message : { ...message, attachmentMissing: bereft };
}

/** Within this time nobody but the process of the run writes its report. */
const ownWriteMs = 10 * 60_000;

/** Queues the report of a run that ends, in the transaction that closes it; does nothing where no mail is configured. */
export async function queueReportOf(
  { settings, clock }: AppContext,
  transaction: Queryable,
  run: Pick<RunRow, 'organisationId' | 'runId'>,
): Promise<void> {
  if (!settings.mail) return;
  const now = clock.now();
  const nextAttemptAt = new Date(now.getTime() + ownWriteMs);
  // What tells this end of the run from an earlier one, whose report may be in the making.
  const queuedAt = (await readRun(transaction, run.runId))?.finishedAt ?? now;
  await queueReport(transaction, run, { queuedAt, nextAttemptAt, giveUpAt: toGiveUpAt(settings.mail, now) });
}

/** Queues the mails of a report that is written, each once for its revision and recipient; does nothing where no mail is configured. */
export async function queueWrittenReport(app: AppContext, written: RunReport): Promise<void> {
  const { database, settings, clock } = app;
  const { mail } = settings;
  const { report, revision, runNumber } = written;
  if (!mail) return;
  const now = clock.now();
  const recipients = listRecipients(mail, toMailTrigger(report));
  const toMail = await prepareReportMail(app, report, written, recipients);
  await database.transaction(async (transaction) => {
    const run = await readRun(transaction, runNumber);
    if (run === null) return;
    const mails: ReportMail[] = [];
    for (const recipient of recipients) {
      const message = buildReportMessage(report, toMail, recipient, mail);
      const content = { ...message, thread: await readThread(transaction, run, recipient.address) };
      mails.push({ recipient: recipient.address, content, messageId: message.messageId });
    }
    const reported = { revision, endedAt: report.run.finishedAt };
    await queueReportMails(transaction, run, reported, mails, { queuedAt: now, giveUpAt: toGiveUpAt(mail, now) });
  });
}

/** Work that ended in an error. */
export interface FailedWork {
  /** What was to be done, as `rescreen`. */
  task: string;
  /** Null for what concerns every roster. */
  roster: string | null;
  error: unknown;
  /** What the work was to stop for. */
  signal?: AbortSignal | undefined;
}

const refusals = [ConfigError, RosterError, RunLockedError, ApiError, RunHalted, NotStartedError];
const lookUp = 'See the runs and their states: nightscreen runs list';

/** What went wrong in words; of an error that was not meant to happen only its kind, for nobody knows what else it says. */
export function describeFailure(work: FailedWork): Pick<Failure, 'outcome' | 'reason' | 'actions'> {
  const { error } = work;
  if (isStopped(work)) return describeStop(work);
  const reason =
    error instanceof NightscreenError
      ? error.message
      : `an unexpected error (${error instanceof Error ? error.name : 'unknown'}); the log says more`;
  const isRefusal = refusals.some((type) => error instanceof type);
  return {
    outcome: isRefusal ? 'did not run' : error instanceof ReportError ? 'has no report' : 'failed',
    reason,
    actions: [lookUp, 'Check settings, key and service: nightscreen doctor'],
  };
}

/** Whether it ended because somebody asked it to, which is no fault. */
const isStopped = ({ error, signal }: FailedWork): boolean =>
  signal?.aborted === true && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'));

/** Told all the same: whoever was to be screened was not, and nothing else says so. */
function describeStop({ task, signal }: FailedWork): Pick<Failure, 'outcome' | 'reason' | 'actions'> {
  const reason: unknown = signal?.reason;
  const stopped = reason instanceof NightscreenError ? reason.message : 'stopped on request';
  const came =
    task === 'rescreen' || task === 'onboard'
      ? 'before its first search: it has screened nobody, and no report will tell of it'
      : 'before it was done';
  return {
    outcome: 'was stopped',
    reason: `${stopped} ${came}`,
    actions: [
      lookUp,
      ...(task === 'rescreen' ? ['Go on with it, unless it is begun again by itself: nightscreen rescreen'] : []),
    ],
  };
}
