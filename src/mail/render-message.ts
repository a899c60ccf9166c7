import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import MailComposer from 'nodemailer/lib/mail-composer';
import { MailError } from '../errors.js';
import type { MailAttachment, MailMessage } from './mail-message.js';

/** The message as it goes over the wire (RFC 5322), the same bytes each time; throws MailError `attachment_changed` when a file is gone or not the one described. */
export async function renderMessage(message: MailMessage): Promise<Buffer> {
  const attachments = await Promise.all(message.attachments.map(readAttachment));
  const composer = new MailComposer({
    from: message.from,
    to: message.to,
    subject: message.subject,
    messageId: message.messageId,
    date: message.date,
    text: message.text,
    html: message.html,
    attachments,
    // Random by default; the same message must give the same bytes.
    baseBoundary: createHash('sha256').update(message.messageId).digest('hex').slice(0, 16),
    headers: { 'Auto-Submitted': 'auto-generated' },
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

async function readAttachment(
  attachment: MailAttachment,
): Promise<{ filename: string; contentType: string; content: Buffer }> {
  const content = await readFile(attachment.path).catch((error: unknown) => {
    throw new MailError('attachment_changed', `${attachment.name} cannot be read`, { cause: error });
  });
  if (createHash('sha256').update(content).digest('hex') !== attachment.sha256) {
    throw new MailError('attachment_changed', `${attachment.name} is no longer the file that was written`);
  }
  return { filename: attachment.name, contentType: attachment.contentType, content };
}
