import type { Dispatcher } from 'undici';
import { NightscreenError, TimeoutError } from '../../errors.js';
import { openDispatcher } from '../../outgoing.js';
import type { Answer, Operation } from '../operation.js';
import { readAnswer } from './read-answer.js';
import { parseHttpDate, parseRetryAfter } from './retry-after.js';
import { type AnswerHeaders, sendRequest } from './send-request.js';
import { toApiError } from './to-api-error.js';
import { toConnectionError } from './to-connection-error.js';
import { userAgent } from './user-agent.js';

const codes = /^(UND_ERR_INVALID_ARG|UND_ERR_NOT_SUPPORTED|ERR_INVALID_(CHAR|HTTP_TOKEN|URL))$/;

/** Whether an exchange failed because our own request is invalid by itself, such as a header that holds a line break: nothing was sent. */
const isRequestFault = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.test(error.code);

const maxErrorBodyBytes = 65_536;
const headers = { accept: 'application/json', 'user-agent': userAgent };
const jsonHeaders = { ...headers, 'content-type': 'application/json' };

/** What is known of an exchange so far; filled while it goes on, so that a broken one is still told of truly. */
export interface ExchangeTrace {
  /** Whether the request left this machine. */
  isSent: boolean;
  status: number | null;
  bytes: number;
  requestId: string | undefined;
  servedAt: Date | undefined;
}

/** How one exchange is made: `timeoutMs` covers connect, headers and body together. */
interface ExchangeOptions {
  /** The `Authorization` header, or undefined for none. */
  authorization: string | undefined;
  timeoutMs: number;
  /** Sent beside the transport's own, by lower-case name. */
  headers: Readonly<Record<string, string>> | undefined;
  signal: AbortSignal | undefined;
  trace: ExchangeTrace;
  /** The request is about to leave; false when it must not. */
  mayLeave: () => boolean;
}

/** Sends an operation exactly once: no retry, no pace, no redirect. */
export interface Transport {
  /**
   * Gives a valid answer or throws ApiError, ConnectionError, TimeoutError, ResponseError, the signal's reason, or NightscreenError
   * `invalid_request_setting` when the request is one that nobody may send.
   */
  send<T>(operation: Operation<T>, options: ExchangeOptions): Promise<Omit<Answer<T>, 'attempts'>>;
  /** Waits for what is under way and closes the connections that the transport opened itself; may be asked again. */
  close(): Promise<void>;
}

/** What a transport needs to know of the service. */
interface TransportSettings {
  baseUrl: string;
  connectTimeoutMs: number;
  /** As in `service.proxy`. */
  proxy: string | undefined;
  /** Where HTTPS_PROXY and NO_PROXY are looked for. */
  environment: Readonly<Record<string, string | undefined>>;
  maxResponseBytes: number;
  now: () => Date;
  dispatcher: Dispatcher | undefined;
}

const readHeader = (headers: AnswerHeaders, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

const readRequestId = (headers: AnswerHeaders): string | undefined => {
  const id = readHeader(headers, 'x-request-id') ?? readHeader(headers, 'request-id');
  return id !== undefined && /^[!-~]{1,200}$/.test(id) ? id : undefined;
};

const readDate = (headers: AnswerHeaders): Date | undefined => {
  const servedAtMs = parseHttpDate(readHeader(headers, 'date') ?? '');
  return Number.isNaN(servedAtMs) ? undefined : new Date(servedAtMs);
};

const joinHeaders = (headers: AnswerHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name.toLowerCase(), [value].flat().join(', ')]),
  );

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** A transport over undici; a given dispatcher is used as it is and not closed. */
export const createTransport = (settings: TransportSettings): Transport => {
  // The total deadline replaces undici's own ones, which start anew with every piece of the body.
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

  const retryAfter = (headers: AnswerHeaders): number | undefined => {
    // A date is meant by the service's own clock, which may not agree with ours.
    const now = readDate(headers) ?? settings.now();
    return parseRetryAfter(headers['retry-after'], now.getTime());
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
        onStatus: (status, headers) => {
          trace.status = status;
          trace.requestId = readRequestId(headers);
          trace.servedAt = readDate(headers);
        },
        onBytes: (length) => {
          trace.bytes += length;
        },
      }).catch((error: unknown) => {
        if (error instanceof NightscreenError || signal?.aborted) throw error;
        if (isRequestFault(error)) {
          const message = `${method} ${path}: the request is invalid as the settings make it, such as a key with a line break`;
          throw new NightscreenError('invalid_request_setting', message, { cause: error });
        }
        throw toConnectionError(error, { method, path, mayHaveArrived: trace.isSent });
      });
      const { status, headers } = raw;
      const requestId = readRequestId(headers);
      if (isSuccess(status)) {
        const { data, text } = readAnswer(operation, raw);
        return { data, body: text, status, requestId };
      }
      const text = raw.body.toString('utf8');
      throw toApiError(text, {
        method,
        path,
        status,
        requestId,
        retryAfterMs: retryAfter(headers),
        headers: joinHeaders(headers),
      });
    },
    close: async () => {
      // Asked twice, undici throws.
      closed ??= settings.dispatcher ? Promise.resolve() : dispatcher.close();
      await closed;
    },
  };
};
