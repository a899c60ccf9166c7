import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { StoreError } from '../../errors.js';
import { isBusy, Reconnecting, type ReconnectOptions } from './connections.js';
import {
  type Database,
  DatabaseError,
  readValue,
  type Transaction,
  TransactionScope,
  TransactionState,
  toDatabaseError,
  validateRows,
} from './database.js';
import { rawSql, type Sql, sql, toStatement } from './statement.js';
import { columnParsers } from './values.js';

// The parsers rely on these; a server, a database or a role may have other defaults, and a pooler may hand on the schema of another session.
// Idle cursors must not be ended. Views like ours look expensive to the planner: compiling and parallel workers took longer than what they were for (a
// page of searches 76 instead of 31 ms).
const toSessionSettings = ({ statementTimeoutMs = 0, schema }: SessionSetup): string => `
  set time zone 'UTC';
  set datestyle = 'ISO, YMD';
  set bytea_output = 'hex';
  set standard_conforming_strings = on;
  set statement_timeout = ${statementTimeoutMs};
  set idle_in_transaction_session_timeout = 0;
  set default_transaction_isolation = 'read committed';
  set jit = off;
  set max_parallel_workers_per_gather = 0;
  ${schema === undefined ? 'reset search_path' : `set search_path = ${pg.escapeIdentifier(schema)}`};
`;

interface SessionSetup {
  /** The server's time limit of a statement; without it there is none. */
  statementTimeoutMs?: number | undefined;
  /** The only schema that names are looked up in; without it, as the server has it. */
  schema?: string | undefined;
}

const idleLimitMs = 8_000;
const poolSize = 4;
const roomWaitMs = 100;

// Without it a server notices a lost client only at its next answer, and keeps the statement and its locks until then (23.6 s measured). It
// exists since Postgres 14, not on every system; a refusal is ignored.
const watchClient = "client_connection_check_interval = '1s'";

const serverSql = `pg_postmaster_start_time()::text || '/' || coalesce(pg_stat_get_bgwriter_stat_reset_time()::text, '')`;

/** A database on a Postgres server. Connections are opened on demand, so the first query throws when the server is unreachable. */
export class PostgresDatabase implements Database {
  readonly dialect = 'postgres';
  readonly #config: pg.ClientConfig;
  readonly #setup: SessionSetup;
  readonly #pool: pg.Pool;
  readonly #scope = new TransactionScope();
  readonly #reconnecting: Reconnecting;
  #closed: Promise<void> | undefined;

