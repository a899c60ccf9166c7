import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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
    ...toThreadHeaders(message.thread ?? []),
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

function toThreadHeaders(thread: readonly string[]): { inReplyTo?: string; references?: string[] } {
  const before = thread.at(-1);
  return before === undefined ? {} : { inReplyTo: before, references: [...thread] };
}

async function readAttachment(
  attachment: MailAttachment,
): Promise<{ filename: string; contentType: string; content: Buffer }> {
  const { name, path, contentType, sha256 } = attachment;
  const isWritten = (content: Buffer): boolean => createHash('sha256').update(content).digest('hex') === sha256;
  const standing = await readFile(path).catch((error: unknown) => toUnreadable(error));
  if (Buffer.isBuffer(standing) && isWritten(standing)) return { filename: name, contentType, content: standing };
  // A later revision of its report has moved it into a folder beside.
  for (const moved of await findMoved(path)) {
    const content = await readFile(moved).catch(() => null);
    if (content && isWritten(content)) return { filename: name, contentType, content };
  }
  if (Buffer.isBuffer(standing))
    throw new MailError('attachment_changed', `${name} is no longer the file that was written`);
  throw new MailError('attachment_changed', `${name} cannot be read`, { cause: standing.error });
}

const toUnreadable = (error: unknown): { error: unknown } => ({ error });

async function findMoved(path: string): Promise<readonly string[]> {
  const entries = await readdir(dirname(path), { withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(dirname(path), entry.name, basename(path))] : []));
}
