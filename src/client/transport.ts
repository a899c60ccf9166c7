import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { type Dispatcher, errors } from 'undici';
import { z } from 'zod';
import {
  ApiError,
  type ApiErrorContext,
  AuthenticationError,
  ConnectionError,
  type ConnectionErrorContext,
  ConsentRequiredError,
  GoneError,
  InvalidRequestError,
  NightscreenError,
  NotFoundError,
  PaymentRequiredError,
  PermissionError,
  RateLimitError,
  ResponseError,
  ServerError,
  ServiceUnavailableError,
  TimeoutError,
  UnprocessableError,
} from '../errors.js';
import { openDispatcher } from '../outgoing.js';
import type { Answer, AttemptEnd, Operation } from './operation.js';
import { onAbort } from './signals.js';

/** An answer as received; `isComplete` is false when its body exceeds the limit or, with an error status, breaks off. */
interface RawAnswer {
  status: number;
  /** A repeated header is an array. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
  isComplete: boolean;
}

const maxEvidenceBytes = 65_536;

type Issue = z.core.$ZodIssue;

const toPath = (path: readonly PropertyKey[]): string =>
  path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');

const findIssue = (issues: readonly Issue[]): Issue | undefined => {
  const [issue] = issues;
  if (issue?.code !== 'invalid_union') return issue;
  const nearest = issue.errors.toSorted((one, other) => one.length - other.length).at(0);
  return findIssue(nearest ?? []) ?? issue;
};

/** The first key that an object of a valid JSON text repeats (RFC 8259, 4: its meaning is undefined); undefined without one. */
function findRepeatedKey(json: string): string | undefined {
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charCodeAt(at);
    if (character === braceOpen) open.push(new Set());
    else if (character === bracketOpen) open.push(null);
    else if (character === braceClose || character === bracketClose) open.pop();
    else if (character === quote) {
      const start = at;
      do at = json.indexOf('"', at + 1);
      while (isEscaped(json, at));
      afterText.lastIndex = at + 1;
      const keys = open.at(-1);
      if (!keys || !afterText.test(json)) continue;
      const raw = json.slice(start + 1, at);
      const key: string = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
      if (keys.has(key)) return key;
      keys.add(key);
    }
  }
  return undefined;
}

const [braceOpen, braceClose, bracketOpen, bracketClose, quote, backslash] = [...'{}[]"\\'].map((one) =>
  one.charCodeAt(0),
);
const afterText = /\s*:/y;

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

const readHeader = (headers: RawAnswer['headers'], name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

const joinHeaders = (headers: RawAnswer['headers']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name.toLowerCase(), [value].flat().join(', ')]),
  );

const readHead = (headers: RawAnswer['headers']) => {
  const id = readHeader(headers, 'x-request-id') ?? readHeader(headers, 'request-id') ?? '';
  const servedAtMs = parseHttpDate(readHeader(headers, 'date') ?? '');
  return {
    requestId: /^[!-~]{1,200}$/.test(id) ? id : undefined,
    servedAt: Number.isNaN(servedAtMs) ? undefined : new Date(servedAtMs),
  };
};

const readAnswer = <T>(operation: Operation<T>, raw: RawAnswer, now: Date): Omit<Answer<T>, 'attempts'> => {
  const { status, headers } = raw;
  const { requestId, servedAt } = readHead(headers);
  if (isSuccess(status)) return { ...readData(operation, raw), status, requestId };
  throw toApiError(raw.body.toString('utf8'), {
    method: operation.method,
    path: operation.route ?? operation.path,
    status,
    requestId,
    // The date follows the clock of the service, which may differ from ours.
    retryAfterMs: parseRetryAfter(headers['retry-after'], (servedAt ?? now).getTime()),
    headers: joinHeaders(headers),
  });
};