  constructor(config: pg.ClientConfig, reconnect: ReconnectOptions = {}, setup: SessionSetup = {}) {
    this.#config = config;
    this.#setup = setup;
    this.#reconnecting = new Reconnecting(reconnect);
    // Statements that do not wait for one another are sent together: each wait costs a turn of a busy event loop.
    const pipelined = { ...config, pipeline: true };
    this.#pool = new pg.Pool({
      ...pipelined,
      max: poolSize,
      onConnect: (client) => prepareSession(client, config, setup),
    });
    // The next query replaces a broken idle connection; without these listeners it would end the process.
    this.#pool.on('error', ignore);
    this.#pool.on('connect', (client) => client.on('error', ignore));
  }

  async query<Row>(row: z.ZodType<Row>, statement: string | Sql): Promise<Row[]> {
    const result = await this.#runAlone((client) => runStatement(client, statement));
    return validateRows(row, result.rows);
  }

  async execute(statement: string | Sql): Promise<number> {
    const result = await this.#runAlone((client) => runStatement(client, statement));
    return result.rowCount ?? 0;
  }

  async runScript(sql: string): Promise<void> {
    await this.#runAlone((client) => runScript(client, sql));
  }

  async transaction<T>(
    work: (transaction: Transaction) => Promise<T>,
    { runsOnce = false }: { runsOnce?: boolean } = {},
  ): Promise<T> {
    this.#scope.assertOutside();
    const attempt = (client: pg.PoolClient): Promise<T> =>
      this.#transact(client, (state, mark) => this.#scope.run(() => work(toTransaction(client, state, mark))));
    if (runsOnce) return attempt(await this.#reconnecting.repeat(() => this.#connect()));
    return this.#reconnecting.repeat(async () => attempt(await this.#connect()));
  }

  /** Throws at once when the server cannot be reached, because a wrong address needs no wait; a busy server is waited for. */
  async probe(): Promise<void> {
    release(await this.#reconnecting.repeat(() => this.#connect(), isBusy));
    this.#reconnecting.noteAnswer();
  }

  /** Runs a single statement in a transaction too, so that its commit can be verified when the answer is lost. */
  async #runAlone<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    this.#scope.assertOutside();
    const inTransaction = (client: pg.PoolClient): Promise<T> =>
      this.#transact(client, async (state, mark) => {
        const working = state.run(() => work(client));
        mark();
        return working;
      });
    try {
      return await this.#reconnecting.repeat(async () => inTransaction(await this.#connect()));
    } catch (error) {
      if (!(error instanceof DatabaseError && error.sqlState === needsNoTransaction)) throw error;
    }
    const client = await this.#connect();
    return work(client).finally(() => release(client));
  }

  /** Where the server has no room for one more connection, the work waits for those that are open. */
  async #connect(): Promise<pg.PoolClient> {
    for (;;) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        const failure = toDatabaseError(error);
        const isWithoutRoom = failure instanceof DatabaseError && failure.isWithoutRoom;
        if (!isWithoutRoom || this.#pool.totalCount === 0) throw failure;
        await delay(roomWaitMs);
      }
    }
  }

  /** Runs one transaction on a connection and releases it. */
  async #transact<T>(client: pg.PoolClient, work: TransactionWork<T>): Promise<T> {
    const { result, doubt } = await this.#attempt(client, work);
    if (doubt) await this.#decide(doubt);
    return result;
  }

  async #attempt<T>(client: pg.PoolClient, work: TransactionWork<T>): Promise<{ result: T; doubt?: CommitDoubt }> {
    const state = new TransactionState();
    let isBroken = false;
    let ending: Promise<unknown> = Promise.resolve();
    try {
      // A writer that is stopped in the middle must not keep the row of its lease locked. Sent together with the work's first statement: where it
      // fails, the connection is lost.
      const begun = runScript(client, `begin; set local idle_in_transaction_session_timeout = ${idleLimitMs}`);
      begun.catch(ignore);
      let marked: Promise<string | null> | undefined;
      const mark = (): void => {
        marked ??= readTransactionId(client);
        marked.catch(ignore);
      };
      const result = await work(state, mark);
      await begun;
      await state.end();
      state.assertIntact();
      const id = (await marked) ?? (await readTransactionId(client));
      this.#reconnecting.noteAnswer();
      if (id === null) {
        // A transaction without writes cannot fail at its end.
        ending = client.query('commit').catch(ignore);
        return { result };
      }
      try {
        await runScript(client, 'commit');
        return { result };
      } catch (error) {
        if (!this.#reconnecting.isEnabled || !this.#reconnecting.isPassing(error)) throw error;
        isBroken = true;
        return { result, doubt: { id, server: servers.get(client) ?? '', error } };
      }
    } catch (error) {
      await state.end();
      const failure = state.loss ?? error;
      // The server rolls back by itself; a connection to a server that refuses writes for now is closed as well.
      isBroken = this.#reconnecting.isPassing(failure) || isUnanswered(failure);
      if (!isBroken) await client.query('rollback').catch(ignore);
      throw failure;
    } finally {
      void ending.then(() => client.release(isBroken || client.getTransactionStatus() !== 'I'));
    }
  }

  /**
   * Returns when a transaction whose commit had no answer was committed. Throws the loss itself when it was not, and DatabaseError
   * `commit_undecided` when it cannot be known.
   */
  async #decide({ id, server, error }: CommitDoubt): Promise<void> {
    for (;;) {
      const { isSame, status } = await this.#readStatus(id, server);
      if (status === 'committed' && isSame) return;
      // A crashed or another server may have reused the number: then the committed transaction is another one.
      if (status === null || status === 'committed') throw toUndecided(error);
      if (status === 'aborted' || !isSame) throw error;
      // Its session has not noticed yet that the connection is lost.
      await delay(100);
    }
  }

  async #readStatus(id: string, before: string): Promise<{ isSame: boolean; status: string | null }> {
    try {
      const [row] = await this.query(
        statusRow,
        sql`select ${rawSql(serverSql)} as server, txid_status(${id}::bigint) as status`,
      );
      return { isSame: row?.server === before, status: row?.status ?? null };
    } catch (error) {
      // A number in the future: the server lost the transaction in a crash.
      const isUnknown = error instanceof DatabaseError && error.sqlState === invalidParameter;
      if (isUnknown) return { isSame: false, status: 'aborted' };
      throw toUndecided(error);
    }
  }

  async *cursor<Row>(row: z.ZodType<Row>, statement: string | Sql, batchSize: number): AsyncGenerator<Row[]> {
    this.#scope.assertOutside();
    // A separate connection: a reader may use it for hours, and the pool must not run out.
    const client = await this.#reconnecting.repeat(() => connect(this.#config, this.#setup));
    try {
      // With hold: a snapshot open for hours would prevent the whole database from reclaiming updated rows.
      await runScript(client, 'begin; set local idle_in_transaction_session_timeout = 0');
      const rows = typeof statement === 'string' ? rawSql(statement) : statement;
      await runStatement(client, sql`declare batches no scroll cursor with hold for ${rows}`);
      await runScript(client, 'commit');
      for (;;) {
        const batch = await runStatement(client, `fetch forward ${batchSize} from batches`);
        if (batch.rows.length > 0) yield validateRows(row, batch.rows);
        if (batch.rows.length < batchSize) return;
      }
    } finally {
      await client.end().catch(ignore);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#pool.end();
    return this.#closed;
  }
}

