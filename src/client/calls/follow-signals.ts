import { setMaxListeners } from 'node:events';
import { onAbort } from '../on-abort.js';

/** A signal that lasts as long as the work it was made for. */
export interface BoundSignal {
  readonly signal: AbortSignal;
  /** Lets go of the signals that are followed; to be called once. */
  clear(): void;
}

/** A way to follow signals for one call after the other. */
export type FollowSignals = (own: AbortSignal, others: readonly (AbortSignal | undefined)[]) => BoundSignal;

interface Followed {
  signals: readonly AbortSignal[];
  signal: AbortSignal;
  letGo: readonly (() => void)[];
  users: number;
}

/** A signal that is aborted, with the same reason, as soon as `own` or one of the others is. */
export const followSignals: FollowSignals = (own, others) => createFollowSignals()(own, others);

/** As `followSignals`; who follows the same signals as the one before, while that one still does, shares its signal. */
export const createFollowSignals = (): FollowSignals => {
  let last: Followed | undefined;
  return (own, others) => {
    const signals = listSignals(own, others);
    if (signals.length === 1) return { signal: own, clear: () => undefined };
    // All calls of a run follow the same few signals, and a controller for each of them is the dearest part of a call.
    if (last === undefined || last.users === 0 || !isSame(last.signals, signals)) last = follow(signals);
    return join(last);
  };
};

const listSignals = (own: AbortSignal, others: readonly (AbortSignal | undefined)[]): readonly AbortSignal[] => [
  own,
  ...others.filter((other) => other !== undefined),
];

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

const join = (followed: Followed): BoundSignal => {
  followed.users += 1;
  return {
    signal: followed.signal,
    clear: () => {
      followed.users -= 1;
      if (followed.users > 0) return;
      for (const leave of followed.letGo) leave();
    },
  };
};
