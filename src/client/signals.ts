import { setMaxListeners } from 'node:events';
import type { CallOptions } from './operation.js';

const heard = new WeakMap<AbortSignal, { callbacks: Set<() => void>; listener: () => void }>();

/**
 * Calls `callback` once when the signal is aborted, which must not have happened yet; the returned function removes it. A signal has one listener
 * for all callbacks: adding a listener walks through all existing ones, which costs too much with a hundred thousand waiting callers.
 */
export const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  const { callbacks, listener } = heard.get(signal) ?? listenTo(signal);
  // A wrapper: one function may be added more than once.
  const entry = (): void => callback();
  callbacks.add(entry);
  return () => {
    callbacks.delete(entry);
    if (callbacks.size > 0 || heard.get(signal)?.callbacks !== callbacks) return;
    heard.delete(signal);
    signal.removeEventListener('abort', listener);
  };
};

const listenTo = (signal: AbortSignal): { callbacks: Set<() => void>; listener: () => void } => {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    heard.delete(signal);
    // A callback that is removed meanwhile is not called.
    for (const callback of callbacks) callback();
  };
  const known = { callbacks, listener };
  heard.set(signal, known);
  signal.addEventListener('abort', listener, { once: true });
  return known;
};

/**
 * Creates a function that gives one signal for several: it is aborted with the same reason as soon as one of them is. Consecutive calls that
 * follow the same signals share one. In Node 20, AbortSignal.any keeps 70 bytes for each use as long as one of its signals lives, and a run makes
 * millions of calls.
 */
export const createFollowSignals = (): ((followed: readonly (AbortSignal | undefined)[]) => AbortSignal) => {
  let last: { signals: readonly AbortSignal[]; signal: AbortSignal } | undefined;
  return (followed) => {
    const signals = followed.filter((signal) => signal !== undefined);
    if (last === undefined || !isSame(last.signals, signals)) {
      last = { signals, signal: AbortSignal.any(signals) };
      // All calls in flight listen to it, which Node would report as a leak.
      setMaxListeners(0, last.signal);
    }
    return last.signal;
  };
};

const isSame = (one: readonly AbortSignal[], other: readonly AbortSignal[]): boolean =>
  one.length === other.length && one.every((signal, place) => signal === other[place]);

/** Settles like `work`, or rejects with the reason of the signal, which is not aborted yet, as soon as it is. */
const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const leave = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(leave);
  });

/**
 * Creates a function that does one thing for all who ask at the same time: it starts the work of the first, and all get its result. Each caller
 * may leave earlier with the reason of its own signals. The work must not follow the signal of a caller, only the end of the client.
 */
export const createShareOne = <T>(): ((
  work: () => Promise<T>,
  asker: Pick<CallOptions, 'signal' | 'waitSignal'>,
) => Promise<T>) => {
  let underWay: Promise<T> | undefined;
  return async (work, { signal, waitSignal }) => {
    const leaving = AbortSignal.any([signal, waitSignal].filter((given) => given !== undefined));
    leaving.throwIfAborted();
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    return orAborted(underWay, leaving);
  };
};

/** Callers that wait in the order of arrival; a signal removes its caller. */
export class WaitingLine {
  readonly #waiters = new Set<() => void>();

  get length(): number {
    return this.#waiters.size;
  }

  /** Resolves when `admitNext` reaches this caller; rejects with the reason of an aborted signal. */
  wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave =
        signal &&
        onAbort(signal, () => {
          this.#waiters.delete(admit);
          reject(signal.reason);
        });
      const admit = (): void => {
        this.#waiters.delete(admit);
        leave?.();
        resolve();
      };
      this.#waiters.add(admit);
    });
  }

  /** Admits the first caller; false when none waits. */
  admitNext(): boolean {
    for (const admit of this.#waiters) {
      admit();
      return true;
    }
    return false;
  }
}
