import { onAbort } from '../on-abort.js';

/** Callers that wait for something in the order they came; each can be called off by its signal. */
export class WaitingLine {
  readonly #waiters = new Set<() => void>();

  get length(): number {
    return this.#waiters.size;
  }

  /** Resolves when `admitNext` reaches this caller; rejects with the signal's reason when aborted earlier. */
  wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const leave =
        signal &&
        onAbort(signal, () => {
          this.#waiters.delete(admit);
          reject(signal.reason);
        });
      const admit = (): void => {
        this.#waiters.delete(admit);
        leave?.();
        resolve();
      };
      this.#waiters.add(admit);
    });
  }

  /** Lets the first caller go on; false when nobody waits. */
  admitNext(): boolean {
    for (const admit of this.#waiters) {
      admit();
      return true;
    }
    return false;
  }
}
