import { setMaxListeners } from 'node:events';

/** A signal that lasts as long as the work it was made for. */
export interface BoundSignal {
  readonly signal: AbortSignal;
  /** Lets go of the signals that are followed. */
  clear(): void;
}

const nothing = (): void => undefined;

/** A signal that is aborted, with the same reason, as soon as `own` or one of the others is. */
export const followSignals = (own: AbortSignal, others: readonly (AbortSignal | undefined)[]): BoundSignal => {
  // Many calls under one signal are no leak; each lets go of it.
  setMaxListeners(0, own);
  if (others.every((other) => other === undefined)) return { signal: own, clear: nothing };
  // AbortSignal.any would keep something for every call alive as long as a run's signal lives (Node 20).
  const controller = new AbortController();
  const signals = [own, ...others];
  const follow = (): void => controller.abort(signals.find((signal) => signal?.aborted)?.reason);
  for (const signal of signals) {
    if (signal === undefined) continue;
    setMaxListeners(0, signal);
    signal.addEventListener('abort', follow, { once: true });
  }
  if (signals.some((signal) => signal?.aborted)) follow();
  return {
    signal: controller.signal,
    clear: () => {
      for (const signal of signals) signal?.removeEventListener('abort', follow);
    },
  };
};
