import { onAbort } from './on-abort.js';

/** Settles as `work` does, or rejects with the signal's reason as soon as it is aborted; what `work` does later is ignored. */
export const orAborted = <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const leave = signal.aborted ? () => undefined : onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(leave);
  });
};
