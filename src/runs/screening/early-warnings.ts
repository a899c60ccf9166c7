import { LeaseLostError, readMessage } from '../../errors.js';
import { buildEarlyWarning } from '../../mail/early-warning.js';
import { listRecipients, type MailSettings, type Recipient } from '../../mail/settings.js';
import { countNoun } from '../../reports/text.js';
import type { Queryable } from '../../store/database/database.js';
import { readCriticalChanges } from '../../store/night/changes.js';
import { countFailedControls } from '../../store/night/controls.js';
import { type PendingWarning, queueWarnings, readUnreportedChanges } from '../../store/operations/early-warnings.js';
import { deliverDue, toGiveUpAt } from '../mail/deliver.js';
import type { RunSession } from '../session.js';

/** How often a run is checked for new critical changes. */
const lookEveryMs = 15_000;
/** How long the end of a run waits for mail, and how long a stopped run waits. */
const maxWaitMs = 60_000;
const stopWaitMs = 2_000;

/**
 * Reports critical changes during a run: the first within 15 seconds of its commit, later ones at most five minutes
 * after it. An error is only a warning. `close` reports what remains, unless a stop was requested; it never throws.
 */
export function watchCriticalChanges(session: RunSession): { close: () => Promise<void> } {
  const { clock } = session.app;
  const closing = new AbortController();
  const emit = async (atOnce: boolean): Promise<Date | null> => {
    try {
      return await reportCriticalChanges(session, atOnce);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) emitFailure(session, error);
      return null;
    }
  };
  const watch = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const nextAt = await emit(false);
      const waitMs = nextAt === null ? lookEveryMs : Math.max(0, nextAt.getTime() - clock.now().getTime());
      await clock.sleep(waitMs, closing.signal).catch(() => undefined);
    }
    // The process may end here, and the report may be mailed hours later.
    if (!session.signal.aborted) await emit(true);
  };
  const watching = watch();
  return {
    close: async () => {
      closing.abort();
      const isStopped = session.signal.aborted;
      const given = new AbortController();
      const timeLimit = clock.sleep(isStopped ? stopWaitMs : maxWaitMs, given.signal).catch(() => undefined);
      await Promise.race([watching, timeLimit]);
      given.abort();
    },
  };
}

function emitFailure({ app, runId }: RunSession, error: unknown): void {
  const message = `critical changes could not be reported before the report: ${readMessage(error)}`;
  app.emit({ kind: 'warning', runId, code: 'early_warning_failed', message });
}

/** The minimum time between two mails, and the longest delay of a critical change. */
const warningIntervalMs = 5 * 60 * 1_000;
/** A longer mail is not read; the report lists all changes. */
const mostListed = 50;

/** The recipient of a warning that is only an event. */
const noRecipient = '';

/**
 * Reports the new critical changes of a run by mail, or by an event without mail settings. Waits until the last mail is
 * five minutes old, unless `atOnce`. Returns when the next one may follow, or null. A mail that is not accepted waits
 * in the outbox.
 */
async function reportCriticalChanges(session: RunSession, atOnce: boolean): Promise<Date | null> {
  const { app, run, roster } = session;
  const { database, clock, settings } = app;
  const mail = settings.mail?.earlyWarning === false ? undefined : settings.mail;
  // At the end the run's own summary follows.
  if (!mail && atOnce) return null;
  const about = { kind: 'warning', roster, level: 'red', severities: ['critical'] } as const;
  const recipients = mail ? listRecipients(mail, about) : [];
  const addresses = mail ? recipients.map(({ address }) => address) : [noRecipient];
  const { pending, lastQueuedAt } = await readUnreportedChanges(database, run.runId, addresses);
  const now = clock.now();
  const nextAt = lastQueuedAt && new Date(lastQueuedAt.getTime() + warningIntervalMs);
  if (nextAt && nextAt > now && !atOnce) return nextAt;
  // After a failed control search only the report lists the changes, with a note.
  if (pending.length === 0 || (await countFailedControls(database, run.runId)) > 0) return null;
  await session.write(async (transaction) => {
    const warnings = [];
    for (const warning of pending) {
      const address = warning.recipient;
      const to = recipients.find((recipient) => recipient.address === address) ?? { address, attach: 'none' };
      const built = mail && (await buildMail(session, transaction, warning, { to, mail, queuedAt: now }));
      warnings.push({ ...warning, mail: built ?? null });
    }
    await queueWarnings(transaction, run, warnings, now);
  });
  emitWarnings(session, pending);
  if (mail) await deliverDue(app);
  return new Date(now.getTime() + warningIntervalMs);
}

async function buildMail(
  { app, run, runId, roster, organisation }: RunSession,
  transaction: Queryable,
  warning: PendingWarning,
  { to, mail, queuedAt }: { to: Pick<Recipient, 'address' | 'attach'>; mail: MailSettings; queuedAt: Date },
) {
  const listed = await readCriticalChanges(transaction, run.runId, warning, mostListed);
  const hasControls = app.settings.controls.length > 0;
  const { recipient: _, ...counts } = warning;
  const { timezone } = app.settings;
  const about = { ...counts, queuedAt, timezone, listed, hasControls, runId, roster };
  const content = buildEarlyWarning({ ...about, organisation: organisation.name, mode: run.mode }, to, mail);
  return { content, messageId: content.messageId, giveUpAt: toGiveUpAt(queuedAt) };
}

/** Emits the number of changes, never the customers. */
function emitWarnings({ app, runId }: RunSession, warnings: readonly PendingWarning[]): void {
  const changes = Math.max(...warnings.map((warning) => warning.changes));
  const mailed = warnings.filter(({ recipient }) => recipient !== noRecipient).length;
  const how =
    mailed === 0 ? 'no mail is sent before the report' : `provisional mail goes to ${countNoun(mailed, 'recipient')}`;
  const message = `${countNoun(changes, 'critical change')} found so far and not reported yet; ${how}`;
  app.emit({ kind: 'warning', runId, code: 'critical_changes', message });
}
