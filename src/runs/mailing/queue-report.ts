import { buildReportMessage } from '../../mail/build-message.js';
import { listRecipients, toOccasion } from '../../mail/recipients.js';
import type { Queryable } from '../../store/database/database.js';
import { queueReport, queueReportMails, type ReportMail, readThread } from '../../store/outbox-reports.js';
import { type RunRow, readRun } from '../../store/runs.js';
import { prepareReportMail } from '../reports/prepare-mail.js';
import type { RunReport } from '../reports/report-run.js';
import type { Workplace } from '../workplace.js';
import { toGiveUpAt } from './mail-times.js';

/** Within this time nobody but the process of the run writes its report. */
const ownWriteMs = 10 * 60_000;

/** Queues the report of a run that ends, in the transaction that closes it; does nothing where no mail is configured. */
export async function queueReportOf(
  { settings, clock }: Workplace,
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
export async function queueWrittenReport(workplace: Workplace, written: RunReport): Promise<void> {
  const { database, settings, clock } = workplace;
  const { mail } = settings;
  const { report, revision, runNumber } = written;
  if (!mail) return;
  const now = clock.now();
  const recipients = listRecipients(mail, toOccasion(report));
  const toMail = await prepareReportMail(workplace, report, written, recipients);
  await database.transaction(async (transaction) => {
    const run = await readRun(transaction, runNumber);
    if (run === null) return;
    const mails: ReportMail[] = [];
    for (const recipient of recipients) {
      const message = buildReportMessage(report, toMail, recipient, mail);
      const content = { ...message, thread: await readThread(transaction, run, recipient.address) };
      mails.push({ recipient: recipient.address, content, messageId: message.messageId });
    }
    const told = { revision, endedAt: report.run.finishedAt };
    await queueReportMails(transaction, run, told, mails, { queuedAt: now, giveUpAt: toGiveUpAt(mail, now) });
  });
}