/** The data of a 2xx answer; throws ResponseError with the fault, its place and the body as evidence. The message contains no value. */
const readData = <T>(operation: Operation<T>, answer: RawAnswer): { data: T; body: string } => {
  const { method } = operation;
  const { status, body } = answer;
  const path = operation.route ?? operation.path;
  const fail = (code: string, complaint: string): never => {
    throw new ResponseError(code, `${method} ${path}: ${complaint}`, {
      method,
      path,
      status,
      body: body.subarray(0, maxEvidenceBytes).toString('utf8'),
    });
  };
  if (!answer.isComplete) return fail('too_large', 'the answer is longer than service.maxResponseBytes allows');
  if (status !== operation.successStatus) {
    return fail('unexpected_status', `answered with status ${status} where ${operation.successStatus} means success`);
  }
  if (!isUtf8(body)) return fail('not_json', 'the answer is not JSON (it is not UTF-8)');
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = text === '' && operation.mayBeEmpty ? {} : JSON.parse(text);
  } catch {
    return fail('not_json', 'the answer is not JSON');
  }
  // JSON.parse keeps the last of two equal keys, as in `"results":[...],"results":[]`.
  const twice = findRepeatedKey(text);
  if (twice !== undefined) {
    const shown = /^\w{1,64}$/.test(twice) ? twice : 'a field';
    return fail('duplicate_key', `${shown}: is named twice in one object`);
  }
  const parsed = operation.schema.safeParse(value);
  if (!parsed.success) {
    const issue = findIssue(parsed.error.issues);
    const place = toPath(issue?.path ?? []) || 'the answer';
    return fail('invalid_body', `${place}: ${issue?.message ?? 'has another form'}`);
  }
  const breach = operation.findBreach?.(parsed.data);
  return breach ? fail(breach.code, breach.message) : { data: parsed.data, body: text };
};

const classByStatus: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  402: PaymentRequiredError,
  403: PermissionError,
  404: NotFoundError,
  410: GoneError,
  422: UnprocessableError,
  429: RateLimitError,
  451: ConsentRequiredError,
  503: ServiceUnavailableError,
};

// Codes are shown and logged. A sentence (it may contain a customer's name) or a key is therefore no code.
const wordSchema = z.string().regex(/^(?!private_|public_)[A-Za-z][A-Za-z0-9_.-]{0,63}$/);
const optionalWordSchema = wordSchema.optional().catch(undefined);
const textSchema = z.string().optional().catch(undefined);
const secondsSchema = z
  .union([z.number(), z.string()])
  .transform(String)
  .pipe(z.string().regex(/^\d{1,9}$/))
  .optional()
  .catch(undefined);
/** The known fields of `error`, or of the body itself in other shapes (service facts: error body). */
const detailsSchema = z.object({ code: optionalWordSchema, message: textSchema, remaining_seconds: secondsSchema });
const errorBodySchema = detailsSchema.extend({
  error: z
    .union([wordSchema, detailsSchema.extend({ type: optionalWordSchema })])
    .optional()
    .catch(undefined),
});

const readBody = (
  body: string,
): { code?: string | undefined } & Pick<ApiErrorContext, 'serviceMessage' | 'remainingSeconds'> => {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return {};
  }
  const { error, ...outer } = errorBodySchema.safeParse(value).data ?? {};
  const within = typeof error === 'object' ? error : {};
  const code = typeof error === 'object' ? (error.type ?? error.code ?? outer.code) : (outer.code ?? error);
  const serviceMessage = within.message ?? outer.message;
  const hint = within.remaining_seconds ?? outer.remaining_seconds;
  const seconds = hint ?? /remaining_seconds\D{0,3}(\d{1,9})/.exec(serviceMessage ?? '')?.[1];
  return { code, serviceMessage, remainingSeconds: seconds === undefined ? undefined : Number(seconds) };
};

/** The error of an answer with an error status: class by status, code from the body, else `http_<status>`. */
export const toApiError = (body: string, context: ApiErrorContext): ApiError => {
  const { status, method, path } = context;
  const errorClass = classByStatus[status] ?? (status >= 500 ? ServerError : ApiError);
  const { code = `http_${status}`, ...said } = readBody(body);
  const message = `${method} ${path} was answered with status ${status} (${code})`;
  return new errorClass(code, message, { ...context, ...said, body });
};

/** The longest wait that is accepted from the service: one year. */
export const maxRetryAfterMs = 365 * 24 * 3_600_000;

// A proxy may join several headers into one (RFC 9110, 5.3). The comma inside a date follows its weekday.
const joint = /(?<=\d|GMT)\s*,/;

const parseOne = (text: string, nowMs: number): number =>
  /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - nowMs;

/** The delay of a Retry-After header (RFC 9110, 10.2.3), the longest of several, at most a year; undefined when absent, past or invalid. */
export const parseRetryAfter = (value: string | readonly string[] | undefined, nowMs: number): number | undefined => {
  const texts = [value ?? []].flat().flatMap((text) => text.split(joint));
  const delaysMs = texts.map((text) => parseOne(text.trim(), nowMs)).filter((delayMs) => delayMs >= 0);
  return delaysMs.length === 0 ? undefined : Math.min(Math.ceil(Math.max(...delaysMs)), maxRetryAfterMs);
};

