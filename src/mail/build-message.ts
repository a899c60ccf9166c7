import { join } from 'node:path';
import { html } from 'hono/html';
import type { Report } from '../reports/report.js';
import type { WrittenReport } from '../reports/write-report.js';
import type { MailAttachment, MailMessage } from './mail-message.js';
import { toMessageId } from './message-id.js';
import { type MessageLines, toMessageLines } from './message-lines.js';
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

function toText(lines: MessageLines): string {
  const facts = lines.facts.map(([name, value]) => `${`${name}:`.padEnd(14)}${value}`);
  return [lines.headline, '', ...lines.sentences, '', ...facts, '', lines.closing, ''].join('\n');
}

function toHtml(lines: MessageLines): string {
  const cell = 'padding:2px 16px 2px 0;vertical-align:top;text-align:left;font-weight:normal';
  return String(html`<!doctype html>
<html lang="en"><body style="font:15px/1.5 Georgia,serif;max-width:38em">
<p style="font-size:19px;margin:0 0 12px"><strong>${lines.headline}</strong></p>
${lines.sentences.map((sentence) => html`<p style="margin:0 0 6px">${sentence}</p>\n`)}
<table style="margin:16px 0;border-collapse:collapse">
${lines.facts.map(([name, value]) => html`<tr><th scope="row" style="${cell}">${name}</th><td style="${cell}">${value}</td></tr>\n`)}
</table>
<p style="margin:0">${lines.closing}</p>
</body></html>
`);
}
