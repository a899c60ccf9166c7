import { createTransport } from 'nodemailer';
import type { MailMessage } from './mail-message.js';
import { reduceMessage } from './reduce-message.js';
import { renderMessage } from './render-message.js';
import { toSmtpFailure } from './smtp-failure.js';
import { toSmtpOptions } from './smtp-options.js';

/** How messages leave. */
export interface Mailer {
  /** Gives what the other side said; rejects when the message was not accepted, or when `signal` is aborted before. */
  send(message: MailMessage, signal?: AbortSignal): Promise<string>;
  close(): void;
}

/** A mail server at `smtpUrl`, one connection for each message; what is too large for it goes without its attachments. */
export function openSmtp(smtpUrl: string, timeoutMs: number): Mailer {
  const transporter = createTransport(toSmtpOptions(smtpUrl, timeoutMs));
  const sendWhole = async (message: MailMessage, signal?: AbortSignal): Promise<string> => {
    const raw = await renderMessage(message);
    const envelope = { from: message.from, to: [message.to], size: raw.length };
    const { response } = await transporter.sendMail({ envelope, raw, ...(signal ? { signal } : {}) });
    return response;
  };
  return {
    send: async (message, signal) => {
      try {
        return await sendWhole(message, signal);
      } catch (error) {
        if (message.attachments.length === 0 || !toSmtpFailure(error).isTooLarge) throw error;
        return sendWhole(reduceMessage(message), signal);
      }
    },
    close: () => transporter.close(),
  };
}