const preferredForms = /^[A-Z][a-z]+, .+ GMT$/;
const ancientForm = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** The instant of an HTTP date in any of its three forms (RFC 9110, 5.6.7) in milliseconds; NaN for other texts. */
const parseHttpDate = (text: string): number => {
  if (preferredForms.test(text)) return Date.parse(text);
  return ancientForm.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
};

/** A request that was not sent: when its connection was ready, it must not leave any more. */
export class HeldBackError extends NightscreenError {
  constructor() {
    super('held_back', 'the request must not leave any more');
  }
}

interface SendOptions {
  /** Ends the request at any stage with the reason of the signal. */
  signal: AbortSignal | undefined;
  timeoutMs: number;
  toTimeoutError: () => Error;
  /** The most bytes of a body, by its status. */
  maxBytes: (status: number) => number;
  /** False ends the request with HeldBackError. */
  mayLeave: () => boolean;
  onStatus: (status: number, headers: RawAnswer['headers']) => void;
  onBytes: (length: number) => void;
}

/** Sends a request once and reads the whole answer within `timeoutMs`. A body that breaks off after an error status is no error: the status is enough. */
const sendRequest = (
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  options: SendOptions,
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { signal, onStatus, onBytes } = options;
    const pieces: Buffer[] = [];
    let controller: Dispatcher.DispatchController | undefined;
    let head: Pick<RawAnswer, 'status' | 'headers'> | undefined;
    let length = 0;
    let isSettled = false;

    const settle = (): boolean => {
      if (isSettled) return false;
      isSettled = true;
      clearTimeout(timer);
      leave?.();
      return true;
    };
    const finish = (answer: Pick<RawAnswer, 'status' | 'headers'>, isComplete: boolean): void => {
      if (!settle()) return;
      const [only] = pieces;
      const body = only && pieces.length === 1 ? only : Buffer.concat(pieces, length);
      resolve({ ...answer, body, isComplete });
    };
    const fail = (error: Error): void => {
      if (settle()) reject(error);
    };
    const breakOff = (error: Error): void => {
      if (head && !isSuccess(head.status)) finish(head, false);
      else fail(error);
      controller?.abort(error);
    };
    const abort = (): void => {
      fail(signal?.reason);
      controller?.abort(signal?.reason);
    };
    const timer = setTimeout(() => breakOff(options.toTimeoutError()), options.timeoutMs);
    const leave = signal?.aborted === false ? onAbort(signal, abort) : undefined;
    if (signal?.aborted) return abort();

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started;
        // A connection that comes too late must not send a request whose caller has left.
        if (isSettled) started.abort(new Error('given up before it was sent'));
        else if (!options.mayLeave()) {
          fail(new HeldBackError());
          started.abort(new HeldBackError());
        }
      },
      onResponseStart: (_controller, status, headers) => {
        if (status < 200 || isSettled) return;
        head = { status, headers };
        onStatus(status, headers);
      },
      onResponseData: (_controller, piece) => {
        if (!head || isSettled) return;
        onBytes(piece.length);
        const kept = piece.subarray(0, options.maxBytes(head.status) - length);
        pieces.push(kept);
        length += kept.length;
        if (kept.length === piece.length) return;
        finish(head, false);
        controller?.abort(new Error('the answer is longer than allowed'));
      },
      onResponseEnd: () => {
        if (head) finish(head, true);
      },
      onResponseError: (_controller, error) => breakOff(error),
    };
    try {
      dispatcher.dispatch(request, handler);
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)));
    }
  });

const connectionCodes: readonly [RegExp, string][] = [
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/, 'connection_reset'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'name_not_resolved'],
  [/(CERT|TLS|SSL|SELF_SIGNED)/, 'tls_failed'],
  [/^HPE_/, 'malformed_answer'],
];

const readCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const toConnectionError = (error: unknown, context: ConnectionErrorContext): ConnectionError => {
  const { method, path } = context;
  const systemCode = readCode(error);
  if (error instanceof errors.ConnectTimeoutError) {
    return new TimeoutError('connect_timeout', `${method} ${path}: no connection in time`, {
      ...context,
      cause: error,
    });
  }
  const code = connectionCodes.find(([pattern]) => pattern.test(systemCode))?.[1] ?? 'connection_failed';
  // The parser's error contains a piece of the answer, which may include a customer's name.
  const cause = error instanceof errors.HTTPParserError ? undefined : error;
  const detail = systemCode === '' ? '' : ` (${systemCode})`;
  return new ConnectionError(code, `${method} ${path}: ${code.replaceAll('_', ' ')}${detail}`, { ...context, cause });
};

const { version } = z.object({ version: z.string() }).parse(createRequire(import.meta.url)('#package.json'));

