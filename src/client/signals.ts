import { setMaxListeners } from 'node:events';
import type { CallOptions } from './operation.js';

/** One of several members; `place` belongs to their list. */
interface Member {
  place: number;
}

/**
 * Members that come and go with every call, in no order. A Set or Map leaves behind its old tables, each of which refers to the next and to the
 * members of its time: once one of them is old, nothing is collected until the next full collection (20 % of all calls, 11 us a call).
 */
export class Members<T extends Member> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(member: T): void {
    member.place = this.#members.push(member) - 1;
  }

  /** Removes a member; false when it is not there. */
  delete(member: T): boolean {
    const { place } = member;
    if (place < 0) return false;
    member.place = -1;
    const last = this.#members.pop();
    if (last === undefined || last === member) return true;
    last.place = place;
    this.#members[place] = last;
    return true;
  }

  /** The members of now. */
  list(): readonly T[] {
    return [...this.#members];
  }
}

interface Hearer extends Member {
  callback: () => void;
}

const heard = new WeakMap<AbortSignal, { hearers: Members<Hearer>; listener: () => void }>();

/**
 * Calls `callback` once when the signal is aborted, which must not have happened yet; the returned function removes it. A signal has one listener
 * for all callbacks: adding a listener walks through all existing ones, which costs too much with a hundred thousand waiting callers.
 */
export const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  const known = heard.get(signal) ?? listenTo(signal);
  const hearer = { callback, place: -1 };
  known.hearers.add(hearer);
  return () => {
    known.hearers.delete(hearer);
    if (known.hearers.size > 0 || heard.get(signal) !== known) return;
    heard.delete(signal);
    signal.removeEventListener('abort', known.listener);
  };
};

const listenTo = (signal: AbortSignal): { hearers: Members<Hearer>; listener: () => void } => {
  const hearers = new Members<Hearer>();
  const listener = (): void => {
    heard.delete(signal);
    for (const hearer of hearers.list()) if (hearers.delete(hearer)) hearer.callback();
  };
  const known = { hearers, listener };
  heard.set(signal, known);
  signal.addEventListener('abort', listener, { once: true });
  return known;
};

/** Settles like `work`, or rejects with the reason of the signal as soon as it is aborted. */
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
 * Creates a function that follows signals, for one call after another. It gives a signal that is aborted with the same reason as soon as `own` or
 * another one is, and `clear`, to be called once, which stops that. Consecutive calls that follow the same signals at the same time share one.
 */
export const createFollowSignals = () => {
  let last: Followed | undefined;
  return (own: AbortSignal, others: readonly (AbortSignal | undefined)[]) => {
    const signals = [own, ...others.filter((other) => other !== undefined)];
    // There is nothing to clear: each listener of `own` removes itself when its wait is over.
    if (signals.length === 1) return { signal: own, clear: () => undefined };
    // All calls of a run follow the same few signals, and a controller of its own is the most expensive part of a call.
    if (last === undefined || last.users === 0 || !isSame(last.signals, signals)) last = follow(signals);
    return join(last);
  };
};

/** Follows signals for one call. */
export const followSignals: ReturnType<typeof createFollowSignals> = (own, others) =>
  createFollowSignals()(own, others);

const isSame = (one: readonly AbortSignal[], other: readonly AbortSignal[]): boolean =>
  one.length === other.length && one.every((signal, place) => signal === other[place]);

const follow = (signals: readonly AbortSignal[]): Followed => {
  // In Node 20, AbortSignal.any keeps memory for every call as long as the signal of the run lives.
  const controller = new AbortController();
  // All calls in flight listen to it, which Node would report as a leak.
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
 * Creates a function that does one thing for all who ask at the same time: it starts the work of the first, and all get its result. Each caller
 * may leave earlier with the reason of its own signals. The work must not follow the signal of a caller, only the end of the client.
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
