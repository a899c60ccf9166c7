import { Agent, type Dispatcher, request } from 'undici';
import { type CallContext, NightscreenError, TimeoutError } from '../../errors.js';
import type { Answer, Operation } from '../operation.js';
import { deadlinePassed, orAborted, startDeadline } from './deadline.js';
import { readAnswer } from './read-answer.js';
import { type ReadBody, readBody } from './read-body.js';
import { parseHttpDate, parseRetryAfter } from './retry-after.js';
import { toApiError } from './to-api-error.js';
import { toConnectionError } from './to-connection-error.js';
import { userAgent } from './user-agent.js';

const maxErrorBodyBytes = 65_536;

/** What is known of an exchange so far; filled while it goes on, so that a broken one is still told of truly. */
export interface ExchangeTrace {
  status: number | null;
  bytes: number;
  requestId: string | undefined;
}

/** How one exchange is made: `timeoutMs` covers connect, headers and body together. */
interface ExchangeOptions {
  timeoutMs: number;
  signal: AbortSignal | undefined;
  trace: ExchangeTrace;
}

/** Sends an operation exactly once: no retry, no pace, no redirect. */
export interface Transport {
  /** Gives a valid answer or throws ApiError, ConnectionError, TimeoutError, ResponseError, or the signal's reason. */
  send<T>(operation: Operation<T>, options: ExchangeOptions): Promise<Omit<Answer<T>, 'attempts'>>;
  /** Waits for what is under way and closes the connections that the transport opened itself. */
  close(): Promise<void>;
}

/** What a transport needs to know of the service. */
export interface TransportSettings {
  baseUrl: string;
  authorization: string;
  connectTimeoutMs: number;
  maxResponseBytes: number;
  now: () => Date;
  dispatcher: Dispatcher | undefined;
}

const readHeader = (headers: Dispatcher.ResponseData['headers'], name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

const readRequestId = (headers: Dispatcher.ResponseData['headers']): string | undefined => {
  const id = readHeader(headers, 'x-request-id') ?? readHeader(headers, 'request-id');
  return id !== undefined && /^[!-~]{1,200}$/.test(id) ? id : undefined;
};

const toTypedError = (error: unknown, context: CallContext, timeoutMs: number, signal: AbortSignal): unknown => {
  if (error instanceof NightscreenError) return error;
  const { method, path } = context;
  if (!signal.aborted) return toConnectionError(error, { method, path });
  if (signal.reason !== deadlinePassed) return signal.reason;
  return new TimeoutError('deadline_passed', `${method} ${path}: no whole answer within ${timeoutMs} ms`, {
    method,
    path,
  });
};

/** A transport over undici; a given dispatcher is used as it is and not closed. */
export const createTransport = (settings: TransportSettings): Transport => {
  // The total deadline replaces undici's own ones, which start anew with every piece of the body.
  const ownAgent = settings.dispatcher
    ? undefined
    : new Agent({ connect: { timeout: settings.connectTimeoutMs }, headersTimeout: 0, bodyTimeout: 0 });
  const dispatcher = settings.dispatcher ?? ownAgent;
  const baseUrl = settings.baseUrl.replace(/\/+$/, '');

  const toRequest = (operation: Operation<unknown>, signal: AbortSignal): Parameters<typeof request> => {
    const query = operation.query?.toString() ?? '';
    return [
      `${baseUrl}${operation.path}${query === '' ? '' : `?${query}`}`,
      {
        method: operation.method,
        signal,
        headers: {
          accept: 'application/json',
          authorization: settings.authorization,
          'user-agent': userAgent,
          ...(operation.body ? { 'content-type': 'application/json' } : {}),
        },
        ...(operation.body ? { body: JSON.stringify(operation.body) } : {}),
        ...(dispatcher ? { dispatcher } : {}),
      },
    ];
  };

  const retryAfter = (headers: Dispatcher.ResponseData['headers']): number | undefined => {
    // A date is meant by the service's own clock, which may not agree with ours.
    const servedAtMs = parseHttpDate(readHeader(headers, 'date') ?? '');
    const nowMs = Number.isNaN(servedAtMs) ? settings.now().getTime() : servedAtMs;
    return parseRetryAfter(readHeader(headers, 'retry-after'), nowMs);
  };

  const exchange = async <T>(
    operation: Operation<T>,
    signal: AbortSignal,
    trace: ExchangeTrace,
  ): Promise<Omit<Answer<T>, 'attempts'>> => {
    const { method, path } = operation;
    // A connect that hangs does not notice the signal: undici looks at it again only when it could send.
    const { statusCode: status, headers, body } = await orAborted(request(...toRequest(operation, signal)), signal);
    const requestId = readRequestId(headers);
    trace.status = status;
    trace.requestId = requestId;
    const read = (maxBytes: number): Promise<ReadBody> =>
      readBody(body, maxBytes, (length) => {
        trace.bytes += length;
      });
    if (status >= 200 && status < 300) {
      const { data, text } = readAnswer(operation, status, await read(settings.maxResponseBytes));
      return { data, body: text, status, requestId };
    }
    // The status says enough: a body that breaks off must not turn a 401 into something that is repeated.
    const errorBody = await read(maxErrorBodyBytes).catch(() => undefined);
    const text = errorBody?.bytes.toString('utf8') ?? '';
    throw toApiError(text, { method, path, status, requestId, retryAfterMs: retryAfter(headers) });
  };

  return {
    send: async (operation, { timeoutMs, signal, trace }) => {
      const deadline = startDeadline(timeoutMs, signal);
      try {
        return await exchange(operation, deadline.signal, trace);
      } catch (error) {
        throw toTypedError(error, operation, timeoutMs, deadline.signal);
      } finally {
        deadline.clear();
      }
    },
    close: async () => {
      await ownAgent?.close();
    },
  };
};
