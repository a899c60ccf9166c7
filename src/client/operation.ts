import type { z } from 'zod';
import { ConfigError } from '../errors.js';

/** Options of one call; `timeoutMs` is the total deadline of each attempt. */
export interface CallOptions {
  /** Ends waiting and the attempt in flight; `AbortSignal.timeout(ms)` limits the whole call. */
  signal?: AbortSignal;
  /** Ends waiting, but not the attempt in flight. */
  waitSignal?: AbortSignal;
  /** Sees every attempt of this call, beside the client's own observer. */
  observer?: AttemptObserver;
  /** Whether repeats count against the retry budget, default true; false for calls that must be tried to the end. */
  isBudgeted?: boolean;
  /** The total deadline of each attempt: connect, headers and body. Default: `timeoutSeconds` of the client. */
  timeoutMs?: number;
  /** The most repeats, default `retry.maxAttempts` less one. A renewed key is tried in any case. */
  maxRetries?: number;
  /** The longest wait for a turn, through pauses and outages, counted from the start of the call; default: no limit. */
  maxWaitMs?: number;
  /** Added to the client's own headers, which cannot be replaced. */
  headers?: Readonly<Record<string, string>>;
}

/** A valid answer: parsed `data`, received `body`, and the number of attempts of the call. */
export interface Answer<T> {
  /** The checked answer. */
  data: T;
  /** The body, as received. */
  body: string;
  /** The HTTP status. */
  status: number;
  /** The service's id of the request; undefined without one. */
  requestId: string | undefined;
  /** How many attempts the call took, from 1. */
  attempts: number;
}

/** One operation of the interface with its input. */
export interface Operation<T> {
  /** Its name in ledger and metrics. */
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Relative to the base URL, without query. */
  path: string;
  /** The path for people, logs and observers when `path` contains a secret token; default `path`. */
  route?: string;
  query?: URLSearchParams;
  /** Sent as JSON. */
  body?: Readonly<Record<string, unknown>>;
  /** The credential (interface: Endpoints, Auth column): the client's own, a named key, or none. */
  authentication: 'private_key' | 'private_key_or_jwt' | 'none' | { publicKey: string } | { privateKey: string };
  /**
   * When it may be sent again. `repeatable`: after any passing failure, because a repeat changes nothing. `after_refusal`: only when the first
   * attempt had no effect (refused for pace, or not sent). `never`: not at all.
   */
  retry: 'repeatable' | 'after_refusal' | 'never';
  /** Whether it costs money or sends a message; account and mode of the key are then fetched first. */
  isBillable: boolean;
  /** The one status that counts as success; every other 2xx breaks the contract. */
  successStatus: 200 | 201;
  schema: z.ZodType<T>;
  /** Whether an answer without a body counts as an empty object: the interface shows no body. */
  mayBeEmpty?: boolean;
  /** Checks an answer beyond its shape, `value` with its unknown fields; a breach has a code and a message without customer data. */
  findBreach?(data: T, value: unknown): { code: string; message: string } | undefined;
}

/** Calls one operation: paced, repeated where its declaration allows, validated; throws the errors of `src/errors.ts`. */
export type CallOperation = <T>(operation: Operation<T>, options?: CallOptions) => Promise<Answer<T>>;

/** One HTTP exchange that is about to start; `path` has neither query nor base URL, `attempt` counts from 1 within its call. */
export interface Attempt {
  /** The name of the operation, for example `aml.search`. */
  operation: string;
  /** The HTTP method. */
  method: string;
  /** The path, without query and base URL; a token that opens a session is replaced by its name. */
  path: string;
  /** Its number within the call, from 1. */
  attempt: number;
  /** When it started. */
  startedAt: Date;
}

/** How an attempt ended; `bytes` counts the answer's body as received. */
export interface AttemptEnd {
  /** When it ended. */
  endedAt: Date;
  /** Whether the request left this machine; the service can have counted only such attempts. */
  isSent: boolean;
  /** The HTTP status; null without an answer. */
  status: number | null;
  /** How it ended; only `ok` is an answer. */
  outcome: 'ok' | 'error_status' | 'bad_response' | 'timeout' | 'connection' | 'aborted';
  /** The length of the body, as received. */
  bytes: number;
  /** The service's id of the request; undefined without one. */
  requestId: string | undefined;
  /** The service's own clock by the `Date` header, in whole seconds (RFC 9110, section 6.6.1). */
  servedAt: Date | undefined;
}

/** Sees every attempt, repeats included, before it starts and after it ended; an error that it throws ends the call. */
export interface AttemptObserver {
  /** Awaited right before an attempt, so that a ledger can note it; when it throws, nothing is sent. */
  leaving?(operation: string): Promise<void>;
  /** Called when an attempt starts. */
  started?(attempt: Attempt): void;
  /** Called when an attempt has ended, in whatever way. */
  ended?(attempt: Attempt, end: AttemptEnd): void;
}

// A timer set for longer than this fires at once.
const maxTimerMs = 2 ** 31 - 1;

// Headers that the client sets itself.
const ownHeader =
  /^(accept|authorization|connection|content-.*|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent)$/i;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// RFC 9110, 5.5, ASCII only.
const headerValue = /^[\t -~]*$/;

const findHeaderProblem = ([name, value]: [string, string]): string | undefined => {
  if (ownHeader.test(name)) return `${name}: is set by the client itself`;
  return headerName.test(name) && headerValue.test(value) ? undefined : 'is no header that can be sent';
};

/** Checks the options of a call and limits its times to 2^31-1, the longest timer; throws ConfigError with all problems. */
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
