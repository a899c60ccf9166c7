import { join } from 'node:path';
import { MailError } from '../errors.js';
import { makeFolder } from '../files.js';
import { toVisibleText } from '../reports/text.js';
import type { MailMessage } from './mail-message.js';
import { type Mailer, openSmtp } from './open-smtp.js';
import { renderMessage } from './render-message.js';
import type { MailSettings } from './settings.js';
import { toSmtpFailure } from './smtp-failure.js';
import { writeWhole } from './write-whole.js';

/** What became of one attempt to send a message: accepted, refused for good, or failed for now. */
export type DeliveryResult =
  | { kind: 'accepted'; said: string }
  | { kind: 'refused'; said: string }
  | { kind: 'failed'; said: string; isUnreachable: boolean; isAttachmentGone?: boolean };

/** How messages leave; `smtp` needs `smtpUrl`. */
type DeliverySettings = Pick<MailSettings, 'transport' | 'directory' | 'timeoutMs'>;

/** What messages leave by; throws MailError when the settings are at fault. */
export function openMailer(settings: DeliverySettings, smtpUrl: string | undefined): Mailer {
  if (settings.transport === 'file') {
    return {
      send: async (message) => `written to ${await writeEml(message, settings.directory)}`,
      close: () => {},
    };
  }
  if (smtpUrl === undefined) throw new MailError('smtp_url_missing', 'mail.transport is smtp, but SMTP_URL is not set');
  return openSmtp(smtpUrl, settings.timeoutMs);
}

/** Tries to send a message once and says what became of it; never throws. */
export async function attemptDelivery(
  mailer: Mailer,
  message: MailMessage,
  signal?: AbortSignal,
): Promise<DeliveryResult> {
  try {
    return { kind: 'accepted', said: toSaid(await mailer.send(message, signal)) };
  } catch (error) {
    if (error instanceof MailError) {
      const isAttachmentGone = error.code === 'attachment_changed';
      return { kind: 'failed', said: toSaid(error.message), isUnreachable: false, isAttachmentGone };
    }
    const { kind, reason, isUnreachable } = toSmtpFailure(error);
    const said = toSaid(reason);
    return kind === 'refused' ? { kind, said } : { kind, said, isUnreachable };
  }
}

const longestSaid = 500;

/** What the other side said is shown on terminals and kept: it may hold anything and be of any length. */
const toSaid = (text: string): string => toVisibleText(text).slice(0, longestSaid);

/** Tries to send each message once, until `signal` is aborted, without keeping any of it; throws MailError when the settings are at fault. */
export async function deliver(
  messages: readonly MailMessage[],
  settings: DeliverySettings,
  smtpUrl?: string,
  signal?: AbortSignal,
): Promise<readonly DeliveryResult[]> {
  const mailer = openMailer(settings, smtpUrl);
  const results: DeliveryResult[] = [];
  try {
    for (const message of messages) results.push(await attemptDelivery(mailer, message, signal));
  } finally {
    mailer.close();
  }
  return results;
}

/** Writes the message as a `.eml` file (0600) named after its Message-ID and returns the path; the same message always has the same file. */
async function writeEml(message: MailMessage, directory: string): Promise<string> {
  const bytes = await renderMessage(message);
  await makeFolder(directory, 'set mail.directory to another folder');
  const name = `${message.messageId.replace(/[^\w.-]+/g, '_').replace(/^_+|_+$/g, '')}.eml`;
  const path = join(directory, name);
  return writeWhole(path, async (file) => {
    await file.writeFile(bytes);
    return path;
  });
}