const requestFaultCodes = /^(UND_ERR_INVALID_ARG|UND_ERR_NOT_SUPPORTED|ERR_INVALID_(CHAR|HTTP_TOKEN|URL))$/;

const isRequestFault = (error: unknown): boolean => requestFaultCodes.test(readCode(error));

const maxErrorBodyBytes = 65_536;
const headers = { accept: 'application/json', 'user-agent': `nightscreen/${version}` };
const jsonHeaders = { ...headers, 'content-type': 'application/json' };

/** `timeoutMs` covers connect, headers and body together. */
interface ExchangeOptions {
  /** The `Authorization` header, or undefined for none. */
  authorization: string | undefined;
  timeoutMs: number;
  /** Added to the transport's own, by lower-case name. */
  headers: Readonly<Record<string, string>> | undefined;
  signal: AbortSignal | undefined;
  /** The facts of the exchange, filled while it runs, so that a broken one is reported correctly. */
  trace: Omit<AttemptEnd, 'endedAt' | 'outcome'>;
  /** The request is about to leave; false when it must not. */
  mayLeave: () => boolean;
}

/** Sends an operation exactly once: no retry, no pace, no redirect. */
export interface Transport {
  /**
   * Gives a valid answer. Throws ApiError, ConnectionError, TimeoutError, ResponseError, the reason of the signal, or NightscreenError
   * `invalid_request_setting` when the request is invalid.
   */
  send<T>(operation: Operation<T>, options: ExchangeOptions): Promise<Omit<Answer<T>, 'attempts'>>;
  /** Waits for the requests in flight and closes the transport's own connections; may be called again. */
  close(): Promise<void>;
}

/** A transport over undici; a given dispatcher is used and not closed. */
export const createTransport = (settings: {
  baseUrl: string;
  connectTimeoutMs: number;
  /** As in `service.proxy`. */
  proxy: string | undefined;
  /** Contains HTTPS_PROXY and NO_PROXY. */
  environment: Readonly<Record<string, string | undefined>>;
  maxResponseBytes: number;
  now: () => Date;
  dispatcher: Dispatcher | undefined;
}): Transport => {
  // The total deadline replaces the timeouts of undici, which restart with every piece of the body.
  const dispatcher = settings.dispatcher ?? openDispatcher(settings, settings.environment);
  let closed: Promise<void> | undefined;
  const { origin, pathname } = new URL(settings.baseUrl);
  const prefix = pathname.replace(/\/+$/, '');

  const toRequest = (
    operation: Operation<unknown>,
    authorization: string | undefined,
    more: ExchangeOptions['headers'],
  ): Dispatcher.DispatchOptions => {
    const query = operation.query?.toString() ?? '';
    return {
      origin,
      path: `${prefix}${operation.path}${query === '' ? '' : `?${query}`}`,
      method: operation.method,
      headers: {
        ...more,
        ...(operation.body ? jsonHeaders : headers),
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: operation.body ? JSON.stringify(operation.body) : null,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  };

  return {
    send: async (operation, { authorization, timeoutMs, headers: more, signal, trace, mayLeave }) => {
      const { method } = operation;
      const path = operation.route ?? operation.path;
      const toTimeoutError = (): Error =>
        new TimeoutError('deadline_passed', `${method} ${path}: no whole answer within ${timeoutMs} ms`, {
          method,
          path,
          mayHaveArrived: trace.isSent,
        });
      const raw = await sendRequest(dispatcher, toRequest(operation, authorization, more), {
        signal,
        timeoutMs,
        toTimeoutError,
        maxBytes: (status) => (isSuccess(status) ? settings.maxResponseBytes : maxErrorBodyBytes),
        mayLeave: () => {
          trace.isSent = mayLeave();
          return trace.isSent;
        },
        onStatus: (status, headers) => Object.assign(trace, { status, ...readHead(headers) }),
        onBytes: (length) => {
          trace.bytes += length;
        },
      }).catch((error: unknown) => {
        if (error instanceof NightscreenError || signal?.aborted) throw error;
        if (isRequestFault(error)) {
          const message = `${method} ${path}: the settings make the request invalid, such as a key with a line break`;
          throw new NightscreenError('invalid_request_setting', message, { cause: error });
        }
        throw toConnectionError(error, { method, path, mayHaveArrived: trace.isSent });
      });
      return readAnswer(operation, raw, settings.now());
    },
    close: async () => {
      // undici throws on a second close.
      closed ??= settings.dispatcher ? Promise.resolve() : dispatcher.close();
      await closed;
    },
  };
};
