import { buildEarlyWarning } from '../../mail/build-early-warning.js';
import { type DeliveryResult, deliver } from '../../mail/deliver.js';
import type { MailMessage } from '../../mail/mail-message.js';
import type { MailSettings } from '../../mail/settings.js';
import { countNoun } from '../../reports/format-count.js';
import { hasFailedCanary } from '../../store/canary-outcomes.js';
import {
  countCriticalChanges,
  noteWarningsAccepted,
  type QueuedWarning,
  queueWarnings,
  readCriticalChanges,
  readToldChanges,
} from '../../store/early-warnings.js';
import type { RunSession } from '../session/run-session.js';

/** At most one mail in this time, and no critical change waits longer for one. */
const warningIntervalMs = 5 * 60 * 1_000;
/** More in one mail nobody reads; the report lists them all. */
const mostListed = 50;

/** The recipient of a warning that is told as an event only. */
const nobody = '';

/**
 * Tells of the critical changes that a run has committed and not told yet: by mail, or by an event where none is wanted. Only once the
 * last mail is five minutes old, unless `atOnce`. Gives when the next one may follow, or null. A mail that fails is told as a warning and
 * tried again with the next one.
 */
export async function tellCriticalChanges(session: RunSession, atOnce: boolean): Promise<Date | null> {
  const { workplace, run } = session;
  const { database, clock, settings } = workplace;
  const mail = settings.mail?.earlyWarning ? settings.mail : undefined;
  // An event at the very end would only anticipate the run's own summary.
  if (!mail && atOnce) return null;
  const { toldThrough, lastTriedAt } = await readToldChanges(database, run.runId);
  const now = clock.now();
  const nextAt = lastTriedAt && new Date(lastTriedAt.getTime() + warningIntervalMs);
  if (nextAt && nextAt > now && !atOnce) return nextAt;
  const warnings: QueuedWarning[] = [];
  for (const recipient of mail?.to ?? [nobody]) {
    const pending = await countCriticalChanges(database, run.runId, toldThrough.get(recipient) ?? 0);
    if (pending) warnings.push({ ...pending, recipient, queuedAt: now });
  }
  // What a service says whose canaries failed, only the report tells, which says so.
  if (warnings.length === 0 || (await hasFailedCanary(database, run.runId))) return null;
  await session.write((transaction) => queueWarnings(transaction, run.runId, warnings));
  const accepted = mail ? await sendWarnings(session, mail, warnings) : [nobody];
  await session.write((transaction) => noteWarningsAccepted(transaction, run.runId, accepted, clock.now()));
  tellOf(session, warnings, accepted);
  return new Date(now.getTime() + warningIntervalMs);
}

/** Sends each warning; gives the recipients for whom it was accepted. */
async function sendWarnings(
  session: RunSession,
  mail: MailSettings,
  warnings: readonly QueuedWarning[],
): Promise<readonly string[]> {
  const { workplace, run, runId, roster, organisation } = session;
  const messages: MailMessage[] = [];
  for (const { recipient, ...warning } of warnings) {
    const listed = await readCriticalChanges(workplace.database, run.runId, warning, mostListed);
    const hasCanaries = workplace.settings.canaries.length > 0;
    const told = { ...warning, listed, hasCanaries, runId, roster, organisation: organisation.name, mode: run.mode };
    messages.push(buildEarlyWarning(told, recipient, mail));
  }
  const results = await deliver(messages, mail, workplace.secret('SMTP_URL')).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    return messages.map(
      ({ to: recipient, messageId }): DeliveryResult => ({ kind: 'failed', recipient, messageId, reason }),
    );
  });
  for (const result of results) {
    if (result.kind === 'accepted') continue;
    const message = `a provisional mail to ${result.recipient} was not accepted (${result.reason}); it is tried again with the next one`;
    workplace.tell({ kind: 'warning', runId, code: 'early_warning_failed', message });
  }
  return results.filter(({ kind }) => kind === 'accepted').map(({ recipient }) => recipient);
}

/** Says how many there are; never who. */
function tellOf(
  { workplace, runId }: RunSession,
  warnings: readonly QueuedWarning[],
  accepted: readonly string[],
): void {
  if (accepted.length === 0) return;
  const changes = Math.max(...warnings.map((warning) => warning.changes));
  const told = accepted.filter((recipient) => recipient !== nobody).length;
  const how =
    told === 0 ? 'nobody is mailed before the report' : `${countNoun(told, 'recipient')} told by provisional mail`;
  const message = `${countNoun(changes, 'critical change')} found so far and not told before; ${how}`;
  workplace.tell({ kind: 'warning', runId, code: 'critical_changes', message });
}
