import { onAbort } from '../on-abort.js';

/** A signal that lasts as long as the work it was made for. */
export interface BoundSignal {
  readonly signal: AbortSignal;
  /** Lets go of the signals that are followed. */
  clear(): void;
}

/** A signal that is aborted, with the same reason, as soon as `own` or one of the others is. */
export const followSignals = (own: AbortSignal, others: readonly (AbortSignal | undefined)[]): BoundSignal => {
  const signals = [own, ...others.filter((other) => other !== undefined)];
  if (signals.length === 1) return { signal: own, clear: () => undefined };
  // AbortSignal.any would keep something for every call alive as long as a run's signal lives (Node 20).
  const controller = new AbortController();
  const aborted = signals.find((signal) => signal.aborted);
  if (aborted) {
    controller.abort(aborted.reason);
    return { signal: controller.signal, clear: () => undefined };
  }
  const letGo = signals.map((signal) => onAbort(signal, () => controller.abort(signal.reason)));
  return {
    signal: controller.signal,
    clear: () => {
      for (const leave of letGo) leave();
    },
  };
};
