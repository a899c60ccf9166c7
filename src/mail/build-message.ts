import { basename } from 'node:path';
import type { Report } from '../reports/report.js';
import { chooseAttachment } from './choose-attachment.js';
import type { MailBody, MailMessage } from './mail-message.js';
import { toHtml, toText } from './message-body.js';
import { toFailureWords } from './message-failure.js';
import { toMessageId } from './message-id.js';
import { listRunFacts, type MessageFact, type MessageLines, type ReportWords } from './message-lines.js';
import { toReportWords } from './message-report.js';
import { toSubject } from './message-subject.js';
import { toSummaryWords } from './message-summary.js';
import type { Recipient } from './recipients.js';
import type { ReportPlace, ReportToMail } from './report-to-mail.js';
import type { MailKind, MailSettings } from './settings.js';

const wordsByKind: Readonly<Record<Exclude<MailKind, 'warning'>, (report: Report) => ReportWords>> = {
  report: toReportWords,
  summary: toSummaryWords,
  failure: toFailureWords,
};

/**
 * The message that tells one recipient about a written report; the same report and recipient always give the same message. A plain address
 * gets the report as `settings.attach` says. An attachment that would make the message longer than `mail.maxBytes` stays behind;
 * `reduced` is for a mail server that takes less, `bereft` for when the file is gone by then.
 */
export function buildReportMessage(
  report: Report,
  written: ReportToMail,
  recipient: Recipient | string,
  settings: MailSettings,
): MailMessage {
  const { address, shows, attach }: Recipient =
    typeof recipient === 'string' ? { address: recipient, shows: 'report', attach: settings.attach } : recipient;
  const chosen = chooseAttachment(report.run.runId, written, attach, settings.maxBytes);
  const words = wordsByKind[shows === 'warning' ? 'report' : shows](report);
  const toLines = (about: readonly MessageFact[], closing: string): MessageLines => ({
    ...words,
    headline: `${report.verdict.level.toUpperCase()}: ${report.verdict.coverage}`,
    sentences: [...words.sentences, ...(written.notes ?? [])],
    facts: [...listRunFacts(report), toPlaceFact(written), ...about],
    closing,
  });
  const isAttached = chosen.attachments.length > 0;
  return {
    messageId: toMessageId(report.run.runId, written, address, settings.from, shows),
    from: settings.from,
    to: address,
    subject: toSubject(report),
    date: report.run.finishedAt,
    ...toBody(toLines(chosen.facts, isAttached ? toClosing(chosen.isReadable) : namesNobody)),
    attachments: chosen.attachments,
    ...(isAttached && {
      reduced: toBody(toLines(chosen.leftBehind, namesNobody)),
      bereft: toBody(toLines(chosen.gone, namesNobody)),
    }),
  };
}

const toBody = (lines: MessageLines): MailBody => ({ text: toText(lines), html: toHtml(lines) });

/** A path of this machine opens nothing for a reader, so only the folder's name is told. */
function toPlaceFact({ place, directory }: ReportToMail): MessageFact {
  const { kind, where }: ReportPlace = place ?? { kind: 'server', where: basename(directory) };
  if (kind === 'link') return ['Report', where, where];
  return ['Report', kind === 'folder' ? where : `on the server, in the folder ${where}`];
}

const namesNobody = 'This message holds no personal data; who it is about is in the report.';

const toClosing = (isReadable: boolean): string =>
  isReadable
    ? 'The attached report holds personal data: treat it accordingly.'
    : 'This message names nobody; what is attached is masked or encrypted.';
