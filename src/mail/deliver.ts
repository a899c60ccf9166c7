import { MailError } from '../errors.js';
import type { MailMessage } from './mail-message.js';
import { openSmtp } from './open-smtp.js';
import type { MailSettings } from './settings.js';
import { writeEml } from './write-eml.js';

/** What became of one message; `file` is where a message delivered to a folder lies. */
export type DeliveryResult =
  | { kind: 'accepted'; recipient: string; messageId: string; file: string | null }
  | { kind: 'failed'; recipient: string; messageId: string; reason: string };

/** How messages leave; `smtp` needs `smtpUrl`. */
export type DeliverySettings = Pick<MailSettings, 'transport' | 'directory' | 'timeoutMs'>;

interface Mailer {
  /** Resolves with the file written, if any; rejects when the message was not accepted. */
  send(message: MailMessage): Promise<string | null>;
  close(): void;
}

/** Delivers each message on its own and says what became of each; throws MailError only when the settings are at fault. */
export async function deliver(
  messages: readonly MailMessage[],
  settings: DeliverySettings,
  smtpUrl?: string,
): Promise<readonly DeliveryResult[]> {
  const mailer = openMailer(settings, smtpUrl);
  const results: DeliveryResult[] = [];
  try {
    for (const message of messages) results.push(await attempt(mailer, message));
  } finally {
    mailer.close();
  }
  return results;
}

function openMailer(settings: DeliverySettings, smtpUrl: string | undefined): Mailer {
  if (settings.transport === 'file') {
    return { send: (message) => writeEml(message, settings.directory), close: () => {} };
  }
  if (smtpUrl === undefined) throw new MailError('smtp_url_missing', 'mail.transport is smtp, but SMTP_URL is not set');
  return openSmtp(smtpUrl, settings.timeoutMs);
}

async function attempt(mailer: Mailer, message: MailMessage): Promise<DeliveryResult> {
  const { to: recipient, messageId } = message;
  try {
    return { kind: 'accepted', recipient, messageId, file: await mailer.send(message) };
  } catch (error) {
    return { kind: 'failed', recipient, messageId, reason: error instanceof Error ? error.message : String(error) };
  }
}
