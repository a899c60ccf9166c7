import { createRequire } from 'node:module';
import { type Dispatcher, errors } from 'undici';
import { z } from 'zod';
import { ConnectionError, type ConnectionErrorContext, NightscreenError, TimeoutError } from '../errors.js';
import { openDispatcher } from '../outgoing.js';
import { isSuccess, type RawAnswer, readAnswer, readHead } from './answers.js';
import type { Answer, AttemptEnd, Operation } from './operation.js';
import { onAbort } from './signals.js';

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
  /** The request is about to leave; false ends it with HeldBackError. */
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
    let head: { status: number; headers: RawAnswer['headers'] } | undefined;
    let length = 0;
    let isSettled = false;

    const settle = (): boolean => {
      if (isSettled) return false;
      isSettled = true;
      clearTimeout(timer);
      leave?.();
      return true;
    };
    const finish = (answer: { status: number; headers: RawAnswer['headers'] }, isComplete: boolean): void => {
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
        // A connection that comes too late must not send a request for which nobody waits.
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

/** The error of an exchange that failed; it does not contain the text of the answer. */
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

const userAgent = `nightscreen/${version}`;

const requestFaultCodes = /^(UND_ERR_INVALID_ARG|UND_ERR_NOT_SUPPORTED|ERR_INVALID_(CHAR|HTTP_TOKEN|URL))$/;

/** Whether the request itself is invalid, such as a header with a line break; it was not sent. */
const isRequestFault = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && requestFaultCodes.test(error.code);

const maxErrorBodyBytes = 65_536;
const headers = { accept: 'application/json', 'user-agent': userAgent };
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
