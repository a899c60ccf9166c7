import { setMaxListeners } from 'node:events';

/** Settles as `work` does, or rejects with the signal's reason as soon as it is aborted; what `work` does later is ignored. */
export const orAborted = <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  // Many who wait under one signal are no leak; each lets go of it.
  setMaxListeners(0, signal);
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
};
