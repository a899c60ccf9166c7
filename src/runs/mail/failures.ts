import {
  ApiError,
  ConfigError,
  NightscreenError,
  NotStartedError,
  ReportError,
  RosterError,
  RunLockedError,
  readMessage,
} from '../../errors.js';
import { deliver, toDelivery } from '../../mail/delivery.js';
import { type Alarm, buildAlarmMessage, buildFailureMessage, type Failure } from '../../mail/failure-message.js';
import type { MailMessage } from '../../mail/message.js';
import { listRecipients, type MailSettings } from '../../mail/settings.js';
import type { Queryable } from '../../store/database/database.js';
import { queueOutbox } from '../../store/operations/outbox.js';
import type { AppContext } from '../app-context.js';
import { RunHalted } from '../halt.js';
import { openOrganisation, type RunSession } from '../session.js';
import { allowLastWords, deliverOrWarn, toGiveUpAt } from './deliver.js';

/** Work that ended with an error. */
export interface FailedWork {
  /** As `rescreen`. */
  task: string;
  /** Null for work on every roster. */
  roster: string | null;
  error: unknown;
  /** The signal that could stop the work. */
  signal?: AbortSignal | undefined;
}

const refusals = [ConfigError, RosterError, RunLockedError, ApiError, RunHalted, NotStartedError];
const lookUp = 'See the runs and their states: nightscreen runs';

/** Whom a failure is mailed to, the time zone of its times, and the organisation that it is about. */
interface FailureSettings {
  mail: MailSettings;
  timezone: string;
  organisation: string;
}

/** The failure in words; of an unexpected error only its kind, because its text could contain anything. */
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

const isStopped = ({ error, signal }: FailedWork): boolean =>
  signal?.aborted === true && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'));

/** A stop is reported in any case: its customers were not screened, and nothing else says so. */
function describeStop({ task, signal }: FailedWork): Pick<Failure, 'outcome' | 'reason' | 'actions'> {
  const reason: unknown = signal?.reason;
  const stopped = reason instanceof NightscreenError ? reason.message : 'stopped on request';
  const came =
    task === 'rescreen' || task === 'onboard'
      ? 'before its first search: it has screened no customer, and there will be no report'
      : 'before it was complete';
  return {
    outcome: 'was stopped',
    reason: `${stopped} ${came}`,
    actions: [
      lookUp,
      ...(task === 'rescreen' ? ['Resume it, unless it starts again by itself: nightscreen rescreen'] : []),
    ],
  };
}

/** The mails about failed work, one for each recipient; those of the same incident and day have the same Message-ID. */
export function buildFailureMails(work: FailedWork, settings: FailureSettings, at: Date): readonly MailMessage[] {
  return buildMails({ ...describeFailure(work), task: work.task, roster: work.roster, at }, settings);
}

/**
 * Mails that work did not run or failed, once for each incident and day; directly, without the outbox, when the database fails. It does nothing
 * without configured mail, and for a roster that another process took within hours. Stopped work is reported as stopped, with a short time for
 * sending. A failure of the mail is a warning.
 */
export async function mailFailure(app: AppContext, work: FailedWork): Promise<void> {
  const { database, settings, clock } = app;
  const { mail } = settings;
  if (!mail || isDoneElsewhere(work)) return;
  const mails = buildFailureMails(work, { ...settings, mail }, clock.now());
  try {
    const { organisationId } = await openOrganisation(app);
    await database.transaction((transaction) => queueMails(app, transaction, { organisationId, runId: null }, mails));
  } catch {
    // The database that should store the mail has failed, so the mail is tried once.
    for (const said of await sendDirectly(app, mails, allowLastWords(work.signal))) {
      const message = `the failure could not be mailed, and is not tried again: ${said}`;
      app.emit({ kind: 'warning', runId: null, code: 'mail_not_sent', message });
    }
    return;
  }
  await deliverOrWarn(app, 'the failure is', { signal: allowLastWords(work.signal) });
}

