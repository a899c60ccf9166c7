import type { z } from 'zod';
import { type ErrorContext, StoreError } from '../errors.js';

/**
 * Runs single SQL statements. A parameter is a string, number, boolean, null, Date, Buffer or Uint8Array, or an array of strings or
 * numbers; JSON goes as a string through `$1::text::jsonb`.
 */
export interface Queryable {
  /** The rows, each validated by `row`; throws DatabaseError when the database refuses, StoreError when a row breaks the schema. */
  query<Row>(row: z.ZodType<Row>, sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** The number of rows affected; throws DatabaseError when the database refuses. */
  execute(sql: string, parameters?: readonly unknown[]): Promise<number>;
}

/** A transaction in progress; it refuses every call once it has ended. */
export interface Transaction extends Queryable {
  /** Runs several statements without parameters. */
  runScript(sql: string): Promise<void>;
  /**
   * Runs `copy ... from stdin` with rows in the text format; absent where the database is not spoken to over a wire. Until it has ended no
   * other statement may be sent. Gives the number of rows; throws DatabaseError when the database refuses.
   */
  copyIn?(sql: string, rows: readonly Buffer[]): Promise<number>;
}

/** `runsOnce`: the work has effects outside of the database that must not happen twice, such as lines in a file. */
export interface TransactionOptions {
  runsOnce?: boolean;
}

/** One database behind either driver; both give the same JavaScript types for the same SQL. */
export interface Database extends Queryable {
  readonly dialect: 'postgres' | 'embedded';
  /**
   * Commits what `work` did, or rolls it back when it throws; a statement that failed inside fails the whole, even if `work` caught
   * it. Inside `work` the database itself must not be used (throws StoreError `transaction_nested`): the embedded one would wait for ever.
   * On a server `work` runs again after a rollback by a deadlock, a serialisation failure or a lost connection: what it leaves outside of
   * the transaction must be the same after two runs as after one. `runsOnce` prevents the repetition.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** The rows in batches, read from one snapshot; other queries may run meanwhile, and breaking out of the loop closes it. */
  cursor<Row>(
    row: z.ZodType<Row>,
    sql: string,
    parameters: readonly unknown[],
    batchSize: number,
  ): AsyncIterable<Row[]>;
  /** Runs several statements without parameters as one implicit transaction. */
  runScript(sql: string): Promise<void>;
  /** Waits for queries in progress, then frees the connections or the folder; a second call does nothing. */
  close(): Promise<void>;
}

/** What the database said about a refusal, without the values of any row. */
export interface DatabaseErrorContext extends ErrorContext {
  /** A stable code of its own, where more is known than that the database failed. */
  code?: string;
  sqlState: string | undefined;
  constraint: string | undefined;
  /** Whether the server ended the connection, or cannot be reached: another connection may do better. */
  isConnectionLost?: boolean;
}

/** The database refused a statement or the connection broke; `sqlState` is set when the server itself answered. */
export class DatabaseError extends StoreError {
  readonly sqlState: string | undefined;
  readonly constraint: string | undefined;
  readonly isConnectionLost: boolean;

  constructor(message: string, context: DatabaseErrorContext) {
    super(context.code ?? 'database_error', message, context);
    this.sqlState = context.sqlState;
    this.constraint = context.constraint;
    this.isConnectionLost = context.isConnectionLost ?? false;
  }
}
