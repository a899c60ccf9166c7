import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { html } from 'hono/html';
import { createTransport, type SMTPTransportOptions } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import { MailError } from '../errors.js';
import { makeFolder, writeWhole } from '../files.js';
import { isLoopback } from '../loopback.js';
import { toVisibleText } from '../reports/text.js';
import type { MailAttachment, MailMessage } from './message.js';
import type { MailSettings } from './settings.js';

/** What became of one attempt to send a message: accepted, refused for good, or failed for now. */
export type DeliveryResult =
  | { kind: 'accepted'; said: string }
  | { kind: 'refused'; said: string }
  | { kind: 'failed'; said: string; isUnreachable: boolean; isAttachmentGone?: boolean };

/** How messages leave; `smtp` needs `smtpUrl`. */
type DeliverySettings = Pick<MailSettings, 'transport' | 'directory' | 'timeoutMs'>;

/**
 * What messages leave by; throws MailError when the settings are at fault. `attempt` tries to send a message once, says what became of it, and
 * never throws; where what it carries is gone, it says that, or goes without it if it may.
 */
export function openMailer(settings: DeliverySettings, smtpUrl: string | undefined) {
  const mailer = settings.transport === 'file' ? openFolder(settings.directory) : openSmtp(smtpUrl, settings.timeoutMs);
  const attemptAsIs = async (message: MailMessage, signal?: AbortSignal): Promise<DeliveryResult> => {
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
  };
  return {
    attempt: async (
      message: MailMessage,
      signal?: AbortSignal,
      { mayLeaveAttachments = false } = {},
    ): Promise<DeliveryResult> => {
      const result = await attemptAsIs(message, signal);
      if (result.kind !== 'failed' || !result.isAttachmentGone || !mayLeaveAttachments) return result;
      const attachmentMissing = {
        ...message,
        ...(message.attachmentMissing ?? nameMissing(message, gone)),
        attachments: [],
      };
      return attemptAsIs(attachmentMissing, signal);
    },
    close: (): void => mailer.close(),
  };
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
    for (const message of messages) results.push(await mailer.attempt(message, signal));
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

/** How messages leave. */
interface Mailer {
  /** Gives what the other side said; rejects when the message was not accepted, or when `signal` is aborted before. */
  send(message: MailMessage, signal?: AbortSignal): Promise<string>;
  close(): void;
}

const openFolder = (directory: string): Mailer => ({
  send: async (message) => `written to ${await writeEml(message, directory)}`,
  close: () => {},
});

/** A mail server at `smtpUrl`, one connection for each message; what is too large for it goes without its attachments. */
function openSmtp(smtpUrl: string | undefined, timeoutMs: number): Mailer {
  if (smtpUrl === undefined) throw new MailError('smtp_url_missing', 'mail.transport is smtp, but SMTP_URL is not set');
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
        const reduced = { ...message, ...(message.reduced ?? nameMissing(message, tooLarge)), attachments: [] };
        return sendWhole(reduced, signal);
      }
    },
    close: () => transporter.close(),
  };
}

const tooLarge = 'because the mail server takes no message of this size';
const gone = 'because it is no longer where it was written';

/** What a message says without its attachments: what is missing, and which digest it has. */
function nameMissing({ attachments, text, html: page }: MailMessage, because: string) {
  const lines = attachments.map(({ name, sha256 }) => `Not attached, ${because}: ${name}, SHA-256 ${sha256}`);
  const paragraphs = lines.map((line) => String(html`<p>${line}</p>\n`)).join('');
  return {
    text: `${text}\n${lines.join('\n')}\n`,
    html: page.replace(/(?=<\/body>)|$/, () => paragraphs),
  };
}

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

/** What a failed attempt at a mail server means. */
interface SmtpFailure {
  /** `refused`: the server will never take this message (5xx); `failed`: it may later, or it was not reached. */
  kind: 'refused' | 'failed';
  reason: string;
  /** The message is larger than the server takes. */
  isTooLarge: boolean;
  /** No other message would have fared better: there was no connection, or none that may be used. */
  isUnreachable: boolean;
}

// Some servers ask for a login or for encryption at the sender only (RFC 4954, RFC 3207).
const ofTheSetUp: ReadonlySet<unknown> = new Set([530, 534, 535, 538]);
const ofTheMessage: ReadonlySet<unknown> = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);
// Nodemailer says so itself where the server has announced its limit (RFC 1870).
const announcedLimit = /^Message size larger than allowed/;

/** Judges an error of nodemailer by the command that was answered; what a server says about its own set-up is never final. */
export function toSmtpFailure(error: unknown): SmtpFailure {
  const reason = error instanceof Error ? error.message : String(error);
  const code = readFact(error, 'responseCode');
  const isOfMessage = ofTheMessage.has(readFact(error, 'command')) && !ofTheSetUp.has(code);
  const isAboveLimit = announcedLimit.test(reason);
  const isFinal = isAboveLimit || (isOfMessage && typeof code === 'number' && code >= 500);
  const isUnsafe = readFact(error, 'code') === 'ETLS';
  return {
    kind: isFinal ? 'refused' : 'failed',
    reason: isUnsafe ? `nothing was sent, because no verified encryption came about: ${reason}` : reason,
    isTooLarge: isAboveLimit || (isFinal && code === 552),
    isUnreachable: !isOfMessage,
  };
}

const readFact = (error: unknown, name: string): unknown =>
  error instanceof Error ? Object.getOwnPropertyDescriptor(error, name)?.value : undefined;

/** Whether a mail server would take mail; `next` says what to do where it would not. */
type SmtpStatus = { kind: 'ready'; message: string } | { kind: 'unfit'; message: string; next: string };

/**
 * Connects to the mail server at `smtpUrl` as for a mail (TLS with a verified certificate, login where the URL has one) and leaves again:
 * nothing is sent. Never throws, and never shows the URL.
 */
export async function probeSmtp(smtpUrl: string, timeoutMs: number): Promise<SmtpStatus> {
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
    const message = toVisibleText(toSmtpFailure(error).reason.trim()).slice(0, longestProbeMessage);
    return { kind: 'unfit', message: `${where}: ${message}`, next: findAdvice(message, error) };
  } finally {
    transporter.close();
  }
}

const longestProbeMessage = 300;

function findAdvice(message: string, error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EAUTH') return 'correct user and password in SMTP_URL, percent-encoded';
  if (/TLS|SSL|certificate|altnames/i.test(message))
    return 'the server has to offer STARTTLS, or TLS from the start with smtps://, under a certificate for this host name that this machine trusts (NODE_EXTRA_CA_CERTS for an authority of your own)';
  return 'check host and port in SMTP_URL, and that this machine may connect there';
}

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
  const existing = await readFile(path).catch((error: unknown) => toUnreadable(error));
  if (Buffer.isBuffer(existing) && isWritten(existing)) return { filename: name, contentType, content: existing };
  // A later revision of its report has moved it into a folder beside.
  for (const moved of await findMoved(path)) {
    const content = await readFile(moved).catch(() => null);
    if (content && isWritten(content)) return { filename: name, contentType, content };
  }
  if (Buffer.isBuffer(existing))
    throw new MailError('attachment_changed', `${name} is no longer the file that was written`);
  throw new MailError('attachment_changed', `${name} cannot be read`, { cause: existing.error });
}

const toUnreadable = (error: unknown): { error: unknown } => ({ error });

async function findMoved(path: string): Promise<readonly string[]> {
  const entries = await readdir(dirname(path), { withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(dirname(path), entry.name, basename(path))] : []));
}
