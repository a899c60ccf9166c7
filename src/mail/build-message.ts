import { join } from 'node:path';
import type { Report } from '../reports/report.js';
import type { WrittenReport } from '../reports/write-report.js';
import type { MailAttachment, MailMessage } from './mail-message.js';
import { toHtml, toText } from './message-body.js';
import { toMessageId } from './message-id.js';
import { toMessageLines } from './message-lines.js';
import { toSubject } from './message-subject.js';
import type { MailSettings } from './settings.js';

const attachedFile = 'report.html';

/** The message that tells one recipient about a written report; the same report and recipient always give the same message. */
export function buildReportMessage(
  report: Report,
  written: WrittenReport,
  recipient: string,
  settings: MailSettings,
): MailMessage {
  const attachments = settings.attach === 'full' ? toAttachments(report, written) : [];
  const lines = toMessageLines(report, written, attachments.length > 0);
  return {
    messageId: toMessageId(report.run.runId, written, recipient, settings.from),
    from: settings.from,
    to: recipient,
    subject: toSubject(report),
    date: report.run.finishedAt,
    text: toText(lines),
    html: toHtml(lines),
    attachments,
  };
}

function toAttachments(report: Report, written: WrittenReport): readonly MailAttachment[] {
  return written.files
    .filter((file) => file.name === attachedFile)
    .map(({ name, sha256 }) => ({
      name: `${report.run.runId}-${name}`,
      path: join(written.directory, name),
      contentType: 'text/html; charset=utf-8',
      sha256,
    }));
}
