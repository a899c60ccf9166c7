import { createRequire } from 'node:module';
import { type Dispatcher, errors } from 'undici';
import { z } from 'zod';
import {
  ConnectionError,
  type ConnectionErrorContext,
  NightscreenError,
  readErrorCode,
  TimeoutError,
} from '../errors.js';
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

/** `timeoutMs` covers connect, headers and body together. */
interface ExchangeOptions {
  /** The `Authorization` header, or undefined for none. */
  authorization: string | undefined;
  timeoutMs: number;
  /** Added to the transport's own, by lower-case name. */
  headers: Readonly<Record<string, string>> | undefined;
  /** Ends the exchange at any stage with the reason of the signal. */
  signal: AbortSignal | undefined;
  /** The facts of the exchange, filled while it runs, so that a broken one is reported correctly. */
  trace: Omit<AttemptEnd, 'endedAt' | 'outcome'>;
  /** The request is about to leave; false when it must not: it then ends with HeldBackError. */
  mayLeave: () => boolean;
}

const maxErrorBodyBytes = 65_536;

/** One request with its whole answer. A body that breaks off after an error status is no error: the status is enough. */
const exchange = (
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { timeoutMs, signal, trace, mayLeave }: ExchangeOptions,
  maxResponseBytes: number,
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let head: Pick<RawAnswer, 'status' | 'headers'> | undefined;
    const pieces: Buffer[] = [];
    let length = 0;
    let isSettled = false;

    const settle = (): void => {
      isSettled = true;
      clearTimeout(timer);
      leaveSignal?.();
    };
    const finish = (isComplete: boolean): void => {
      if (isSettled || !head) return;
      settle();
      resolve({ ...head, body: Buffer.concat(pieces, length), isComplete });
    };
    const fail = (error: unknown): void => {
      if (isSettled) return;
      settle();
      reject(error);
    };
    const breakOff = (error: Error): void => {
      if (head && !isSuccess(head.status)) finish(false);
      else fail(error);
      controller?.abort(error);
    };
    const timer = setTimeout(() => breakOff(new DeadlinePassed()), timeoutMs);
    const leaveSignal =
      signal &&
      onAbort(signal, () => {
        fail(signal.reason);
        controller?.abort(signal.reason);
      });
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (given) => {
        controller = given;
        // A connection that comes too late must not send a request whose caller has left.
        if (isSettled) return given.abort(new Error('given up before it was sent'));
        trace.isSent = mayLeave();
        if (!trace.isSent) breakOff(new HeldBackError());
      },
      onResponseStart: (_controller, status, headers) => {
        if (status < 200 || isSettled) return;
        head = { status, headers };
        trace.status = status;
        Object.assign(trace, readHead(headers));
      },
      onResponseData: (given, piece) => {
        if (!head || isSettled) return;
        trace.bytes += piece.length;
        const mostBytes = isSuccess(head.status) ? maxResponseBytes : maxErrorBodyBytes;
        const kept = piece.subarray(0, mostBytes - length);
        pieces.push(kept);
        length += kept.length;
        if (kept.length === piece.length) return;
        finish(false);
        given.abort(new Error('the answer is longer than allowed'));
      },
      onResponseEnd: () => finish(true),
      onResponseError: (_controller, error) => breakOff(error),
    };
    try {
      dispatcher.dispatch(request, handler);
    } catch (error) {
      fail(error);
    }
  });

/** The whole answer did not come in time. */
class DeadlinePassed extends Error {}

/** The error of a broken exchange, as its caller sees it. */
const toFailure = (
  error: unknown,
  { method, path: whole, route: path = whole }: Operation<unknown>,
  { timeoutMs, signal, trace }: ExchangeOptions,
): unknown => {
  const context = { method, path, mayHaveArrived: trace.isSent };
  if (error instanceof DeadlinePassed) {
    return new TimeoutError('deadline_passed', `${method} ${path}: no whole answer within ${timeoutMs} ms`, context);
  }
  if (error instanceof NightscreenError || signal?.aborted) return error;
  if (!isRequestFault(error)) return toConnectionError(error, context);
  const message = `${method} ${path}: the settings make the request invalid, such as a key with a line break`;
  return new NightscreenError('invalid_request_setting', message, { cause: error });
};

const connectionCodes: readonly [RegExp, string][] = [
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/, 'connection_reset'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'name_not_resolved'],
  [/(CERT|TLS|SSL|SELF_SIGNED)/, 'tls_failed'],
  [/^HPE_/, 'malformed_answer'],
];

const toConnectionError = (error: unknown, context: ConnectionErrorContext): ConnectionError => {
  const { method, path } = context;
  const systemCode = readErrorCode(error) ?? '';
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

const isRequestFault = (error: unknown): boolean => requestFaultCodes.test(readErrorCode(error) ?? '');

const ownHeaders = { accept: 'application/json', 'user-agent': `nightscreen/${version}` };

/** Sends an operation exactly once: no retry, no pace, no redirect. */
export interface Transport {
  /**
   * Gives a valid answer, with 1 as its attempts. Throws ApiError, ConnectionError, TimeoutError, ResponseError, the reason of the signal, or NightscreenError
   * `invalid_request_setting` when the request is invalid.
   */
  send<T>(operation: Operation<T>, options: ExchangeOptions): Promise<Answer<T>>;
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
  const { maxResponseBytes, now } = settings;
  let closed: Promise<void> | undefined;
  const { origin, pathname } = new URL(settings.baseUrl);
  const prefix = pathname.replace(/(?<!\/)\/+$/, '');

  const toRequest = (
    { method, path, query: parameters, body }: Operation<unknown>,
    { authorization, headers: more }: ExchangeOptions,
  ): Dispatcher.DispatchOptions => {
    const query = parameters?.toString() ?? '';
    return {
      origin,
      path: query === '' ? prefix + path : `${prefix}${path}?${query}`,
      method,
      headers: {
        ...more,
        ...ownHeaders,
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body ? JSON.stringify(body) : null,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  };

  return {
    send: async (operation, options) => {
      options.signal?.throwIfAborted();
      const request = toRequest(operation, options);
      const raw = await exchange(dispatcher, request, options, maxResponseBytes).catch((error: unknown) => {
        throw toFailure(error, operation, options);
      });
      return readAnswer(operation, raw, options.trace, now);
    },
    close: async () => {
      // undici throws on a second close.
      closed ??= settings.dispatcher ? Promise.resolve() : dispatcher.close();
      await closed;
    },
  };
};
