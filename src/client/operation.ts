import type { z } from 'zod';
import { ConfigError } from '../errors.js';

/** How one call may differ from the client's settings; `timeoutMs` is the total deadline of each attempt. */
export interface CallOptions {
  /** Ends waiting and the attempt under way; `AbortSignal.timeout(ms)` bounds a call with all its attempts and waits. */
  signal?: AbortSignal;
  /** Ends waiting, but not the attempt under way. */
  waitSignal?: AbortSignal;
  observer?: AttemptObserver;
  /** Whether its repeats count against the retry budget, as they do by default; false is for the few that must be tried to the end. */
  isBudgeted?: boolean;
  timeoutMs?: number;
  /** How often at most it is sent again, 0 or more; by default `retry.maxAttempts` less one. A renewed key is tried all the same. */
  maxRetries?: number;
  /** For how long it may wait for its turn, through pauses and outages, counted from its beginning; by default without end. */
  maxWaitMs?: number;
  /** Sent beside the client's own headers, which cannot be replaced. */
  headers?: Readonly<Record<string, string>>;
}

/** A valid answer: `data` as parsed, `body` as received, and the number of attempts the call took. */
export interface Answer<T> {
  data: T;
  body: string;
  status: number;
  requestId: string | undefined;
  attempts: number;
}

/**
 * When an operation may be sent again. `repeatable`: after any passing failure, because a second time changes nothing.
 * `after_refusal`: only when the first time cannot have had an effect (refused for pace, or nothing was sent). `never`: not at all.
 */
export type RetryRule = 'repeatable' | 'after_refusal' | 'never';

/** What an operation presents (interface: Endpoints, Auth column): the client's own credentials, a key that is named, or nothing. */
export type Authentication =
  | 'private_key'
  | 'private_key_or_jwt'
  | 'none'
  | { publicKey: string }
  | { privateKey: string };

/** One operation of the interface together with what it sends this time. */
export interface Operation<T> {
  /** The name under which ledger and metrics count it. */
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to the base URL, without query. */
  path: string;
  /** The path as it is reported to people, logs and observers, where the real one holds a token that opens something; `path` by default. */
  route?: string;
  query?: URLSearchParams;
  /** Sent as JSON. */
  body?: Readonly<Record<string, unknown>>;
  authentication: Authentication;
  retry: RetryRule;
  /** Whether it costs money or writes to somebody: then whose key it is and in which mode is asked first. */
  isBillable: boolean;
  /** The one status that counts as success; every other 2xx breaks the contract. */
  successStatus: 200 | 201;
  schema: z.ZodType<T>;
  /** Whether an answer without a body stands for an empty object: where the interface shows no body. */
  mayBeEmpty?: boolean;
  /** What an answer must say beyond its shape: a breach as a code and a message without customer data, or undefined. */
  findBreach?(data: T): { code: string; message: string } | undefined;
}

/** Calls one operation: paced, repeated where its declaration allows, validated; throws what `src/errors.ts` lists. */
export type CallOperation = <T>(operation: Operation<T>, options?: CallOptions) => Promise<Answer<T>>;

/** One HTTP exchange about to be made; `path` has neither query nor base URL, `attempt` counts from 1 within its call. */
export interface Attempt {
  operation: string;
  method: string;
  path: string;
  attempt: number;
  startedAt: Date;
}

/** How an attempt ended, as far as it is known here; `bytes` counts the answer's body as received. */
export interface AttemptEnd {
  endedAt: Date;
  /** Whether the request left this machine: such attempts, and no others, are what the service can have counted. */
  isSent: boolean;
  status: number | null;
  outcome: 'ok' | 'error_status' | 'bad_response' | 'timeout' | 'connection' | 'aborted';
  bytes: number;
  requestId: string | undefined;
  /** The service's own clock by the `Date` header, in whole seconds (RFC 9110, section 6.6.1). */
  servedAt: Date | undefined;
}

/** Is notified of every attempt, retries included, before it is made and after it ended; what it throws ends the call. */
export interface AttemptObserver {
  /** Is waited for once it is an attempt's turn, right before it is made, so that a ledger can note it; when it throws, nothing is sent. */
  leaving?(operation: string): Promise<void>;
  started?(attempt: Attempt): void;
  ended?(attempt: Attempt, end: AttemptEnd): void;
}

// A timer set for longer than this fires at once.
const maxTimerMs = 2 ** 31 - 1;

// What the client says of itself, its credentials and how the body is framed.
const ownHeader =
  /^(accept|authorization|connection|content-.*|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent)$/i;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// RFC 9110, 5.5, without what is not ASCII.
const headerValue = /^[\t -~]*$/;

const findHeaderProblem = ([name, value]: [string, string]): string | undefined => {
  if (ownHeader.test(name)) return `${name}: is set by the client itself`;
  return headerName.test(name) && headerValue.test(value) ? undefined : 'is no header that can be sent';
};

/** The options of a call with times that a timer can keep, at most 2^31-1; throws ConfigError with all that is wrong with them. */
export const checkCallOptions = (options: CallOptions): CallOptions => {
  const { timeoutMs, maxWaitMs, maxRetries, headers } = options;
  if ((timeoutMs ?? maxWaitMs ?? maxRetries ?? headers) === undefined) return options;
  const find = (path: string, message: string | undefined) =>
    message === undefined ? [] : [{ where: 'call options', path, message }];
  const isTime = (ms: number | undefined): boolean => ms === undefined || ms > 0;
  const problems = [
    ...find('timeoutMs', isTime(timeoutMs) ? undefined : 'must be a number of milliseconds above 0'),
    ...find('maxWaitMs', isTime(maxWaitMs) ? undefined : 'must be a number of milliseconds above 0'),
    ...find(
      'maxRetries',
      maxRetries === undefined || (Number.isInteger(maxRetries) && maxRetries >= 0)
        ? undefined
        : 'must be a whole number, 0 or more',
    ),
    ...Object.entries(headers ?? {}).flatMap((header) => find('headers', findHeaderProblem(header))),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    ...options,
    ...(timeoutMs === undefined ? {} : { timeoutMs: Math.min(timeoutMs, maxTimerMs) }),
    ...(maxWaitMs === undefined ? {} : { maxWaitMs: Math.min(maxWaitMs, maxTimerMs) }),
  };
};