function toTransaction(client: pg.ClientBase, state: TransactionState, mark: () => void): Transaction {
  const run = async (statement: string | Sql): ReturnType<typeof runStatement> => {
    const running = state.run(() => runStatement(client, statement));
    // Sent after the first statement that may write, so its answer arrives long before the end. A `set` of the isolation level must come first.
    if (typeof statement !== 'string' || !/^\s*set\b/i.test(statement)) mark();
    return running;
  };
  return {
    query: async (row, statement) => validateRows(row, (await run(statement)).rows),
    execute: async (statement) => (await run(statement)).rowCount ?? 0,
    runScript: (sql) => state.run(() => runScript(client, sql)),
  };
}

type TransactionWork<T> = (state: TransactionState, mark: () => void) => Promise<T>;

/** A commit without an answer: the number of the transaction, its server, and the error. */
interface CommitDoubt {
  id: string;
  server: string;
  error: DatabaseError;
}

const isUnanswered = (error: unknown): boolean => error instanceof DatabaseError && error.sqlState === undefined;

/** Closes a connection with an open transaction or a broken wire; 'I' is idle. */
const release = (client: pg.PoolClient): void => client.release(client.getTransactionStatus() !== 'I');

// Such as `create database`.
const needsNoTransaction = '25001';
const invalidParameter = '22023';

const statusRow = z.object({ server: z.string(), status: z.string().nullable() });
const idRow = z.object({ id: z.string().nullable() });

/** The number of the transaction, or null while it has written nothing. */
async function readTransactionId(client: pg.ClientBase): Promise<string | null> {
  const { rows } = await runStatement(client, 'select txid_current_if_assigned()::text as id');
  return validateRows(idRow, rows)[0]?.id ?? null;
}

function toUndecided(error: unknown): DatabaseError {
  const message =
    'the connection to the database was lost during a commit, and it is unknown whether the commit took place, because the database is unreachable, was restarted or was replaced. Start the same command again; it continues from the stored state';
  return new DatabaseError(message, { cause: error, code: 'commit_undecided' });
}

const columnTypes = { getTypeParser: (oid: number) => columnParsers[oid] ?? ((text: string): unknown => text) };

async function runStatement(
  client: pg.ClientBase,
  statement: string | Sql,
): Promise<pg.QueryResult<Record<string, unknown>>> {
  // The extended protocol even without parameters: it takes exactly one statement, as the embedded driver does.
  const query = { ...toStatement(statement), types: columnTypes, queryMode: 'extended' };
  return client.query<Record<string, unknown>>(query).catch(rethrow);
}

