import type { CallOptions } from '../operation.js';
import { orAborted } from '../or-aborted.js';

/** Somebody who waits for a shared outcome, until one of its signals is aborted. */
export type Asker = Pick<CallOptions, 'signal' | 'waitSignal'>;

/**
 * Gives a way to ask one thing for all who ask at the same time: the first one's work is begun and everyone gets its outcome, each leaving
 * earlier with the reason of its own signals. Once settled it is forgotten. The work must hear of no asker's signal, only of the client's end.
 */
export const createShareOne = <T>(): ((work: () => Promise<T>, asker: Asker) => Promise<T>) => {
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
