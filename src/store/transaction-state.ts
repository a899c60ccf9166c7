import { StoreError } from '../errors.js';
import { DatabaseError } from './database.js';

/** Remembers of a transaction's statements whether one failed and whether the transaction has ended; the driver keeps their order. */
export class TransactionState {
  #ended = false;
  #failed = false;
  #loss: DatabaseError | undefined;
  readonly #underWay = new Set<Promise<unknown>>();

  /** Runs one statement; throws StoreError once the transaction has ended. */
  async run<T>(statement: () => Promise<T>): Promise<T> {
    if (this.#ended) throw new StoreError('transaction_ended', 'a statement was sent to a transaction that has ended');
    const result = statement();
    this.#underWay.add(result);
    try {
      return await result;
    } catch (error) {
      this.#failed = true;
      if (error instanceof DatabaseError && error.isConnectionLost) this.#loss ??= error;
      throw error;
    } finally {
      this.#underWay.delete(result);
    }
  }

  /** The loss of the connection that ended a statement, whatever the work made of it. */
  get loss(): DatabaseError | undefined {
    return this.#loss;
  }

  /** Refuses further statements and waits for those under way. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.allSettled(this.#underWay);
  }

  /** Throws StoreError when a statement failed: Postgres would answer the commit with a rollback and no error. */
  assertIntact(): void {
    if (this.#failed) {
      throw new StoreError('transaction_aborted', 'a statement of the transaction failed, so nothing of it is kept');
    }
  }
}
