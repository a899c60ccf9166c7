import { setMaxListeners } from 'node:events';

/** A signal that lasts as long as the work it was made for. */
export interface BoundSignal {
  readonly signal: AbortSignal;
  /** Lets go of the signals that are followed. */
  clear(): void;
}

const nothing = (): void => undefined;

/** A signal that is aborted, with the same reason, as soon as one of the two is. */
export const followSignals = (own: AbortSignal, other: AbortSignal | undefined): BoundSignal => {
  // Many calls under one signal are no leak; each lets go of it.
  setMaxListeners(0, own);
  if (other === undefined) return { signal: own, clear: nothing };
  setMaxListeners(0, other);
  // AbortSignal.any would keep something for every call alive as long as a run's signal lives (Node 20).
  const controller = new AbortController();
  const follow = (): void => controller.abort(own.aborted ? own.reason : other.reason);
  own.addEventListener('abort', follow, { once: true });
  other.addEventListener('abort', follow, { once: true });
  if (own.aborted || other.aborted) follow();
  return {
    signal: controller.signal,
    clear: () => {
      own.removeEventListener('abort', follow);
      other.removeEventListener('abort', follow);
    },
  };
};
