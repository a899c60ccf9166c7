import { ConfigError } from '../../errors.js';
import { makeDue } from '../../store/outbox.js';
import { readReportMails } from '../../store/outbox-reports.js';
import { findUnsentRuns } from '../../store/runs.js';
import {
  type ReportChoice,
  type ReportResult,
  type RunReport,
  runReports,
  writeReportFor,
} from '../reports/report-run.js';
import type { Workplace } from '../workplace.js';
import { deliverDue, type MailPass } from './deliver-due.js';
import { type Mail, toMails } from './list-mail.js';
import { toGiveUpAt } from './mail-times.js';
import { queueWrittenReport } from './queue-report.js';

/** A written report and how its mails stand. */
export interface SentReport extends ReportResult {
  mails: readonly Mail[];
}

/**
 * Writes reports as `runReports` does, mails them to whoever has not been queued for them, and tries all that is due. Throws ConfigError
 * also when no mail is configured.
 */
export async function sendReports(workplace: Workplace, choice: ReportChoice): Promise<readonly SentReport[]> {
  const { database, settings, clock } = workplace;
  if (!settings.mail) {
    throw new ConfigError([{ where: 'mail', path: '', message: 'is not configured, so the report cannot be sent' }]);
  }
  const reports = await runReports(workplace, choice, (report) => queueWrittenReport(workplace, report));
  for (const { runNumber, revision } of reports) {
    const waiting = (await readReportMails(database, runNumber, revision)).filter(({ state }) => state === 'queued');
    const now = clock.now();
    await makeDue(
      database,
      waiting.map(({ outboxId }) => outboxId),
      { now, giveUpAt: toGiveUpAt(settings.mail, now) },
    );
  }
  await deliverDue(workplace);
  const sent: SentReport[] = [];
  for (const report of reports) {
    const rows = await readReportMails(database, report.runNumber, report.revision);
    sent.push({ ...report, mails: await toMails(database, rows) });
  }
  return sent;
}

/** Queues the reports that nobody has been sent yet, of each roster's newest screening and of those it overtook, and tries all that is due. */
export async function sendUnsentReports(workplace: Workplace): Promise<MailPass> {
  for (const run of await findUnsentRuns(workplace.database)) {
    await queueWrittenReport(workplace, await writeReportFor(workplace, run));
  }
  return deliverDue(workplace);
}

/** How many mails a report has, and how many of them were accepted. */
export interface MailCounts {
  queued: number;
  sent: number;
}

/**
 * Mails the report of a run that has just ended, and whatever else is due; nothing more is tried once somebody has asked to stop. Whatever
 * goes wrong is a warning and nothing to the run. Gives how the report's mails stand; null where no mail is configured or
 * that went wrong.
 */
export async function mailRunReport(
  workplace: Workplace,
  report: RunReport,
  signal: AbortSignal,
): Promise<MailCounts | null> {
  if (!workplace.settings.mail) return null;
  try {
    await queueWrittenReport(workplace, report);
    await deliverDue(workplace, signal);
    const mails = await readReportMails(workplace.database, report.runNumber, report.revision);
    return { sent: mails.filter(({ state }) => state === 'sent').length, queued: mails.length };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `the report is not mailed yet (${reason}); nightscreen mail retry tries again`;
    workplace.tell({ kind: 'warning', runId: report.runId, code: 'mail_waits', message });
    return null;
  }
}

/** Tries what is due when a run has ended that has no report to mail; whatever goes wrong is a warning and nothing to the run. */
export async function mailWithoutReport(workplace: Workplace, runId: string, signal: AbortSignal): Promise<void> {
  try {
    await deliverDue(workplace, signal);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `the failure is not mailed yet (${reason}); nightscreen mail retry tries again`;
    workplace.tell({ kind: 'warning', runId, code: 'mail_waits', message });
  }
}
