import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import { type ErrorContext, NightscreenError, StoreError } from '../../errors.js';
import { describeStatement, insertInto, type Sql, sql } from './statement.js';

/** Runs single SQL statements, made by `sql`, or plain text where they have no parameters. */
export interface Queryable {
  /** The rows with columns in camelCase, validated by `row`. Throws DatabaseError when the database refuses, StoreError for an invalid row. */
  query<Row>(row: z.ZodType<Row>, statement: string | Sql): Promise<Row[]>;
  /** The number of rows affected; throws DatabaseError when the database refuses. */
  execute(statement: string | Sql): Promise<number>;
}

/** An open transaction; it refuses every call after its end. */
export interface Transaction extends Queryable {
  /** Runs several statements without parameters. */
  runScript(sql: string): Promise<void>;
}

/** A database; both drivers return the same JavaScript types for the same SQL. */
export interface Database extends Queryable {
  readonly dialect: 'postgres' | 'embedded';
  /**
   * Commits `work`, or rolls it back when it throws or a statement failed, even if `work` caught the failure. `work` must not use the database
   * itself: the embedded one would never answer. Tests detect it (StoreError `transaction_nested`). On a server `work` runs again after a deadlock,
   * a serialisation failure or a lost connection, so its effects outside of the transaction must be idempotent. `runsOnce` prevents the repetition.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, options?: { runsOnce?: boolean }): Promise<T>;
  /** The rows in batches from one snapshot; other queries may run meanwhile. Leaving the loop closes the cursor. */
  cursor<Row>(row: z.ZodType<Row>, statement: string | Sql, batchSize: number): AsyncIterable<Row[]>;
  /** Runs several statements without parameters as one implicit transaction. */
  runScript(sql: string): Promise<void>;
  /** Waits for queries in progress, then releases the connections or the folder; a second call does nothing. */
  close(): Promise<void>;
}

/** Lets the sorts and hash tables of 100,000 customers fit into memory for the rest of a transaction. The embedded database has less memory. */
export async function takeWorkMemory(
  { dialect }: Pick<Database, 'dialect'>,
  transaction: Queryable,
  size: '64MB' | '128MB',
): Promise<void> {
  if (dialect === 'postgres') await transaction.execute(sql`select set_config('work_mem', ${size}, true)`);
}

/** The facts of a refusal, without values of rows. */
interface DatabaseErrorContext extends ErrorContext {
  /** A stable code, where it is more specific than `database_error`. */
  code?: string;
  sqlState: string | undefined;
  constraint: string | undefined;
  /** Whether the server ended the connection or cannot be reached: another connection may succeed. */
  isConnectionLost?: boolean;
  /** Whether the server or a pooler has no connection left: one may be free later. */
  isWithoutRoom?: boolean;
}

/** The SQL state of a server or an engine without disk space. */
export const fullDiskState = '53100';

/** The database refused a statement, or the connection was lost; `sqlState` is set when the server answered. */
export class DatabaseError extends StoreError {
  readonly sqlState: string | undefined;
  readonly constraint: string | undefined;
  readonly isConnectionLost: boolean;
  readonly isWithoutRoom: boolean;

  constructor(message: string, context: DatabaseErrorContext) {
    super(context.code ?? 'database_error', message, context);
    this.sqlState = context.sqlState;
    this.constraint = context.constraint;
    this.isWithoutRoom = context.isWithoutRoom ?? false;
    this.isConnectionLost = this.isWithoutRoom || (context.isConnectionLost ?? false);
  }

  /** Whether the server rolled the transaction back because of concurrent work, so that a repetition may succeed. */
  get isConflict(): boolean {
    return atOnceStates.has(this.sqlState ?? '');
  }
}

const serverFailure = z.object({
  code: z.string().regex(/^[0-9A-Z]{5}$/),
  message: z.string(),
  severity: z.string(),
  constraint: z.string().optional(),
  column: z.string().optional(),
  table: z.string().optional(),
});

const fileFailure = z.object({ errno: z.number() });
const connectionFailure = z.object({ code: z.string().optional(), message: z.string() });

/** Converts a driver's error into a DatabaseError without values of rows or parameters; a NightscreenError is returned unchanged. */
export function toDatabaseError(error: unknown): NightscreenError {
  if (error instanceof NightscreenError) return error;
  const answer = serverFailure.safeParse(error).data;
  const message = answer === undefined ? describeFailure(error) : describeRefusal(answer);
  const code = answer?.code;
  return new DatabaseError(message, {
    cause: withoutValues(error, message),
    sqlState: code,
    constraint: answer?.constraint,
    isConnectionLost: code === undefined ? isOfTheWire(error) : endedStates.has(code) || code.startsWith('08'),
    isWithoutRoom: answer !== undefined && isWithoutRoom(answer),
  });
}

// The server shuts down, has crashed or starts up, or has ended an idle session.
const endedStates = new Set(['57P01', '57P02', '57P03', '57P05', '25P03']);

