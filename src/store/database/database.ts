import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';
import { type ErrorContext, NightscreenError, StoreError } from '../../errors.js';

/**
 * Runs single SQL statements. A parameter is a string, number, boolean, null, Date, Buffer or Uint8Array, or an array of strings or
 * numbers; JSON goes as a string through `$1::text::jsonb`.
 */
export interface Queryable {
  /** The rows, their columns in camelCase, each validated by `row`; throws DatabaseError when the database refuses, StoreError when a row breaks the schema. */
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

/** One database behind either driver; both give the same JavaScript types for the same SQL. */
export interface Database extends Queryable {
  readonly dialect: 'postgres' | 'embedded';
  /**
   * Commits what `work` did, or rolls it back when it throws; a statement that failed inside fails the whole, even if `work` caught
   * it. Inside `work` the database itself must not be used (throws StoreError `transaction_nested`): the embedded one would wait for ever.
   * On a server `work` runs again after a rollback by a deadlock, a serialisation failure or a lost connection: what it leaves outside of
   * the transaction must be the same after two runs as after one. `runsOnce` prevents the repetition, for
   * effects outside of the database that must not happen twice, such as lines in a file.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, options?: { runsOnce?: boolean }): Promise<T>;
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
interface DatabaseErrorContext extends ErrorContext {
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

  /** Whether the server has rolled a transaction back because of others at the same moment, so that a repetition may succeed. */
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

/** Turns what a driver threw into a DatabaseError that holds no value of any row or parameter; errors of our own tree pass unchanged. */
export function toDatabaseError(error: unknown): NightscreenError {
  if (error instanceof NightscreenError) return error;
  const answer = serverFailure.safeParse(error);
  if (answer.success) {
    const message = describeRefusal(answer.data);
    return new DatabaseError(message, {
      cause: withoutValues(error, message),
      sqlState: answer.data.code,
      constraint: answer.data.constraint,
      isConnectionLost: endedStates.has(answer.data.code) || answer.data.code.startsWith('08'),
    });
  }
  const message = describeFailure(error);
  return new DatabaseError(message, {
    cause: withoutValues(error, message),
    sqlState: undefined,
    constraint: undefined,
    isConnectionLost: isOfTheWire(error),
  });
}

// The server shuts down, has crashed or starts up, or has ended a session that was idle for too long.
const endedStates = new Set(['57P01', '57P02', '57P03', '57P05', '25P03']);

const wireCodes = /^(ECONN|EPIPE|ENOTCONN|EHOST|ENET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;
// The driver gives these no code.
const wireMessages =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/;

function isOfTheWire(error: unknown): boolean {
  const failure = connectionFailure.safeParse(error);
  if (!failure.success) return false;
  const { code = '', message } = failure.data;
  return wireCodes.test(code) || wireMessages.test(message);
}

/** One line on why a connection or a driver failed; never the password, the URL or a value. */
function describeFailure(error: unknown): string {
  if (error instanceof NightscreenError) return error.message;
  const answer = serverFailure.safeParse(error);
  if (answer.success) return describeRefusal(answer.data);
  const failure = connectionFailure.safeParse(error);
  if (!failure.success) {
    // What the embedded database throws when its files fail it has a number and nothing else.
    const number = fileFailure.safeParse(error);
    return `the database driver failed${number.success ? ` on its files (errno ${number.data.errno}); is the disk full?` : ''}`;
  }
  const { code, message } = failure.data;
  // Refused on every address of a host: an AggregateError, whose own message is empty.
  return [message, code && !message.includes(code) ? `(${code})` : ''].filter(Boolean).join(' ') || 'no reason given';
}

// A deadlock, and what could not be put in one order: a repetition finds the others done.
const atOnceStates = new Set(['40P01', '40001']);

function describeRefusal(answer: z.infer<typeof serverFailure>): string {
  if (atOnceStates.has(answer.code)) {
    return 'somebody else was at work on the same at the same moment, so nothing of this was stored: say it again';
  }
  // Data exceptions (class 22) quote the offending value; what the other classes quote are names of our own schema and SQL.
  const reason = answer.code.startsWith('22') ? 'a value does not fit its type or range' : answer.message;
  const where = [answer.table, answer.column].filter(Boolean).join('.');
  return `${reason}${where && !reason.includes(where) ? ` at ${where}` : ''} (SQLSTATE ${answer.code})`;
}

/** Drivers hang parameters, row values and whole statements on their errors; the copy keeps the name and the stack frames only. */
function withoutValues(error: unknown, message: string): Error {
  const copy = new Error(message);
  if (!(error instanceof Error)) return copy;
  copy.name = error.name;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  copy.stack = [`${error.name}: ${message}`, ...frames].join('\n');
  return copy;
}

/** A statement and its parameters. */
type Statement = [sql: string, parameters?: readonly unknown[]];

/** The first row of a statement; null where it gives none. */
export async function findRow<Row>(database: Queryable, row: z.ZodType<Row>, ...statement: Statement) {
  const [first] = await database.query(row, ...statement);
  return first ?? null;
}

/** What a statement of one column gives. */
export async function readColumn<Value>(database: Queryable, value: z.ZodType<Value>, ...statement: Statement) {
  const rows = await database.query(z.record(z.string(), value), ...statement);
  return rows.flatMap((row) => Object.values(row));
}

/** The value of a statement of one column; null where it gives no row. */
export async function findValue<Value>(database: Queryable, value: z.ZodType<Value>, ...statement: Statement) {
  const [first] = await readColumn(database, value, ...statement);
  return first ?? null;
}

/** The value of a statement of one row and one column; throws StoreError `row_missing` when it gives no row. */
export async function readValue<Value>(database: Queryable, value: z.ZodType<Value>, ...statement: Statement) {
  const [first] = await readColumn(database, value, ...statement);
  if (first === undefined) {
    const [sql] = statement;
    throw new StoreError(
      'row_missing',
      `expected a row and found none: ${sql.trim().replace(/\s+/g, ' ').slice(0, 80)}`,
    );
  }
  return first;
}

/** The one row that a statement must give; throws StoreError naming the table when there is none. */
export function firstRow<Row>(rows: readonly Row[], table: string): Row {
  const row = rows[0];
  if (row === undefined) throw new StoreError('row_missing', `expected a row of ${table} and found none`);
  return row;
}

/**
 * The rows as their schema types them, their columns in camelCase unless the schema is a record of any columns; throws StoreError
 * (`database_row`) that names the columns at fault, never their values.
 */
export function validateRows<Row>(row: z.ZodType<Row>, rows: readonly Readonly<Record<string, unknown>>[]): Row[] {
  const [first] = rows;
  if (first === undefined) return [];
  // All rows of a result have the same columns: their names are converted once.
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

/** The name of a column as a row has it. */
const toCamelCase = (column: string): string =>
  column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Runs several queries over one state of the database, so that what they give fits together whatever is committed meanwhile. */
export function readAtOnce<T>(database: Database, work: (snapshot: Queryable) => Promise<T>): Promise<T> {
  return database.transaction(async (transaction) => {
    await transaction.execute('set transaction isolation level repeatable read, read only');
    return work(transaction);
  });
}

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

/**
 * The statement that inserts a row, each property into the column of the same name in snake_case, with its parameters; objects go as JSON, and
 * so do arrays that the caller has made a string of. `ending` is the rest of the statement.
 */
export function toInsert(
  table: string,
  row: Readonly<Record<string, unknown>>,
  ending = '',
): [sql: string, parameters: readonly unknown[]] {
  const columns = Object.keys(row).map(toSnakeCase).join(', ');
  const values = Object.values(row).map((value) => (isPlainObject(value) ? JSON.stringify(value) : (value ?? null)));
  const places = values.map((_, index) => `$${index + 1}`).join(', ');
  return [`insert into ${table} (${columns}) values (${places}) ${ending}`, values];
}

/** The same; a row that has the same key is replaced: all that is not of the key is as given. */
export function toUpsert(table: string, row: Readonly<Record<string, unknown>>, key: readonly string[]) {
  const names = Object.keys(row).map(toSnakeCase);
  const others = names.filter((name) => !key.includes(name)).map((name) => `${name} = excluded.${name}`);
  return toInsert(table, row, `on conflict (${key.join(', ')}) do update set ${others.join(', ')}`);
}

const isPlainObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** The column of a property. */
const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Ends a transaction that must leave nothing behind. */
class RolledBack<T> extends Error {
  constructor(readonly result: T) {
    super('rolled back');
  }
}

/** Does \`work\` in a transaction that is kept only where \`isKept\` says so of what it came to; gives that, and whether it was kept. */
export async function tryOut<T>(
  database: Database,
  work: (transaction: Transaction) => Promise<T>,
  isKept: (result: T) => boolean,
): Promise<{ isApplied: boolean; result: T }> {
  let tried: RolledBack<T> | undefined;
  try {
    const result = await database.transaction(async (transaction) => {
      const result = await work(transaction);
      if (isKept(result)) return result;
      tried = new RolledBack(result);
      throw tried;
    });
    return { isApplied: true, result };
  } catch (error) {
    if (tried === undefined || error !== tried) throw error;
    return { isApplied: false, result: tried.result };
  }
}

/** Gathers the parameters of a statement that is put together from parts. */
export interface Bindings {
  /** Takes a value; gives the placeholder that stands for it, typed as `type`. */
  bind(value: unknown, type: string): string;
  readonly values: readonly unknown[];
}

/** Begins with no parameters. */
export function openBindings(): Bindings {
  const values: unknown[] = [];
  return {
    values,
    bind: (value, type) => {
      values.push(value);
      return `$${values.length}::${type}`;
    },
  };
}

/** Nobody whom the roster names may be left out: throws StoreError unless as many rows were written as were to be; `what` names them. */
export function requireAll(saved: number, expected: number, what = 'parties'): void {
  if (saved === expected) return;
  throw new StoreError(
    'roster_not_whole',
    `${saved} of ${expected} ${what} of the roster could be stored, so nothing of it was; please report this`,
  );
}

/** What was paid for is kept whole or not at all: throws StoreError unless as many rows of a table were written as were to be. */
export function requireRows(written: number, expected: number, table: string): void {
  if (written === expected) return;
  throw new StoreError(
    'rows_missing',
    `${written} of ${expected} rows of ${table} could be written, so the transaction was taken back; please report this`,
  );
}

/** What a statement gave for this key; throws StoreError naming the table when it gave nothing. */
export function requireFound<Key, Value>(found: ReadonlyMap<Key, Value>, key: Key, table: string): Value {
  const value = found.get(key);
  if (value === undefined) throw new StoreError('row_missing', `expected a row of ${table} and found none`);
  return value;
}
