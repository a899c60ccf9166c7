import type { SMTPTransportOptions } from 'nodemailer';
import { MailError } from '../errors.js';
import { isLoopback } from '../loopback.js';

/**
 * How to reach the mail server of an `smtp://` or `smtps://` URL: TLS with a verified certificate, unless the host is
 * loopback by name. Options in the URL's query are refused, because they could switch that off. Throws MailError
 * `smtp_url_invalid`, which never shows the URL.
 */
export function toSmtpOptions(smtpUrl: string, timeoutMs: number): SMTPTransportOptions {
  const url = URL.canParse(smtpUrl) ? new URL(smtpUrl) : null;
  if (url === null || url.hostname === '' || !['smtp:', 'smtps:'].includes(url.protocol)) {
    throw new MailError('smtp_url_invalid', 'SMTP_URL is not of the form smtp://user:password@host:port');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new MailError('smtp_url_invalid', 'SMTP_URL may not carry options after the host');
  }
  const secure = url.protocol === 'smtps:';
  const isHere = isLoopback(url);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    secure,
    requireTLS: !isHere && !secure,
    // A server on this machine rarely has a certificate that could be verified.
    ignoreTLS: isHere && !secure,
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    ...toLogin(url),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
  };
}

function toLogin(url: URL): Pick<SMTPTransportOptions, 'auth'> {
  if (url.username === '') return {};
  try {
    return { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } };
  } catch (error) {
    throw new MailError('smtp_url_invalid', 'user or password in SMTP_URL is not percent-encoded', { cause: error });
  }
}
