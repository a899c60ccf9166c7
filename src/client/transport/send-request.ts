import type { Dispatcher } from 'undici';
import { NightscreenError } from '../../errors.js';
import { onAbort } from '../on-abort.js';

/** Headers as they came; a header that came more than once is an array. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** An answer as it came; `isComplete` is false when its body was longer than allowed or, with an error status, broke off. */
export interface RawAnswer {
  status: number;
  headers: AnswerHeaders;
  body: Buffer;
  isComplete: boolean;
}

/** A request that was not sent after all: its time had passed when its connection was there. */
export class HeldBackError extends NightscreenError {
  constructor() {
    super('held_back', 'the request must not leave any more');
  }
}

/** What happens to a request while it is sent. */
export interface SendOptions {
  /** Ends everything, whatever stage the request is in, with the signal's reason. */
  signal: AbortSignal | undefined;
  timeoutMs: number;
  /** The error that a request fails with when its time is up. */
  toTimeoutError: () => Error;
  /** How much of a body is read, by its status. */
  maxBytes: (status: number) => number;
  /** The request is about to leave; false when it must not, which ends it with HeldBackError. */
  mayLeave: () => boolean;
  onStatus: (status: number, headers: AnswerHeaders) => void;
  onBytes: (length: number) => void;
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/**
 * Sends a request exactly once and reads the answer, all of it within `timeoutMs`. Rejects with what broke the exchange; a body that
 * breaks off after an error status is no reason to, because the status says enough.
 */
export const sendRequest = (
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  options: SendOptions,
): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { signal, onStatus, onBytes } = options;
    const pieces: Buffer[] = [];
    let controller: Dispatcher.DispatchController | undefined;
    let head: { status: number; headers: AnswerHeaders } | undefined;
    let length = 0;
    let isSettled = false;

    const settle = (): boolean => {
      if (isSettled) return false;
      isSettled = true;
      clearTimeout(timer);
      leave?.();
      return true;
    };
    const finish = (answer: { status: number; headers: AnswerHeaders }, isComplete: boolean): void => {
      if (!settle()) return;
      const [only] = pieces;
      const body = only && pieces.length === 1 ? only : Buffer.concat(pieces, length);
      resolve({ ...answer, body, isComplete });
    };
    const fail = (error: Error): void => {
      if (settle()) reject(error);
    };
    /** The exchange broke off: after an error status the status is the answer. */
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
        // A connection that came about too late must not send what nobody waits for any more.
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
