import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { type KeyKind, type KeyOwner, type KeyRing, toKeyFamily } from './keys.js';
import type { Ledger, LedgerEntry } from './ledger.js';

/** What the routes know of the call they answer. */
export interface CallEnv {
  Bindings: HttpBindings;
  Variables: {
    entry: LedgerEntry;
    /** The owner of the key presented; undefined when the key opens nothing. */
    owner: KeyOwner | undefined;
    /** The JSON body, or undefined when there is none or it cannot be read. */
    body: unknown;
  };
}
/** One call on its way through the sandbox. */
export type Call = Context<CallEnv>;

const CODES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'payment_required',
  403: 'permission_error',
  404: 'not_found',
  405: 'invalid_request_error',
  410: 'session_gone',
  413: 'payload_too_large',
  422: 'validation_error',
  429: 'rate_limit_exceeded',
  451: 'consent_required',
  503: 'service_unavailable',
};

/** The body of an error answer (service facts: error body); without a `code` it follows the status (interface: Errors). */
export const toErrorBody = (
  status: number,
  message: string,
  code = CODES[status] ?? 'api_error',
): { error: { type: string; message: string } } => ({ error: { type: code, message } });

/** Answers a call with an error; without a `code` it follows the status (interface: Errors). */
export const answerError = (context: Call, status: ContentfulStatusCode, message: string, code?: string): Response =>
  context.json(toErrorBody(status, message, code), status);

/** Says in one line what is wrong with a request. */
export const describeProblem = (error: z.ZodError): string =>
  error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`).join('; ');

const MAX_BODY_BYTES = 1_048_576;

/** Answers 413, and closes the connection because the rest of the body is not read. */
export const answerTooLarge = (context: Call): Response => {
  context.header('Connection', 'close');
  return answerError(context, 413, `A body may have ${MAX_BODY_BYTES} bytes at most.`);
};

/** The text of a body; undefined when it is larger than 1 MiB, of which no more is read then. */
export const readBoundedText = async (context: Call): Promise<string | undefined> => {
  const announced = context.req.header('content-length');
  if (announced !== undefined && Number(announced) > MAX_BODY_BYTES) return undefined;
  if (announced !== undefined) return context.req.text();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const reader = context.req.raw.body?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    bytes += read.value.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    pieces.push(read.value);
  }
  return Buffer.concat(pieces).toString('utf8');
};

/** A credential as it was presented. */
interface PresentedKey {
  key: string;
  scheme: 'basic' | 'bearer';
}

/**
 * Reads the key out of an `Authorization` header: the user name of HTTP Basic with an empty password, or a Bearer
 * token (interface: Authentication 1); undefined when there is none or it is malformed.
 */
export const readPresentedKey = (header: string | undefined): PresentedKey | undefined => {
  const [, scheme = '', credentials = ''] = /^(\S+) +(\S+)$/.exec(header?.trim() ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return { key: credentials, scheme: 'bearer' };
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const [userName = '', password, ...rest] = Buffer.from(credentials, 'base64').toString('utf8').split(':');
  return password === '' && rest.length === 0 && userName !== '' ? { key: userName, scheme: 'basic' } : undefined;
};

const isPresentable = (kind: KeyKind, scheme: string): boolean => kind !== 'jwt' || scheme === 'bearer';

const parseBody = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
};

const textField = (body: unknown, field: 'name' | 'type'): string | null => {
  if (typeof body !== 'object' || body === null) return null;
  const value: unknown = Reflect.get(body, field);
  return typeof value === 'string' ? value : null;
};

/**
 * Notes each call in the ledger before anything is decided about it, and gives every answer an `X-Request-Id`. A body
 * that is too large is answered here.
 */
export const recordCall = ({ keyRing, ledger }: { keyRing: KeyRing; ledger: Ledger }, prefix: string) =>
  createMiddleware<CallEnv>(async (context, next) => {
    const atMs = performance.now();
    const time = new Date().toISOString();
    const url = new URL(context.req.url);
    const presented = readPresentedKey(context.req.header('authorization'));
    const found = presented && keyRing.findOwner(presented.key);
    const owner = presented && found && isPresentable(found.kind, presented.scheme) ? found : undefined;
    const text = context.req.method === 'GET' ? '' : await readBoundedText(context);
    const body = parseBody(text);
    const entry = ledger.open({
      time,
      atMs,
      method: context.req.method,
      path: url.pathname.slice(prefix.length),
      queryString: url.search.slice(1),
      searchName: textField(body, 'name'),
      searchType: textField(body, 'type'),
      keyFamily: toKeyFamily(presented?.key),
      mode: owner?.mode ?? null,
    });
    context.set('entry', entry);
    context.set('owner', owner);
    context.set('body', body);
    if (text === undefined) context.res = answerTooLarge(context);
    else await next();
    const isCut = context.env.incoming.socket.destroyed;
    ledger.settle(entry, isCut ? null : context.res.status);
    if (!isCut) context.res.headers.set('X-Request-Id', `req_${randomUUID()}`);
  });

/** Which credentials an operation takes; `undefined` when it takes none (interface: Authentication 3). */
const listAccepted = (path: string): readonly KeyKind[] | undefined => {
  if (path === '/sessions') return ['public'];
  if (path.startsWith('/sessions/')) return undefined;
  return path.startsWith('/autodoc/') ? ['private', 'jwt'] : ['private'];
};

/** Answers 401 to a call whose credential is missing, malformed, revoked or not of the kind that its operation takes. */
export const requireKey = createMiddleware<CallEnv>(async (context, next) => {
  const accepted = listAccepted(context.var.entry.path);
  const { owner } = context.var;
  if (accepted === undefined || (owner && accepted.includes(owner.kind))) return next();
  const asked = accepted.includes('public') ? 'public' : 'private';
  return answerError(context, 401, `The ${asked} key is missing, malformed or revoked.`);
});

/** An email address, checked loosely. */
export const emailSchema = z.string().regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'is not an email address');

/** A phone number in E.164 or international writing, checked loosely. */
export const phoneSchema = z
  .string()
  .regex(/^\+?[0-9 ().-]+$/, 'is not a phone number')
  .refine((text) => /^\d{7,15}$/.test(text.replace(/\D/g, '')), 'is not a phone number');

/** Lets at most so many calls through in any window of time that slides. */
export interface SlidingWindow {
  /** Takes a place for a call at `atMs` and gives 0, or takes none and gives the milliseconds until one is free. */
  take(atMs: number): number;
}

/** Creates a window of `lengthMs` with `places`; a refused call takes no place. Times may come slightly out of order. */
export const createSlidingWindow = (places: number, lengthMs: number): SlidingWindow => {
  let taken: number[] = [];
  return {
    take: (atMs) => {
      const before = taken.findLastIndex((time) => time <= atMs) + 1;
      const oldest = taken[before - places];
      if (oldest !== undefined && atMs - oldest < lengthMs) return lengthMs - (atMs - oldest);
      taken.splice(before, 0, atMs);
      // Only the last places decide; a few more are kept for a call that comes late, and cutting is done rarely.
      if (taken.length > places * 2 + 1_000) taken = taken.slice(-places - 100);
      return 0;
    },
  };
};
