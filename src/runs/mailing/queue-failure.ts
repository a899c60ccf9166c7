import { RunLockedError } from '../../errors.js';
import { buildFailureMessage, type Failure } from '../../mail/build-failure.js';
import { deliver } from '../../mail/deliver.js';
import type { MailMessage } from '../../mail/mail-message.js';
import { listRecipients } from '../../mail/recipients.js';
import type { MailSettings } from '../../mail/settings.js';
import type { Queryable } from '../../store/database/database.js';
import { queueOutbox } from '../../store/outbox.js';
import { openOrganisation, type RunSession } from '../session/run-session.js';
import type { Workplace } from '../workplace.js';
import { deliverDue } from './deliver-due.js';
import { describeFailure, type FailedWork } from './describe-failure.js';
import { allowLastWords } from './last-words.js';
import { toGiveUpAt } from './mail-times.js';

/** The mails that tell of work that failed, one for each recipient; those of the same incident and day have the same Message-ID. */
export function buildFailureMails(work: FailedWork, mail: MailSettings, at: Date): readonly MailMessage[] {
  return buildMails({ ...describeFailure(work), task: work.task, roster: work.roster, at }, mail);
}

/**
 * Mails that something did not run or failed, once for each incident and day; directly, without the outbox, when the database has gone away.
 * Does nothing where no mail is configured, nor for a roster that another process has begun within hours. Of work that somebody has asked to
 * stop it is said that it was stopped, and only a moment is given to sending. Whatever goes wrong with that is told as a warning.
 */
export async function tellFailure(workplace: Workplace, work: FailedWork): Promise<void> {
  const { database, settings, clock, tell } = workplace;
  if (!settings.mail || isDoneElsewhere(work)) return;
  const mails = buildFailureMails(work, settings.mail, clock.now());
  try {
    const { organisationId } = await openOrganisation(workplace);
    await database.transaction((transaction) =>
      queueMails(workplace, transaction, { organisationId, runId: null }, mails),
    );
  } catch {
    return mailDirectly(workplace, mails, work.signal);
  }
  try {
    await deliverDue(workplace, allowLastWords(work.signal));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    tell({ kind: 'warning', runId: null, code: 'mail_waits', message: `the failure is not mailed yet: ${reason}` });
  }
}

/** Longer than this no night takes, so whoever holds the roster for longer keeps it from being screened. */
const longestNightMs = 12 * 3_600_000;

/** Several hosts may start the same night, and one of them is at it. */
const isDoneElsewhere = ({ error }: FailedWork): boolean =>
  error instanceof RunLockedError && error.heldMs !== null && error.heldMs < longestNightMs;

/** The database that would keep it is what has failed, so it is tried once. */
async function mailDirectly(
  { settings, secret, tell }: Workplace,
  mails: readonly MailMessage[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const warn = (reason: string): void => {
    const message = `the failure could not be mailed, and is not tried again: ${reason}`;
    tell({ kind: 'warning', runId: null, code: 'mail_not_sent', message });
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
  { workplace, run, runId, roster }: RunSession,
  transaction: Queryable,
  { outcome, reasons }: Pick<Failure, 'outcome'> & { reasons: readonly string[] },
): Promise<void> {
  const { settings, clock } = workplace;
  if (!settings.mail) return;
  const actions = [`See what happened: nightscreen runs show ${runId}`];
  const failure = { task: run.kind, roster, outcome, reason: reasons.join('\n'), at: clock.now(), actions };
  await queueMails(workplace, transaction, run, buildMails(failure, settings.mail, runId));
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
  { settings, clock }: Workplace,
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
