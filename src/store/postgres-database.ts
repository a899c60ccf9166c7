import pg from 'pg';
import { z } from 'zod';
import { columnParser } from './column-types.js';
import { copyIn } from './copy-in.js';
import type { Database, Transaction } from './database.js';
import { toDatabaseError } from './database-errors.js';
import { toParameters } from './parameters.js';
import { TransactionScope } from './transaction-scope.js';
import { TransactionState } from './transaction-state.js';
import { validateRows } from './validate-rows.js';

const poolSize = 4;

// What the drivers' types rely on; a server, a database or a role may have other defaults. Quiet cursors must not be cut off.
const sessionSettings = `
  set time zone 'UTC';
  set datestyle = 'ISO, YMD';
  set bytea_output = 'hex';
  set standard_conforming_strings = on;
  set statement_timeout = 0;
  set idle_in_transaction_session_timeout = 0;
  set default_transaction_isolation = 'read committed';
`;

const idleLimitMs = 8_000;

// The same for one transaction: through a transaction-mode pooler nothing else reaches the session that runs it.
const beginPooled = `
  begin isolation level read committed;
  set local time zone 'UTC';
  set local datestyle = 'ISO, YMD';
  set local bytea_output = 'hex';
  set local standard_conforming_strings = on;
  set local statement_timeout = 0`;

/** A Database on a Postgres server; connections are made when needed, so the first query throws when the server is unreachable. */
export class PostgresDatabase implements Database {
  readonly dialect = 'postgres';
  readonly #config: pg.ClientConfig;
  readonly #pool: pg.Pool;
  readonly #scope = new TransactionScope();
  #closed: Promise<void> | undefined;

  constructor(config: pg.ClientConfig) {
    this.#config = config;
    // Statements that do not wait for one another go out together: each wait costs a turn of a busy event loop.
    const pipelined = { ...config, pipeline: true };
    this.#pool = new pg.Pool({ ...pipelined, max: poolSize, onConnect: prepareSession });
    // A connection that breaks while idle is replaced by the next query; without listeners it would end the process.
    this.#pool.on('error', ignore);
    this.#pool.on('connect', (client) => client.on('error', ignore));
  }

  async query<Row>(row: z.ZodType<Row>, sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const result = await this.#withClient((client) => runStatement(client, sql, parameters));
    return validateRows(row, result.rows);
  }

  async execute(sql: string, parameters: readonly unknown[] = []): Promise<number> {
    const result = await this.#withClient((client) => runStatement(client, sql, parameters));
    return result.rowCount ?? 0;
  }

  async runScript(sql: string): Promise<void> {
    await this.#withClient((client) => runScript(client, sql));
  }

  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#withClient(async (client) => {
      const state = new TransactionState();
      // A writer that is stopped in the middle must not keep its lease's row locked against whoever takes over. Sent together with the
      // work's first statement: where it fails, the connection is gone.
      const begun = runScript(
        client,
        `${toBegin(client)}; set local idle_in_transaction_session_timeout = ${idleLimitMs}`,
      );
      begun.catch(ignore);
      try {
        const result = await this.#scope.run(() => work(toTransaction(client, state)));
        await begun;
        await state.end();
        state.assertIntact();
        await runScript(client, 'commit');
        return result;
      } catch (error) {
        await state.end();
        // Where even this fails the connection is gone, and the server rolls back by itself.
        await client.query('rollback').catch(ignore);
        throw error;
      }
    });
  }

  async *cursor<Row>(
    row: z.ZodType<Row>,
    sql: string,
    parameters: readonly unknown[],
    batchSize: number,
  ): AsyncGenerator<Row[]> {
    this.#scope.assertOutside();
    // Its own connection: a reader that holds one for hours must not starve the pool.
    const client = new pg.Client(this.#config);
    client.on('error', ignore);
    try {
      await connect(client);
      const isPooled = pooled.has(client);
      await runScript(client, `${toBegin(client)}; set local idle_in_transaction_session_timeout = 0`);
      // With hold: a snapshot that stays open for hours keeps the whole database from reclaiming what is updated meanwhile. A pooler
      // would give the session that holds the rows to somebody else, so there the transaction has to stay open.
      const hold = isPooled ? '' : 'with hold';
      await runStatement(client, `declare batches no scroll cursor ${hold} for ${sql}`, parameters);
      if (!isPooled) await runScript(client, 'commit');
      for (;;) {
        const batch = await runStatement(client, `fetch forward ${batchSize} from batches`, []);
        if (batch.rows.length > 0) yield validateRows(row, batch.rows);
        if (batch.rows.length < batchSize) return;
      }
    } finally {
      // A pooler drops a session that is left in the middle of a transaction.
      if (pooled.has(client)) await client.query('rollback').catch(ignore);
      await client.end().catch(ignore);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#pool.end();
    return this.#closed;
  }

  async #withClient<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    this.#scope.assertOutside();
    const client = await this.#pool.connect().catch(rethrow);
    try {
      return await work(client);
    } finally {
      // 'I' is idle; whatever else a failure left behind (an open transaction, a broken wire) goes with its connection.
      client.release(client.getTransactionStatus() !== 'I');
    }
  }
}

function toTransaction(client: pg.ClientBase, state: TransactionState): Transaction {
  return {
    query: async (row, sql, parameters = []) => {
      const result = await state.run(() => runStatement(client, sql, parameters));
      return validateRows(row, result.rows);
    },
    execute: async (sql, parameters = []) => {
      const result = await state.run(() => runStatement(client, sql, parameters));
      return result.rowCount ?? 0;
    },
    runScript: (sql) => state.run(() => runScript(client, sql)),
    copyIn: (sql, rows) => state.run(() => copyIn(client, sql, rows).catch(rethrow)),
  };
}

const columnTypes = { getTypeParser: columnParser };

async function runStatement(
  client: pg.ClientBase,
  sql: string,
  parameters: readonly unknown[],
): Promise<pg.QueryResult<Record<string, unknown>>> {
  // The extended protocol even without parameters: it takes exactly one statement, as the embedded driver does.
  const statement = { text: sql, values: toParameters(parameters), types: columnTypes, queryMode: 'extended' };
  return client.query<Record<string, unknown>>(statement).catch(rethrow);
}

async function runScript(client: pg.ClientBase, sql: string): Promise<void> {
  await client.query(sql).catch(rethrow);
}

async function connect(client: pg.Client): Promise<void> {
  await client.connect().catch(rethrow);
  await prepareSession(client);
}

const backendRow = z.object({ pid: z.number() });
/** The connections that lead through a pooler. */
const pooled = new WeakSet<pg.ClientBase>();

/**
 * Prepares a session that is ours. A pooler's go from hand to hand, so that what is set in one would be missing here and surprise others
 * there; it is known by the process ids that it makes up.
 */
async function prepareSession(client: pg.ClientBase): Promise<void> {
  const { rows } = await runStatement(client, 'select pg_backend_pid() as pid', []);
  const told = 'processID' in client ? client.processID : undefined;
  if (validateRows(backendRow, rows)[0]?.pid === told) await runScript(client, sessionSettings);
  else pooled.add(client);
}

const toBegin = (client: pg.ClientBase): string => (pooled.has(client) ? beginPooled : 'begin');

function rethrow(error: unknown): never {
  throw toDatabaseError(error);
}

function ignore(): void {}
