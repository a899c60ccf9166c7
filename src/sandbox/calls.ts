import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { KeyOwner, KeyRing, Mode } from './keys.js';

/** One call to the sandbox; the key itself is never stored. */
export interface LedgerEntry {
  sequence: number;
  /** When the call arrived, ISO 8601. */
  time: string;
  /** When the call arrived, in milliseconds of `performance.now()`, taken before its body was read. */
  atMs: number;
  method: string;
  /** Below the version prefix, for example `/aml/search`. */
  path: string;
  /** Without the question mark; empty when there is none. */
  queryString: string;
  searchName: string | null;
  searchType: string | null;
  /** The kind of the presented key by its prefix; `none` without a key. */
  keyFamily: 'private_sandbox' | 'private' | 'public_sandbox' | 'public' | 'unknown' | 'none';
  mode: Mode | null;
  /** Null until answered, and for good when the connection was closed. */
  status: number | null;
  /** Whether the service did billable work. */
  worked: boolean;
}

const KEPT_CALLS = 100_000;
// Callers invent paths, so the number of counters needs a limit too.
const MAX_COUNTERS = 1_000;

/** The sandbox's own record of its calls; its memory is bounded. */
export class Ledger {
  #entries: LedgerEntry[] = [];
  #counts = new Map<string, number>();
  #sequence = 0;