/** No night is longer: a process that holds the roster for longer prevents its screening. */
const longestNightMs = 12 * 3_600_000;

/** Several hosts may start the same night, and one of them is doing it. */
const isDoneElsewhere = ({ error }: FailedWork): boolean =>
  error instanceof RunLockedError && error.heldMs !== null && error.heldMs < longestNightMs;

/** Sends mails once, without the outbox, and gives what was said of those that were not accepted. Never throws. */
export async function sendDirectly(
  {
    settings,
    nameInCommands,
    secret,
  }: Pick<AppContext, 'nameInCommands' | 'secret'> & {
    settings: Pick<AppContext['settings'], 'mail' | 'reports'>;
  },
  mails: readonly MailMessage[],
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  if (!settings.mail) return [];
  try {
    const delivery = toDelivery(settings.mail, settings.reports, nameInCommands);
    const results = await deliver(mails, delivery, secret('SMTP_URL'), signal);
    return results.flatMap(({ kind, said }) => (kind === 'accepted' ? [] : [said]));
  } catch (error) {
    return mails.map(() => readMessage(error));
  }
}

/** Queues the mail of a run that ends without a report, in the transaction that closes it. */
export async function queueBrokenRun(
  { app, run, runId, roster }: RunSession,
  transaction: Queryable,
  { outcome, reasons }: Pick<Failure, 'outcome'> & { reasons: readonly string[] },
): Promise<void> {
  const { settings, clock } = app;
  const { mail } = settings;
  if (!mail) return;
  const actions = [`See what happened: nightscreen runs show ${runId}`];
  const failure = { task: run.kind, roster, outcome, reason: reasons.join('\n'), at: clock.now(), actions };
  await queueMails(app, transaction, run, buildMails(failure, { ...settings, mail }, runId));
}

function buildMails(failure: Failure, settings: FailureSettings, incident = ''): readonly MailMessage[] {
  const { task, roster, outcome, reason, at } = failure;
  // A figure, such as the age of a heartbeat, makes no new incident.
  const why = reason.replace(/\d+/g, '#');
  const key = [task, roster ?? '', outcome, incident, at.toISOString().slice(0, 10), why];
  const { mail, timezone, organisation } = settings;
  const recipients = listRecipients(mail, { kind: 'failure', roster, level: 'red', severities: [] });
  const frame = { from: mail.from, timezone, organisation };
  return recipients.map(({ address }) => buildFailureMessage(failure, key, address, frame));
}

/** The mails of an alarm about these rosters (null: all), one for each recipient; those of the same key have the same Message-ID. */
export function buildAlarmMails(
  alarm: Alarm,
  key: readonly string[],
  rosters: readonly (string | null)[],
  { mail, timezone, organisation }: FailureSettings,
): readonly MailMessage[] {
  const recipients = rosters.flatMap((roster) =>
    listRecipients(mail, { kind: 'failure', roster, level: 'red', severities: [] }),
  );
  const addresses = new Set(recipients.map(({ address }) => address));
  const frame = { from: mail.from, timezone, organisation };
  return [...addresses].map((address) => buildAlarmMessage(alarm, key, address, frame));
}

/** Queues mails about failures; each is queued once for its prefix and Message-ID. */
export async function queueMails(
  { clock }: Pick<AppContext, 'clock'>,
  transaction: Queryable,
  about: { organisationId: number; runId: number | null },
  mails: readonly MailMessage[],
  prefix = 'failure',
): Promise<void> {
  const now = clock.now();
  const { organisationId, runId } = about;
  const common = { organisationId, runId, kind: 'mail_failure', queuedAt: now, giveUpAt: toGiveUpAt(now) } as const;
  const entries = mails.map((message) => {
    const { to: destination, messageId } = message;
    return { ...common, destination, dedupKey: `${prefix}/${messageId}`, content: message, messageId };
  });
  await queueOutbox(transaction, entries);
}
