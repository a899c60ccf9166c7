import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { html } from 'hono/html';
import { createTransport, type SMTPTransportOptions } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import { MailError, readErrorCode, readMessage } from '../errors.js';
import { makeFolder, writeWhole } from '../files.js';
import { isLoopback } from '../loopback.js';
import type { ReportSettings } from '../reports/settings.js';
import { nameInCommands, toVisibleText } from '../reports/text.js';
import type { MailAttachment, MailMessage } from './message.js';
import type { MailSettings } from './settings.js';

/** The result of one attempt to send a message: accepted, refused for good, or failed for now. */
export type DeliveryResult =
  | { kind: 'accepted'; said: string }
  | { kind: 'refused'; said: string }
  | { kind: 'failed'; said: string; isUnreachable: boolean; isAttachmentGone?: boolean };

/** How mail is sent: `.eml` files go into the folder, and commands name the organisation. */
interface DeliverySettings extends Pick<MailSettings, 'transport'> {
  folder: string;
  timeoutMs: number;
  organisation?: string | undefined;
}

const usualTimeoutMs = 30_000;

/** How mail is sent by the settings. */
export const toDelivery = (
  { transport, timeoutMs = usualTimeoutMs }: MailSettings,
  { dir }: Pick<ReportSettings, 'dir'>,
  organisation?: string,
): DeliverySettings => ({ transport, folder: join(dir, 'mail'), timeoutMs, organisation });

/**
 * Opens the transport of messages; throws MailError for wrong settings. `attempt` tries a message once and never throws. When an attachment is
 * missing, it reports that or, if allowed, sends the message without it.
 */
export function openMailer(settings: DeliverySettings, smtpUrl: string | undefined) {
  const mailer = settings.transport === 'file' ? openFolder(settings.folder) : openSmtp(smtpUrl, settings.timeoutMs);
  const attemptAsIs = async (message: MailMessage, signal?: AbortSignal): Promise<DeliveryResult> => {
    try {
      const sent = await mailer.send(nameInMessage(message, settings.organisation), signal);
      return { kind: 'accepted', said: toSaid(sent) };
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
      return attemptAsIs(leaveAttachments(message, 'because the file was removed or changed'), signal);
    },
    close: (): void => mailer.close(),
  };
}

const nameInMessage = (message: MailMessage, organisation: string | undefined): MailMessage => ({
  ...message,
  subject: nameInCommands(message.subject, organisation),
  text: nameInCommands(message.text, organisation),
  html: nameInCommands(message.html, organisation),
});

const longestSaid = 500;

/** The answer of a server is shown and stored; it can contain anything and have any length. */
const toSaid = (text: string): string => toVisibleText(text).slice(0, longestSaid);

/** Tries each message once, until `signal` is aborted; throws MailError for wrong settings. */
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

async function writeEml(message: MailMessage, directory: string): Promise<string> {
  const bytes = await renderMessage(message);
  await makeFolder(directory, 'set reports.dir to another folder');
  const name = `${message.messageId.replace(/[^\w.-]+/g, '_').replace(/^_+|_+$/g, '')}.eml`;
  const path = join(directory, name);
  return writeWhole(path, async (file) => {
    await file.writeFile(bytes);
    return path;
  });
}

interface Mailer {
  /** Gives the answer of the server; rejects when the message is not accepted, or when `signal` is aborted before. */
  send(message: MailMessage, signal?: AbortSignal): Promise<string>;
  close(): void;
}

const openFolder = (directory: string): Mailer => ({
  send: async (message) => `written to ${await writeEml(message, directory)}`,
  close: () => {},
});

/** One connection for each message; a message that is too large is sent without its attachments. */
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
        const because = 'because the mail server does not accept a message of this size';
        return sendWhole(leaveAttachments(message, because), signal);
      }
    },
    close: () => transporter.close(),
  };
}

/** The message without its attachments, which it names. */
function leaveAttachments(message: MailMessage, because: string): MailMessage {
  const lines = message.attachments.map(({ name, sha256 }) => `Not attached, ${because}: ${name}, SHA-256 ${sha256}`);
  const paragraphs = lines.map((line) => String(html`<p>${line}</p>\n`)).join('');
  return {
    ...message,
    text: `${message.text}\n${lines.join('\n')}\n`,
    html: message.html.replace(/(?=<\/body>)|$/, () => paragraphs),
    attachments: [],
  };
}

/**
 * The options for an `smtp://` or `smtps://` URL: TLS with a verified certificate, unless the host is loopback by name. Options in the query are
 * refused, because they could switch that off. Throws MailError `smtp_url_invalid`, which never shows the URL.
 */