  /** Notes a call on arrival; `finish` adds its result. */
  open(call: Omit<LedgerEntry, 'sequence' | 'status' | 'worked'>): LedgerEntry {
    this.#sequence += 1;
    const entry = { sequence: this.#sequence, ...call, status: null, worked: false };
    this.#entries.push(entry);
    // Truncating in large steps keeps the cost per call constant.
    if (this.#entries.length >= KEPT_CALLS * 2) this.#entries = this.#entries.slice(-KEPT_CALLS);
    return entry;
  }

  /** Notes the status of the answer; null when the connection was closed. */
  finish(entry: LedgerEntry, status: number | null): void {
    entry.status = status;
    const ownKey = `${entry.method} ${entry.path} ${status ?? 'cut'}`;
    const isKept = this.#counts.has(ownKey) || this.#counts.size < MAX_COUNTERS;
    const key = isKept ? ownKey : `other ${status ?? 'cut'}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** The last 100,000 calls, oldest first. */
  calls(): readonly LedgerEntry[] {
    return this.#entries.slice(-KEPT_CALLS);
  }

  /** Finished calls since the start or the last `clear`, by `METHOD path status`; a closed connection has the status `cut`. */
  counts(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  clear(): void {
    this.#entries = [];
    this.#counts = new Map();
  }
}

/** What the routes know about their call. */
export interface CallEnv {
  Bindings: HttpBindings;
  Variables: {
    entry: LedgerEntry;
    /** The owner of the presented key; undefined for an invalid key. */
    owner: KeyOwner | undefined;
    /** The presented private key; undefined for an invalid key or another kind. */
    privateKey: string | undefined;
    /** The JSON body; undefined without a readable one. */
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

/** The body of an error answer (service facts: error body); by default the code follows the status (interface: Errors). */
export const toErrorBody = (
  status: number,
  message: string,
  code = CODES[status] ?? 'api_error',
): { error: { type: string; message: string } } => ({ error: { type: code, message } });

/** Answers a call with an error; by default the code follows the status (interface: Errors). */
export const answerError = (context: Call, status: ContentfulStatusCode, message: string, code?: string): Response =>
  context.json(toErrorBody(status, message, code), status);

/** The problems of a request in one line. */
export const describeProblem = (error: z.ZodError): string =>
  error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`).join('; ');

const MAX_BODY_BYTES = 1_048_576;

const answerTooLarge = (context: Call): Response => {
  context.header('Connection', 'close');
  return answerError(context, 413, `A body may have ${MAX_BODY_BYTES} bytes at most.`);
};

const readBoundedText = async (context: Call): Promise<string | undefined> => {
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

/** A page of another site can send a POST, which has an `Origin` header. */
const isForeign = (context: Call): boolean => {
  const origin = context.req.header('origin');
  return origin !== undefined && origin !== new URL(context.req.url).origin;
};

/** Adds a control of the sandbox, which needs no key and is no part of the service's interface; an invalid order is answered with its problem. */
export const addControl = <T>(
  app: Hono<CallEnv>,
  path: string,
  schema: z.ZodType<T>,
  carryOut: (context: Call, order: T) => Response | Promise<Response>,
): void => {
  app.on(['PUT', 'POST'], `/_sandbox/${path}`, async (context) => {
    if (isForeign(context)) return answerError(context, 403, 'Pages of other sites cannot control the sandbox.');
    const text = await readBoundedText(context);
    if (text === undefined) return answerTooLarge(context);
    try {
      const order = schema.safeParse(JSON.parse(text));
      if (!order.success) return answerError(context, 400, z.prettifyError(order.error));
      return await carryOut(context, order.data);
    } catch (error) {
      return answerError(context, 400, error instanceof Error ? error.message : String(error));
    }
  });
};

/** Reads the key of an `Authorization` header: Basic user name with empty password, or Bearer token (interface: Authentication 1). */
const readPresentedKey = (header: string | undefined): { key: string; scheme: 'basic' | 'bearer' } | undefined => {
  const [, scheme = '', credentials = ''] = /^(\S+) +(\S+)$/.exec(header?.trim() ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return { key: credentials, scheme: 'bearer' };
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const [userName = '', password, ...rest] = Buffer.from(credentials, 'base64').toString('utf8').split(':');
  return password === '' && rest.length === 0 && userName !== '' ? { key: userName, scheme: 'basic' } : undefined;
};

const toKeyFamily = (key: string | undefined): LedgerEntry['keyFamily'] => {
  if (key === undefined || key === '') return 'none';
  const families = ['private_sandbox', 'private', 'public_sandbox', 'public'] as const;
  return families.find((family) => key.startsWith(`${family}_`)) ?? 'unknown';
};

const isPresentable = (kind: KeyOwner['kind'], scheme: string): boolean => kind !== 'jwt' || scheme === 'bearer';

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

/** Notes each call in the ledger before it is processed, gives every answer an `X-Request-Id`, and answers a body that is too large. */
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
    context.set('privateKey', owner?.kind === 'private' ? presented?.key : undefined);
    context.set('body', body);
    if (text === undefined) context.res = answerTooLarge(context);
    else await next();
    const isCut = context.env.incoming.socket.destroyed;
    ledger.finish(entry, isCut ? null : context.res.status);
    if (!isCut) context.res.headers.set('X-Request-Id', `req_${randomUUID()}`);
  });

/** Notes whether the operation did its work, before a fault replaces its answer. */
export const noteWork = createMiddleware<CallEnv>(async (context, next) => {
  await next();
  context.var.entry.worked = context.res.status < 400;
});

/** The credentials that an operation accepts; undefined when it needs none (interface: Authentication 3). */
const listAccepted = (path: string): readonly KeyOwner['kind'][] | undefined => {
  if (path === '/sessions') return ['public'];
  if (path.startsWith('/sessions/')) return undefined;
  return path.startsWith('/autodoc/') ? ['private', 'jwt'] : ['private'];
};

/** Answers 401 when the credential is missing, malformed, revoked or not of a kind that the operation accepts. */
export const requireKey = createMiddleware<CallEnv>(async (context, next) => {
  const accepted = listAccepted(context.var.entry.path);
  const { owner } = context.var;
  if (accepted === undefined || (owner && accepted.includes(owner.kind))) return next();
  const needed = accepted.includes('public') ? 'public' : 'private';
  return answerError(context, 401, `The ${needed} key is missing, malformed or revoked.`);
});

/** An email address, loosely checked. */
export const emailSchema = z.string().regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'is not an email address');

/** A phone number in E.164 or international notation, loosely checked. */
export const phoneSchema = z
  .string()
  .regex(/^\+?[0-9 ().-]+$/, 'is not a phone number')
  .refine((text) => /^\d{7,15}$/.test(text.replace(/\D/g, '')), 'is not a phone number');

/** Admits at most `places` calls in any sliding window of `lengthMs`. */
export class SlidingWindow {
  readonly #places: number;
  readonly #lengthMs: number;
  #taken: number[] = [];

  constructor(places: number, lengthMs: number) {
    this.#places = places;
    this.#lengthMs = lengthMs;
  }

  /** Takes a place for a call at `atMs` and gives 0, or gives the milliseconds until one is free. Times may come slightly out of order. */
  take(atMs: number): number {
    const before = this.#taken.findLastIndex((time) => time <= atMs) + 1;
    const oldest = this.#taken[before - this.#places];
    if (oldest !== undefined && atMs - oldest < this.#lengthMs) return this.#lengthMs - (atMs - oldest);
    this.#taken.splice(before, 0, atMs);
    // Only the last places decide; a few more are kept for late calls, and truncation is rare.
    if (this.#taken.length > this.#places * 2 + 1_000) this.#taken = this.#taken.slice(-this.#places - 100);
    return 0;
  }
}
