import { type Logger, pino } from 'pino';
import { ApiError, CallError, NightscreenError } from './errors.js';
import type { logLevels } from './vocabulary.js';

/** A shorter secret is not redacted: replacing every `a` would destroy the log and hide nothing. */
const shortestSecret = 4;
const replacement = '[secret]';

/** Base64 encodes a text in one of three forms, by its offset in a group of three bytes; the characters at both ends depend on the neighbours. */
function listBase64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((lead) => {
    const bytes = Buffer.concat([Buffer.alloc(lead), Buffer.from(secret)]);
    const whole = bytes.toString('base64').replaceAll('=', '');
    const certain = whole.slice(lead === 0 ? 0 : lead + 1, Math.floor((bytes.length * 8) / 6));
    return [certain, certain.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function listParts(secret: string): string[] {
  if (!URL.canParse(secret)) return [secret];
  const { username, password } = new URL(secret);
  if (password === '') return [secret];
  return [secret, password, decodePart(password), `${username}:${password}`];
}

function listForms(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  const twice = JSON.stringify(escaped).slice(1, -1);
  const inUrl = encodeURIComponent(secret);
  return [secret, escaped, twice, inUrl, inUrl.replace(/%../g, (hex) => hex.toLowerCase()), ...listBase64Forms(secret)];
}

/** Replaces the secrets in any text, in each of their forms: plain, JSON-escaped, in a URL, in Base64; also the password of a URL alone. */
export function toRedactor(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(
    secrets.flatMap(listParts).flatMap((part) => (part.length < shortestSecret ? [] : listForms(part))),
  );
  const ordered = [...forms]
    .filter((form) => form.length >= shortestSecret)
    .toSorted((left, right) => right.length - left.length);
  return (text) => ordered.reduce((safe, form) => safe.replaceAll(form, replacement), text);
}

/** Replaces secrets that become known one by one. */
export function openRedactor() {
  const known = new Set<string>();
  let redact = toRedactor([]);
  return {
    redact: (text: string): string => redact(text),
    add: (secret: string): void => {
      if (known.has(secret)) return;
      known.add(secret);
      redact = toRedactor([...known]);
    },
  };
}

const deepestCause = 5;

/** The logged form of an error: chosen fields only, because answers and rows in errors contain customer data. */
function toLoggedError(error: unknown, withStack: boolean, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  return {
    type: error.name,
    ...(error instanceof NightscreenError ? { code: error.code } : {}),
    message: error.message,
    ...(error instanceof ApiError ? { status: error.status, requestId: error.requestId } : {}),
    ...(error instanceof CallError ? { method: error.method, path: error.path } : {}),
    ...(withStack ? { stack: error.stack } : {}),
    ...(error.cause !== undefined && depth < deepestCause
      ? { cause: toLoggedError(error.cause, withStack, depth + 1) }
      : {}),
  };
}

/** A logger of JSON lines without secrets in any field, message, cause or URL; errors have the key `err`, stacks only at level debug. */
export function createLogger(settings: {
  level: (typeof logLevels)[number];
  secrets: readonly string[];
  write: (line: string) => void;
}): Logger {
  const redact = toRedactor(settings.secrets);
  // Read for each line: a signal may change the level.
  const withStack = (): boolean => logger.level === 'debug';
  const options = {
    level: settings.level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => toLoggedError(error, withStack()) },
  };
  const logger: Logger = pino(options, { write: (line: string) => settings.write(redact(line)) });
  return logger;
}
