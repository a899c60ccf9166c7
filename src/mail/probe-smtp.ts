import { createTransport } from 'nodemailer';
import { toVisibleText } from '../reports/text.js';
import { toSmtpFailure } from './smtp-failure.js';
import { toSmtpOptions } from './smtp-options.js';

/** Whether a mail server would take mail; `next` says what to do where it would not. */
export type SmtpStanding = { kind: 'ready'; message: string } | { kind: 'unfit'; message: string; next: string };

/**
 * Connects to the mail server at `smtpUrl` as for a mail (TLS with a verified certificate, login where the URL has one) and leaves again:
 * nothing is sent. Never throws, and never shows the URL.
 */
export async function probeSmtp(smtpUrl: string, timeoutMs: number): Promise<SmtpStanding> {
  let options: ReturnType<typeof toSmtpOptions>;
  try {
    options = toSmtpOptions(smtpUrl, timeoutMs);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'unfit', message, next: 'correct SMTP_URL' };
  }
  const where = `${options.host}${options.port === undefined ? '' : `:${options.port}`}`;
  const transporter = createTransport(options);
  try {
    await transporter.verify();
    const safety = options.ignoreTLS === true ? 'in clear text, as it is this machine' : 'TLS, certificate verified';
    const login = options.auth === undefined ? 'no login in SMTP_URL' : 'login accepted';
    return { kind: 'ready', message: `${where} answers; ${safety}; ${login}` };
  } catch (error) {
    const message = toVisibleText(toSmtpFailure(error).reason.trim()).slice(0, longestSaid);
    return { kind: 'unfit', message: `${where}: ${message}`, next: findAdvice(message, error) };
  } finally {
    transporter.close();
  }
}

const longestSaid = 300;

function findAdvice(message: string, error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EAUTH') return 'correct user and password in SMTP_URL, percent-encoded';
  if (/TLS|SSL|certificate|altnames/i.test(message))
    return 'the server has to offer STARTTLS, or TLS from the start with smtps://, under a certificate for this host name that this machine trusts (NODE_EXTRA_CA_CERTS for an authority of your own)';
  return 'check host and port in SMTP_URL, and that this machine may connect there';
}
