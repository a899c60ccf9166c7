import { StoreError } from '../errors.js';

/** Runs a transaction's statements one after the other, and remembers whether one failed and whether the transaction has ended. */
export class TransactionState {
  #ended = false;
  #failed = false;
  #last: Promise<unknown> = Promise.resolve();

  /** Runs one statement after those before it; throws StoreError once the transaction has ended. */
  async run<T>(statement: () => Promise<T>): Promise<T> {
    if (this.#ended) throw new StoreError('transaction_ended', 'a statement was sent to a transaction that has ended');
    const result = this.#last.then(async () => {
      try {
        return await statement();
      } catch (error) {
        this.#failed = true;
        throw error;
      }
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Refuses further statements and waits for those under way. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#last;
  }

  /** Throws StoreError when a statement failed: Postgres would answer the commit with a rollback and no error. */
  assertIntact(): void {
    if (this.#failed) {
      throw new StoreError('transaction_aborted', 'a statement of the transaction failed, so nothing of it is kept');
    }
  }
}
