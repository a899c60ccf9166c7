import { createRequire } from 'node:module';
import { type Dispatcher, errors } from 'undici';
import { z } from 'zod';
import { ConnectionError, type ConnectionErrorContext, NightscreenError, TimeoutError } from '../errors.js';
import { openDispatcher } from '../outgoing.js';
import { isSuccess, type RawAnswer, readAnswer, readHead } from './answers.js';
import type { Answer, AttemptEnd, CallOptions, Operation } from './operation.js';
import { Members, onAbort } from './signals.js';

/** A request that was not sent: when its connection was ready, it must not leave any more. */
export class HeldBackError extends NightscreenError {
  constructor() {
    super('held_back', 'the request must not leave any more');
  }
}

/** What ends when its deadline passes. */
interface Expiring {
  deadlineMs: number;
  place: number;
  expire(): void;
}

/** Deadlines of one length, which share one timer: the next look is due when the earliest of them passes. */
class Deadlines {
  readonly #lengthMs: number;
  readonly #entries = new Members<Expiring>();
  readonly #onIdle: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `onIdle` is called when the timer stops because nothing waits. */
  constructor(lengthMs: number, onIdle: () => void) {
    this.#lengthMs = lengthMs;
    this.#onIdle = onIdle;
  }

  add(entry: Expiring): void {
    entry.deadlineMs = performance.now() + this.#lengthMs;
    this.#entries.add(entry);
    if (this.#entries.size > 1) return;
    if (this.#timer === undefined) this.#start(this.#lengthMs);
    else this.#timer.ref();
  }

  delete(entry: Expiring): void {
    // The timer goes on, but it does not hold the process.
    if (this.#entries.delete(entry) && this.#entries.size === 0) this.#timer?.unref();
  }

  #start(delayMs: number): void {
    this.#timer = setTimeout(() => this.#look(), delayMs);
  }

  #look(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    const entries = this.#entries.list();
    const late = entries.filter(({ deadlineMs }) => deadlineMs <= nowMs);
    for (const entry of late) this.#entries.delete(entry);
    const next = entries.filter(({ deadlineMs }) => deadlineMs > nowMs);
    if (next.length === 0) this.#onIdle();
    else this.#start(Math.ceil(Math.min(...next.map(({ deadlineMs }) => deadlineMs)) - nowMs));
    for (const entry of late) entry.expire();
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
  isChecked: CallOptions['isChecked'];
  /** The facts of the exchange, filled while it runs, so that a broken one is reported correctly. */
  trace: Omit<AttemptEnd, 'endedAt' | 'outcome'>;
  /** The request is about to leave; false when it must not: it then ends with HeldBackError. */
  mayLeave: () => boolean;
}

/** What all exchanges with deadlines of one length have in common. */
interface ExchangeGround {
  deadlines: Deadlines;
  maxResponseBytes: number;
  now: () => Date;
}

const maxErrorBodyBytes = 65_536;

/**
 * One request with its whole answer. A body that breaks off after an error status is no error: the status is enough. It is the handler of undici,
 * the entry of its deadline and its own outcome: closures for each of these cost 4 us a call.
 */
class Exchange<T> implements Dispatcher.DispatchHandler, Expiring {
  deadlineMs = 0;
  place = -1;
  readonly #operation: Operation<T>;
  readonly #options: ExchangeOptions;
  readonly #ground: ExchangeGround;
  readonly #resolve: (answer: Answer<T>) => void;
  readonly #reject: (error: unknown) => void;
  #leaveSignal: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #head: Pick<RawAnswer, 'status' | 'headers'> | undefined;
  #first: Buffer | undefined;
  #others: Buffer[] | undefined;
  #length = 0;
  #isSettled = false;

  constructor(
    operation: Operation<T>,
    options: ExchangeOptions,
    ground: ExchangeGround,
    resolve: (answer: Answer<T>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#operation = operation;
    this.#options = options;
    this.#ground = ground;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions): void {
    const { signal } = this.#options;
    if (signal?.aborted) {
      this.#fail(signal.reason);
      return;
    }
    this.#ground.deadlines.add(this);
    if (signal) this.#leaveSignal = onAbort(signal, () => this.#abort(signal.reason));
    try {
      dispatcher.dispatch(request, this);
    } catch (error) {
      this.#fail(error);
    }
  }

  expire(): void {
    const { timeoutMs, trace } = this.#options;
    const { method, path: whole, route: path = whole } = this.#operation;
    const message = `${method} ${path}: no whole answer within ${timeoutMs} ms`;
    this.#breakOff(new TimeoutError('deadline_passed', message, { method, path, mayHaveArrived: trace.isSent }));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // A connection that comes too late must not send a request whose caller has left.
    const { trace, mayLeave } = this.#options;
    if (this.#isSettled) controller.abort(new Error('given up before it was sent'));
    else trace.isSent = mayLeave();
    if (this.#isSettled || trace.isSent) return;
    this.#fail(new HeldBackError());
    controller.abort(new HeldBackError());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: RawAnswer['headers']): void {
    if (status < 200 || this.#isSettled) return;
    this.#head = { status, headers };
    const { trace } = this.#options;
    const { requestId, servedAt } = readHead(headers);
    trace.status = status;
    trace.requestId = requestId;
    trace.servedAt = servedAt;
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (!this.#head || this.#isSettled) return;
    const { maxResponseBytes } = this.#ground;
    this.#options.trace.bytes += piece.length;
    const mostBytes = isSuccess(this.#head.status) ? maxResponseBytes : maxErrorBodyBytes;
    const isTooLong = this.#length + piece.length > mostBytes;
    const kept = isTooLong ? piece.subarray(0, mostBytes - this.#length) : piece;
    this.#length += kept.length;
    if (this.#first === undefined) this.#first = kept;
    else if (this.#others === undefined) this.#others = [kept];
    else this.#others.push(kept);
    if (!isTooLong) return;
    this.#finish(this.#head, false);
    controller.abort(new Error('the answer is longer than allowed'));
  }

  onResponseEnd(): void {
    if (this.#head) this.#finish(this.#head, true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#breakOff(error);
  }

  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#ground.deadlines.delete(this);
    this.#leaveSignal?.();
    return true;
  }

  #finish({ status, headers }: Pick<RawAnswer, 'status' | 'headers'>, isComplete: boolean): void {
    if (!this.#settle()) return;
    const first = this.#first ?? Buffer.alloc(0);
    const body = this.#others === undefined ? first : Buffer.concat([first, ...this.#others], this.#length);
    try {
      const raw = { status, headers, body, isComplete };
      this.#resolve(readAnswer(this.#operation, raw, this.#options, this.#ground.now));
    } catch (error) {
      this.#reject(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#settle()) this.#reject(this.#toFailure(error));
  }

  #toFailure(error: unknown): unknown {
    const { signal, trace } = this.#options;
    if (error instanceof NightscreenError || signal?.aborted) return error;
    const { method, path: whole, route: path = whole } = this.#operation;
    if (!isRequestFault(error)) return toConnectionError(error, { method, path, mayHaveArrived: trace.isSent });
    const message = `${method} ${path}: the settings make the request invalid, such as a key with a line break`;
    return new NightscreenError('invalid_request_setting', message, { cause: error });
  }

  #breakOff(error: Error): void {
    if (this.#head && !isSuccess(this.#head.status)) this.#finish(this.#head, false);
    else this.#fail(error);
    this.#controller?.abort(error);
  }

  #abort(reason: Error): void {
    this.#fail(reason);
    this.#controller?.abort(reason);
  }
}

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

const headers = { accept: 'application/json', 'user-agent': `nightscreen/${version}` };
const jsonHeaders = { ...headers, 'content-type': 'application/json' };

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
  const grounds = new Map<number, ExchangeGround>();
  let closed: Promise<void> | undefined;
  const { origin, pathname } = new URL(settings.baseUrl);
  const prefix = pathname.replace(/(?<!\/)\/+$/, '');
  let ready = { authorization: '', plain: {}, json: {} };

  /** The headers of all calls with the same credential are one object. */
  const toHeaders = (authorization: string | undefined, hasBody: boolean): Readonly<Record<string, string>> => {
    if (authorization === undefined) return hasBody ? jsonHeaders : headers;
    if (ready.authorization !== authorization) {
      ready = { authorization, plain: { ...headers, authorization }, json: { ...jsonHeaders, authorization } };
    }
    return hasBody ? ready.json : ready.plain;
  };

  const toRequest = (
    { method, path, query: parameters, body }: Operation<unknown>,
    { authorization, headers: more }: ExchangeOptions,
  ): Dispatcher.DispatchOptions => {
    const query = parameters?.toString() ?? '';
    const own = toHeaders(authorization, body !== undefined);
    return {
      origin,
      path: query === '' ? prefix + path : `${prefix}${path}?${query}`,
      method,
      headers: more === undefined ? own : { ...more, ...own },
      body: body ? JSON.stringify(body) : null,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  };

  const findGround = (timeoutMs: number): ExchangeGround => {
    const known = grounds.get(timeoutMs);
    if (known) return known;
    const deadlines = new Deadlines(timeoutMs, () => grounds.delete(timeoutMs));
    const ground = { deadlines, maxResponseBytes, now };
    grounds.set(timeoutMs, ground);
    return ground;
  };

  return {
    send: (operation, options) =>
      new Promise((resolve, reject) => {
        const ground = findGround(options.timeoutMs);
        new Exchange(operation, options, ground, resolve, reject).begin(dispatcher, toRequest(operation, options));
      }),
    close: async () => {
      // undici throws on a second close.
      closed ??= settings.dispatcher ? Promise.resolve() : dispatcher.close();
      await closed;
    },
  };
};
