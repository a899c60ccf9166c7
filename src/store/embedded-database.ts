import { PGlite, type Transaction as PGliteTransaction, type Results } from '@electric-sql/pglite';
import type { z } from 'zod';
import { columnParsers } from './column-types.js';
import type { Database, Transaction } from './database.js';
import { toDatabaseError } from './database-errors.js';
import type { FolderLock } from './folder-lock.js';
import { toParameters } from './parameters.js';
import { TransactionScope } from './transaction-scope.js';
import { TransactionState } from './transaction-state.js';
import { validateRows } from './validate-rows.js';

/** A Database in a folder, run by PGlite inside this process; `lock` proves that no other process has the folder open. */
export class EmbeddedDatabase implements Database {
  readonly dialect = 'embedded';
  readonly #engine: PGlite;
  readonly #lock: FolderLock;
  readonly #scope = new TransactionScope();
  #cursors = 0;
  #closed: Promise<void> | undefined;

  private constructor(engine: PGlite, lock: FolderLock) {
    this.#engine = engine;
    this.#lock = lock;
  }

  /** Opens the data directory, creating it when it is empty; throws DatabaseError when it cannot be opened. */
  static async open(dataDirectory: string, lock: FolderLock): Promise<EmbeddedDatabase> {
    const engine = await PGlite.create({ dataDir: dataDirectory, relaxedDurability: false }).catch(rethrow);
    // Parameters arrive as text already and columns have our own parsers; PGlite's would differ from those of the Postgres driver.
    engine.serializers = {};
    engine.parsers = { ...columnParsers };
    const database = new EmbeddedDatabase(engine, lock);
    await database.runScript("set time zone 'UTC'; set datestyle = 'ISO, YMD';");
    return database;
  }

  async query<Row>(row: z.ZodType<Row>, sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const result = await this.#run(sql, parameters);
    return validateRows(row, result.rows);
  }

  async execute(sql: string, parameters: readonly unknown[] = []): Promise<number> {
    const result = await this.#run(sql, parameters);
    return result.rowCount ?? 0;
  }

  async runScript(sql: string): Promise<void> {
    this.#scope.assertOutside();
    await this.#engine.exec(sql).catch(rethrow);
  }

  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    this.#scope.assertOutside();
    const state = new TransactionState();
    let failure: { error: unknown } | undefined;
    try {
      return await this.#engine.transaction(async (inner) => {
        try {
          const result = await this.#scope.run(() => work(toTransaction(inner, state)));
          await state.end();
          state.assertIntact();
          return result;
        } catch (error) {
          failure = { error };
          await state.end();
          throw error;
        }
      });
    } catch (error) {
      // What the work threw passes through unchanged; what begin or commit threw is the engine's.
      throw failure ? failure.error : toDatabaseError(error);
    }
  }

  async *cursor<Row>(
    row: z.ZodType<Row>,
    sql: string,
    parameters: readonly unknown[],
    batchSize: number,
  ): AsyncGenerator<Row[]> {
    this.#cursors += 1;
    const name = `batches_${this.#cursors}`;
    // There is one session only: with hold keeps the rows beyond the statement's own transaction, so others may run between batches.
    await this.#run(`declare ${name} no scroll cursor with hold for ${sql}`, parameters);
    try {
      for (;;) {
        const batch = await this.#run(`fetch forward ${batchSize} from ${name}`, []);
        if (batch.rows.length > 0) yield validateRows(row, batch.rows);
        if (batch.rows.length < batchSize) return;
      }
    } finally {
      if (!this.#engine.closed) await this.#engine.exec(`close ${name}`).catch(ignore);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  async #shutDown(): Promise<void> {
    try {
      await this.#engine.close();
    } finally {
      await this.#lock.release();
    }
  }

  async #run(sql: string, parameters: readonly unknown[]): Promise<Results<Record<string, unknown>>> {
    this.#scope.assertOutside();
    return this.#engine.query<Record<string, unknown>>(sql, toParameters(parameters)).catch(rethrow);
  }
}

function toTransaction(inner: PGliteTransaction, state: TransactionState): Transaction {
  const run = async (sql: string, parameters: readonly unknown[]) =>
    state.run(() => inner.query<Record<string, unknown>>(sql, toParameters(parameters)).catch(rethrow));
  return {
    query: async (row, sql, parameters = []) => validateRows(row, (await run(sql, parameters)).rows),
    execute: async (sql, parameters = []) => (await run(sql, parameters)).rowCount ?? 0,
    runScript: async (sql) => {
      await state.run(() => inner.exec(sql).catch(rethrow));
    },
  };
}

function rethrow(error: unknown): never {
  throw toDatabaseError(error);
}

function ignore(): void {}
