import { setMaxListeners } from 'node:events';
import type { CallOptions } from './operation.js';

const heard = new WeakMap<AbortSignal, { callbacks: Set<() => void>; listener: () => void }>();

/**
 * Calls `callback` once when the signal is aborted, which must not have happened yet; gives a way to let go. However many ask, a signal has
 * one listener: adding one looks through all that are there, which a hundred thousand waiting callers would notice.
 */
export const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  const known = heard.get(signal) ?? listenTo(signal);
  // A wrapper, so that one function that asks twice is called twice.
  const entry = (): void => callback();
  known.callbacks.add(entry);
  return () => {
    known.callbacks.delete(entry);
    if (known.callbacks.size > 0 || heard.get(signal) !== known) return;
    heard.delete(signal);
    signal.removeEventListener('abort', known.listener);
  };
};

const listenTo = (signal: AbortSignal): { callbacks: Set<() => void>; listener: () => void } => {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    heard.delete(signal);
    for (const callback of callbacks) callback();
  };
  const known = { callbacks, listener };
  heard.set(signal, known);
  signal.addEventListener('abort', listener, { once: true });
  return known;
};

/** Settles as `work` does, or rejects with the signal's reason as soon as it is aborted; what `work` does later is ignored. */
const orAborted = <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const leave = signal.aborted ? () => undefined : onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(leave);
  });
};

interface Followed {
  signals: readonly AbortSignal[];
  signal: AbortSignal;
  letGo: readonly (() => void)[];
  users: number;
}

/**
 * Gives a way to follow signals for one call after the other: a signal that is aborted, with the same reason, as soon as `own` or one of the
 * others is, and `clear`, to be called once, which lets go of them. Who follows the same signals as the one before, while that one still does,
 * shares its signal.
 */
export const createFollowSignals = () => {
  let last: Followed | undefined;
  return (own: AbortSignal, others: readonly (AbortSignal | undefined)[]) => {
    const signals = [own, ...others.filter((other) => other !== undefined)];
    if (signals.length === 1) {
      // As in `follow`; letting go is not needed, since each listener removes itself when its wait is over.
      setMaxListeners(0, own);
      return { signal: own, clear: () => undefined };
    }
    // All calls of a run follow the same few signals, and a controller for each of them is the dearest part of a call.
    if (last === undefined || last.users === 0 || !isSame(last.signals, signals)) last = follow(signals);
    return join(last);
  };
};

/** The same for one call. */
export const followSignals: ReturnType<typeof createFollowSignals> = (own, others) =>
  createFollowSignals()(own, others);

const isSame = (one: readonly AbortSignal[], other: readonly AbortSignal[]): boolean =>
  one.length === other.length && one.every((signal, place) => signal === other[place]);

const follow = (signals: readonly AbortSignal[]): Followed => {
  // AbortSignal.any would keep something for every call alive as long as a run's signal lives (Node 20).
  const controller = new AbortController();
  // As many calls listen to it as are under way at once: to Node that looks like a leak.
  setMaxListeners(0, controller.signal);
  const aborted = signals.find((signal) => signal.aborted);
  if (aborted) controller.abort(aborted.reason);
  const letGo = aborted ? [] : signals.map((signal) => onAbort(signal, () => controller.abort(signal.reason)));
  return { signals, signal: controller.signal, letGo, users: 0 };
};

const join = (followed: Followed) => {
  followed.users += 1;
  return {
    signal: followed.signal,
    clear: (): void => {
      followed.users -= 1;
      if (followed.users > 0) return;
      for (const leave of followed.letGo) leave();
    },
  };
};

/**
 * Gives a way to ask one thing for all who ask at the same time: the first one's work is begun and everyone gets its outcome, each leaving
 * earlier with the reason of its own signals. Once settled it is forgotten. The work must hear of no asker's signal, only of the client's end.
 */
export const createShareOne = <T>(): ((
  work: () => Promise<T>,
  asker: Pick<CallOptions, 'signal' | 'waitSignal'>,
) => Promise<T>) => {
  let underWay: Promise<T> | undefined;
  return async (work, { signal, waitSignal }) => {
    signal?.throwIfAborted();
    waitSignal?.throwIfAborted();
    underWay ??= work().finally(() => {
      underWay = undefined;
    });
    return orAborted(orAborted(underWay, signal), waitSignal);
  };
};
