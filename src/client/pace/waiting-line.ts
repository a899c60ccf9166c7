/** Callers that wait for something in the order they came; each can be called off by its signal. */
export class WaitingLine {
  readonly #waiters = new Set<() => void>();

  get length(): number {
    return this.#waiters.size;
  }

  /** Resolves when `admitNext` reaches this caller; rejects with the signal's reason when aborted earlier. */
  wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(admit);
        signal?.removeEventListener('abort', abort);
      };
      const admit = (): void => {
        leave();
        resolve();
      };
      const abort = (): void => {
        leave();
        reject(signal?.reason);
      };
      if (signal?.aborted) return reject(signal.reason);
      this.#waiters.add(admit);
      signal?.addEventListener('abort', abort, { once: true });
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
