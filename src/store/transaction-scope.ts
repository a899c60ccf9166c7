import { AsyncLocalStorage } from 'node:async_hooks';
import { StoreError } from '../errors.js';

interface Scope {
  open: boolean;
}

/** Knows whether the calling code runs inside a transaction's work, so that using the database itself there fails instead of hanging. */
export class TransactionScope {
  readonly #storage = new AsyncLocalStorage<Scope>();
  #open = 0;

  /** Throws StoreError when called from inside a transaction's work. */
  assertOutside(): void {
    if (!this.#storage.getStore()?.open) return;
    throw new StoreError(
      'transaction_nested',
      'the database was used inside its own transaction; use the transaction that was handed to the work',
    );
  }

  /** Runs `work` as the inside of a transaction. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const scope: Scope = { open: true };
    this.#open += 1;
    try {
      return await this.#storage.run(scope, work);
    } finally {
      scope.open = false;
      this.#open -= 1;
      // While it follows nobody, every promise of the process is cheaper (Node 20).
      if (this.#open === 0) this.#storage.disable();
    }
  }
}
