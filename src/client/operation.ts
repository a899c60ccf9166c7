import type { z } from 'zod';
import type { AttemptObserver } from './attempt-observer.js';

/** How one call may differ from the client's settings; `timeoutMs` is the total deadline of each attempt. */
export interface CallOptions {
  signal?: AbortSignal;
  observer?: AttemptObserver;
  timeoutMs?: number;
}

/** A valid answer: `data` as parsed, `body` as received, and the number of attempts the call took. */
export interface Answer<T> {
  data: T;
  body: string;
  status: number;
  requestId: string | undefined;
  attempts: number;
}

/** One operation of the interface together with what it sends this time. */
export interface Operation<T> {
  /** The name under which ledger and metrics count it. */
  name: string;
  method: 'GET' | 'POST';
  /** Relative to the base URL, without query. */
  path: string;
  query?: URLSearchParams;
  /** Sent as JSON. */
  body?: Readonly<Record<string, unknown>>;
  /** The one status that counts as success; every other 2xx breaks the contract. */
  successStatus: 200 | 201;
  /** Whether a call whose outcome is unknown or that was refused for the moment may be sent again. */
  isRepeatable: boolean;
  schema: z.ZodType<T>;
  /** What an answer must say beyond its shape: a breach as a code and a message without customer data, or undefined. */
  findBreach?(data: T): { code: string; message: string } | undefined;
}

/** Calls one operation: paced, repeated where its declaration allows, validated; throws what `src/errors.ts` lists. */
export type CallOperation = <T>(operation: Operation<T>, options?: CallOptions) => Promise<Answer<T>>;
