import { createTransport } from 'nodemailer';
import type { MailMessage } from './mail-message.js';
import { renderMessage } from './render-message.js';
import { toSmtpOptions } from './smtp-options.js';

/** A mail server at `smtpUrl` to send messages to, one connection each; `send` rejects when the server did not accept. */
export function openSmtp(
  smtpUrl: string,
  timeoutMs: number,
): { send(message: MailMessage): Promise<null>; close(): void } {
  const transporter = createTransport(toSmtpOptions(smtpUrl, timeoutMs));
  return {
    send: async (message) => {
      await transporter.sendMail({
        envelope: { from: message.from, to: [message.to] },
        raw: await renderMessage(message),
      });
      return null;
    },
    close: () => transporter.close(),
  };
}
