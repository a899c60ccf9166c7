import type { z } from 'zod';
import type { AttemptObserver } from './calls/attempt-observer.js';

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
  /** The path as it is told to people, logs and observers, where the real one holds a token that opens something; `path` by default. */
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