export function toSmtpOptions(smtpUrl: string, timeoutMs: number): SMTPTransportOptions {
  const url = URL.canParse(smtpUrl) ? new URL(smtpUrl) : null;
  if (url === null || url.hostname === '' || !['smtp:', 'smtps:'].includes(url.protocol)) {
    throw new MailError('smtp_url_invalid', 'SMTP_URL is not of the form smtp://user:password@host:port');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new MailError('smtp_url_invalid', 'SMTP_URL must not have options after the host');
  }
  const secure = url.protocol === 'smtps:';
  const isHere = isLoopback(url);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    ...(url.port === '' ? {} : { port: Number(url.port) }),
    secure,
    requireTLS: !isHere && !secure,
    // A server on this machine rarely has a certificate that can be verified.
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

// Some servers demand a login or encryption only when they see the sender (RFC 4954, RFC 3207).
const ofTheSetUp: ReadonlySet<unknown> = new Set([530, 534, 535, 538]);
const ofTheMessage: ReadonlySet<unknown> = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);
// Many servers give a general code for a message that is too large: only the text says so, or the code of RFC 3463.
const generalCodes: ReadonlySet<unknown> = new Set([550, 554]);
const sizeCode = /\b5\.(3\.4|2\.3)\b/;
const sizeWords = /\b(over)?size\b|\btoo (large|big)\b|\bexceed(s|ed|ing)?\b/i;
const otherCauses = /\bblocked|\bspam|\bquota|\brate\b/i;
// Nodemailer's own error, when the server announced its limit (RFC 1870).
const announcedLimit = /^Message size larger than allowed/;

/** Classifies an error of nodemailer by the command that was answered; an error about the server's own set-up is never final. */
export function toSmtpFailure(error: unknown) {
  const reason = readMessage(error);
  const code = readFact(error, 'responseCode');
  const isOfMessage = ofTheMessage.has(readFact(error, 'command')) && !ofTheSetUp.has(code);
  const isAboveLimit = announcedLimit.test(reason);
  const isFinal = isAboveLimit || (isOfMessage && typeof code === 'number' && code >= 500);
  const isUnsafe = readFact(error, 'code') === 'ETLS';
  return {
    /** `refused`: the server will never take this message (5xx). `failed`: it may later, or it was not reached. */
    kind: isFinal ? ('refused' as const) : ('failed' as const),
    reason: isUnsafe ? `nothing was sent, because there was no verified encryption: ${reason}` : reason,
    isTooLarge: isAboveLimit || (isFinal && (code === 552 || (generalCodes.has(code) && saysTooLarge(reason)))),
    /** Other messages would have failed as well: there was no connection, or none that may be used. */
    isUnreachable: !isOfMessage,
  };
}

const saysTooLarge = (text: string): boolean =>
  sizeCode.test(text) || (sizeWords.test(text) && !otherCauses.test(text));

const readFact = (error: unknown, name: string): unknown =>
  error instanceof Error ? Object.getOwnPropertyDescriptor(error, name)?.value : undefined;

/**
 * Connects to the mail server at `smtpUrl` as for a mail (TLS with a verified certificate, login where the URL has one), sends nothing and
 * disconnects. Never throws, and never shows the URL.
 */
export async function probeSmtp(
  smtpUrl: string,
  timeoutMs: number,
): Promise<{ kind: 'ready'; message: string } | { kind: 'unfit'; message: string; next: string }> {
  let options: ReturnType<typeof toSmtpOptions>;
  try {
    options = toSmtpOptions(smtpUrl, timeoutMs);
  } catch (error) {
    return { kind: 'unfit', message: readMessage(error), next: 'correct SMTP_URL' };
  }
  const where = `${options.host}${options.port === undefined ? '' : `:${options.port}`}`;
  const transporter = createTransport(options);
  try {
    await transporter.verify();
    const safety =
      options.ignoreTLS === true ? 'in clear text, because it is this machine' : 'TLS, certificate verified';
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
  if (readErrorCode(error) === 'EAUTH') return 'correct user and password in SMTP_URL, percent-encoded';
  if (/TLS|SSL|certificate|altnames/i.test(message))
    return 'the server must offer STARTTLS, or TLS from the start with smtps://, with a certificate for this host name that this machine trusts (NODE_EXTRA_CA_CERTS adds an authority of your own)';
  return 'check host and port in SMTP_URL, and that this machine may connect there';
}

/** The message in wire format (RFC 5322), always the same bytes; throws MailError `attachment_changed` when a file is missing or changed. */
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
  const existing = await readFile(path).catch(() => null);
  if (existing && isWritten(existing)) return { filename: name, contentType, content: existing };
  for (const moved of await findMoved(path)) {
    const content = await readFile(moved).catch(() => null);
    if (content && isWritten(content)) return { filename: name, contentType, content };
  }
  const problem = existing === null ? 'cannot be read' : 'is no longer the file that was written';
  throw new MailError('attachment_changed', `${name} ${problem}`);
}

/** A later revision of its report may have moved it into a subfolder. */
async function findMoved(path: string): Promise<readonly string[]> {
  const entries = await readdir(dirname(path), { withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(dirname(path), entry.name, basename(path))] : []));
}
