import { setMaxListeners } from 'node:events';

/** Why a deadline's signal was aborted when its time was up. */
export const deadlinePassed: unique symbol = Symbol('deadline passed');

/** A signal that lasts as long as the work it was made for. */
export interface BoundSignal {
  readonly signal: AbortSignal;
  /** Lets go of the timer and of the signals that are followed. */
  clear(): void;
}

/** A signal that is aborted, with the same reason, as soon as one of `signals` is. */
export const followSignals = (signals: readonly (AbortSignal | undefined)[], timeoutMs?: number): BoundSignal => {
  // AbortSignal.any would keep something for every call alive as long as a run's signal lives (Node 20).
  const controller = new AbortController();
  const follow = (): void => controller.abort(signals.find((signal) => signal?.aborted)?.reason);
  for (const signal of signals) {
    if (signal === undefined) continue;
    // Many calls under one run's signal are no leak; each lets go of it.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', follow, { once: true });
  }
  if (signals.some((signal) => signal?.aborted)) follow();
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => controller.abort(deadlinePassed), timeoutMs);
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener('abort', follow);
    },
  };
};

/** Starts a deadline of `timeoutMs` that also follows `signal`. */
export const startDeadline = (timeoutMs: number, signal: AbortSignal | undefined): BoundSignal =>
  followSignals([signal], timeoutMs);

/** Settles as `work` does, or rejects with the signal's reason as soon as it is aborted; what `work` does later is ignored. */
export const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