// Poolers word it themselves: pgbouncer under 08P01, Supavisor under XX000.
const fullPooler = /no more connections allowed|max client(?:s| connections) reached/i;

/** A session that may not begin for lack of a resource; a statement of class 53, such as one over temp_file_limit, fails for itself. */
const isWithoutRoom = ({ code, severity, message }: z.infer<typeof serverFailure>): boolean =>
  code === '53300' || (code.startsWith('53') && severity === 'FATAL') || fullPooler.test(message);

const wireCodes = /^(ECONN|EPIPE|ENOTCONN|EHOST|ENET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;
// The driver gives these no code.
const wireMessages =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/;

function isOfTheWire(error: unknown): boolean {
  const { code = '', message = '' } = connectionFailure.safeParse(error).data ?? {};
  return wireCodes.test(code) || wireMessages.test(message);
}

/** The reason of a failure without an answer of the server, on one line. */
function describeFailure(error: unknown): string {
  const failure = connectionFailure.safeParse(error).data;
  if (failure === undefined) {
    // The embedded database reports a failure of its files with an error number only.
    const number = fileFailure.safeParse(error).data?.errno;
    return `the database driver failed${number === undefined ? '' : ` on its files (errno ${number}); check whether the disk is full`}`;
  }
  const { code, message } = failure;
  // A host that refuses on all addresses gives an AggregateError with an empty message.
  return [message, code && !message.includes(code) ? `(${code})` : ''].filter(Boolean).join(' ') || 'no reason given';
}

// A deadlock and a serialisation failure: a repetition may succeed.
const atOnceStates = new Set(['40P01', '40001']);

function describeRefusal(answer: z.infer<typeof serverFailure>): string {
  if (atOnceStates.has(answer.code)) {
    return 'another process changed the same data at the same time, so nothing was stored; run the same command again';
  }
  // Data exceptions (class 22) quote the value; other classes quote only names of the schema and SQL.
  const reason = answer.code.startsWith('22') ? 'a value does not fit its type or range' : answer.message;
  const where = [answer.table, answer.column].filter(Boolean).join('.');
  return `${reason}${where && !reason.includes(where) ? ` at ${where}` : ''} (SQLSTATE ${answer.code})`;
}

/** Drivers attach parameters, row values and statements to errors; the copy keeps only the name and the stack frames. */
function withoutValues(error: unknown, message: string): Error {
  const copy = new Error(message);
  if (!(error instanceof Error)) return copy;
  copy.name = error.name;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  copy.stack = [`${error.name}: ${message}`, ...frames].join('\n');
  return copy;
}

/** The first row of a statement; null without a row. */
export async function findRow<Row>(database: Queryable, row: z.ZodType<Row>, statement: string | Sql) {
  const [first] = await database.query(row, statement);
  return first ?? null;
}

/** The values of a statement with one column. */
export async function readColumn<Value>(database: Queryable, value: z.ZodType<Value>, statement: string | Sql) {
  const rows = await database.query(z.record(z.string(), value), statement);
  return rows.flatMap((row) => Object.values(row));
}

/** The first value of a statement with one column; null without a row. */
export async function findValue<Value>(database: Queryable, value: z.ZodType<Value>, statement: string | Sql) {
  const [first] = await readColumn(database, value, statement);
  return first ?? null;
}

/** The value of a statement with one row and one column; throws StoreError `row_missing` without a row. */
export async function readValue<Value>(database: Queryable, value: z.ZodType<Value>, statement: string | Sql) {
  const [first] = await readColumn(database, value, statement);
  if (first === undefined) throw toRowMissing(statement);
  return first;
}

/** The one row of a statement; throws StoreError `row_missing` without a row. */
export async function readRow<Row>(database: Queryable, row: z.ZodType<Row>, statement: string | Sql) {
  const [first] = await database.query(row, statement);
  if (first === undefined) throw toRowMissing(statement);
  return first;
}

const toRowMissing = (statement: string | Sql): StoreError =>
  new StoreError('row_missing', `expected a row and found none: ${describeStatement(statement)}`);

/** Writes as many rows as expected; throws StoreError `rows_missing` otherwise. */
export async function executeAll(transaction: Queryable, expected: number, statement: Sql): Promise<void> {
  const written = await transaction.execute(statement);
  if (written === expected) return;
  throw new StoreError(
    'rows_missing',
    `only ${written} of ${expected} rows could be written, so the transaction was rolled back; please report this: ${describeStatement(statement)}`,
  );
}

/** Inserts all rows, as `insertInto` does; throws StoreError `rows_missing` otherwise. Without rows nothing is done. */
export async function insertRows(transaction: Queryable, table: string, rows: readonly object[]): Promise<void> {
  if (rows.length > 0) await executeAll(transaction, rows.length, insertInto(table, rows));
}

/** The one row of a statement; throws StoreError that names the table when there is none. */
export function firstRow<Row>(rows: readonly Row[], table: string): Row {
  const row = rows[0];
  if (row === undefined) throw new StoreError('row_missing', `expected a row of ${table} and found none`);
  return row;
}

/**
 * Validates rows by their schema, with columns in camelCase unless the schema is a record. Throws StoreError (`database_row`) that names the invalid
 * columns, without their values.
 */
export function validateRows<Row>(row: z.ZodType<Row>, rows: readonly Readonly<Record<string, unknown>>[]): Row[] {
  const [first] = rows;
  if (first === undefined) return [];
  // All rows of a result have the same columns, so the names are converted once.
  const toName = row instanceof z.ZodRecord ? (column: string) => column : toCamelCase;
  const names = Object.keys(first).map((column) => [column, toName(column)] as const);
  return rows.map((columns) => {
    const candidate: Record<string, unknown> = {};
    for (const [column, name] of names) candidate[name] = columns[column];
    const result = row.safeParse(candidate);
    if (result.success) return result.data;
    const faults = new Set(result.error.issues.map((issue) => `${issue.path.join('.') || 'row'} (${issue.code})`));
    throw new StoreError('database_row', `a row of the database breaks its schema at ${[...faults].join(', ')}`);
  });
}

const toCamelCase = (column: string): string =>
  column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Runs several queries on one snapshot of the database, so that their results are consistent. */
export function readAtOnce<T>(database: Database, work: (snapshot: Queryable) => Promise<T>): Promise<T> {
  return database.transaction(async (transaction) => {
    await transaction.execute('set transaction isolation level repeatable read, read only');
    return work(transaction);
  });
}

/** Detects calls from inside a transaction's work, so that a use of the database there fails instead of hanging. */
export class TransactionScope {
  /** Tests only: on Node 20 it makes every promise of the process dearer, by a fifth of the processor time of all searches. */
  static isDetecting = false;
  readonly #storage = TransactionScope.isDetecting ? new AsyncLocalStorage<{ isOpen: boolean }>() : null;

  /** Throws StoreError when called from inside a transaction's work. */
  assertOutside(): void {
    if (!this.#storage?.getStore()?.isOpen) return;
    throw new StoreError(
      'transaction_nested',
      'the database was used inside its own transaction; use the transaction passed to the work',
    );
  }

  /** Runs `work` as the inside of a transaction. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#storage === null) return work();
    const scope = { isOpen: true };
    try {
      return await this.#storage.run(scope, work);
    } finally {
      scope.isOpen = false;
    }
  }
}

/** The state of a transaction: whether it has ended, and whether a statement failed. The driver keeps the order of statements. */
export class TransactionState {
  #ended = false;
  #failed = false;
  #loss: DatabaseError | undefined;
  readonly #underWay = new Set<Promise<unknown>>();

  /** Runs one statement; throws StoreError after the end of the transaction. */
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

  /** The lost connection that a statement reported, also where the work caught the error. */
  get loss(): DatabaseError | undefined {
    return this.#loss;
  }

  /** Refuses further statements and waits for those in progress. */
  async end(): Promise<void> {
    this.#ended = true;
    await Promise.allSettled(this.#underWay);
  }

  /** Throws StoreError when a statement failed: Postgres would answer the commit with a rollback, without an error. */
  assertIntact(): void {
    if (this.#failed) {
      throw new StoreError('transaction_aborted', 'a statement of the transaction failed, so nothing was stored');
    }
  }
}

/** Rolls a transaction back without an error for the caller. */
class RolledBack<T> extends Error {
  constructor(readonly result: T) {
    super('rolled back');
  }
}

/** Runs `work` in a transaction that is committed only if `isKept` accepts the result; returns the result and whether it was committed. */
export async function tryOut<T>(
  database: Database,
  work: (transaction: Transaction) => Promise<T>,
  isKept: (result: T) => boolean,
  options: { runsOnce?: boolean } = {},
): Promise<{ isApplied: boolean; result: T }> {
  let tried: RolledBack<T> | undefined;
  try {
    const result = await database.transaction(async (transaction) => {
      const result = await work(transaction);
      if (isKept(result)) return result;
      tried = new RolledBack(result);
      throw tried;
    }, options);
    return { isApplied: true, result };
  } catch (error) {
    if (tried === undefined || error !== tried) throw error;
    return { isApplied: false, result: tried.result };
  }
}

/** No entry of the roster may be lost: throws StoreError unless all rows were written; `what` names them. */
export function requireAll(saved: number, expected: number, what = 'parties'): void {
  if (saved === expected) return;
  throw new StoreError(
    'roster_not_whole',
    `only ${saved} of ${expected} ${what} of the roster could be stored, so the roster was not stored; please report this`,
  );
}

/** The value of a key; throws StoreError that names the table when there is none. */
export function requireFound<Key, Value>(found: ReadonlyMap<Key, Value>, key: Key, table: string): Value {
  const value = found.get(key);
  if (value === undefined) throw new StoreError('row_missing', `expected a row of ${table} and found none`);
  return value;
}