async function runScript(client: pg.ClientBase, sql: string): Promise<void> {
  await client.query(sql).catch(rethrow);
}

async function connect(config: pg.ClientConfig, setup: SessionSetup): Promise<pg.Client> {
  const client = new pg.Client(config);
  client.on('error', ignore);
  try {
    await client.connect().catch(rethrow);
    await prepareSession(client, config, setup);
    return client;
  } catch (error) {
    await client.end().catch(ignore);
    throw error;
  }
}

const pidRow = z.object({ pid: z.number() });
const backendRow = pidRow.extend({ server: z.string() });
/** The start time of each connection's server: transaction numbers are valid only within one start. */
const servers = new WeakMap<pg.ClientBase, string>();

/**
 * Sets up a session. Throws StoreError (`pooler_in_transaction_mode`) where other clients get it between two transactions: its settings would be
 * lost, and theirs changed.
 */
async function prepareSession(client: pg.ClientBase, config: pg.ClientConfig, setup: SessionSetup): Promise<void> {
  const { rows } = await runStatement(client, `select pg_backend_pid() as pid, ${serverSql} as server`);
  const [backend] = validateRows(backendRow, rows);
  servers.set(client, backend?.server ?? '');
  // A pooler gives its clients process ids of its own.
  const reported = 'processID' in client ? client.processID : undefined;
  if (backend?.pid !== reported && (await isSessionShared(client, config))) {
    throw new StoreError(
      'pooler_in_transaction_mode',
      'DATABASE_URL names a pooler in transaction mode; Nightscreen needs sessions of its own, and nothing was read or written',
    );
  }
  await runScript(client, toSessionSettings(setup));
  await client.query(`set ${watchClient}`).catch(ignore);
}

/** Whether another client can get the server's session of this one between two transactions. A pooler may take turns: three rounds show it. */
async function isSessionShared(client: pg.ClientBase, config: pg.ClientConfig): Promise<boolean> {
  const other = new pg.Client(config);
  other.on('error', ignore);
  try {
    await other.connect().catch(rethrow);
    for (let round = 0; round < 3; round += 1) {
      const before = await readPid(client);
      await runScript(other, 'begin');
      const taken = await readPid(other);
      const after = await readPid(client);
      await runScript(other, 'rollback');
      if (taken === before || after !== before) return true;
    }
    return false;
  } finally {
    await other.end().catch(ignore);
  }
}

async function readPid(client: pg.ClientBase): Promise<number | undefined> {
  const { rows } = await runStatement(client, 'select pg_backend_pid() as pid');
  return validateRows(pidRow, rows)[0]?.pid;
}

function rethrow(error: unknown): never {
  throw toDatabaseError(error);
}

function ignore(): void {}

const connectTimeoutMs = 10_000;
const graceMs = 1_000;

/** The pg settings of a URL, TLS included; the session is named after `owner`, and `queryTimeoutMs` 0 is no time limit. */
export function postgresConfig(url: string, owner: string, queryTimeoutMs = 0): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: `nightscreen ${owner}`.slice(0, 63),
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    // The server's own time limit is shorter.
    ...(queryTimeoutMs > 0 && { query_timeout: queryTimeoutMs + graceMs }),
  };
}

/** The server as `host:port/database`, without user and password; throws StoreError for an invalid URL. */
export function describeServer(config: pg.ClientConfig): string {
  try {
    const client = new pg.Client(config);
    return `${client.host}:${client.port}/${client.database ?? ''}`;
  } catch {
    // The parser's error contains the whole URL, so it is not the cause.
    throw new StoreError(
      'database_unreachable',
      'the database URL is not valid; expected postgres://user:password@host:5432/database',
    );
  }
}

/** The database login of this session; null on the embedded database, which has one login only. */
export async function findLogin(database: Database): Promise<string | null> {
  if (database.dialect === 'embedded') return null;
  return readValue(database, z.string(), 'select session_user::text as login');
}
