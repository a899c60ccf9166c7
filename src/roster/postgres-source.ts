import { createHash } from 'node:crypto';
import pg from 'pg';
import { ConfigError, RosterError } from '../errors.js';
import { bindColumns, type ColumnBinding } from './bind-columns.js';
import { checkRow } from './check-row.js';
import type { RosterRow } from './customer.js';
import { toConnectError, toQueryError } from './postgres-error.js';
import { type PostgresRow, parsePostgresValue } from './postgres-value.js';
import type { RosterReading } from './roster-reading.js';
import type { ColumnSettings, PostgresSettings } from './settings.js';

const batchSize = 500;
const connectTimeoutMs = 15_000;
/** For each fetch, the first of which may have to sort the whole result. */
const statementTimeoutMs = 10 * 60_000;

/**
 * Opens the rows of a query in one read-only snapshot; throws ConfigError when the variable is not set, RosterError when the
 * database cannot be reached, refuses the query, or the result is empty or lacks a mapped column.
 */
export async function readPostgresRoster(
  name: string,
  postgres: PostgresSettings,
  columns: ColumnSettings,
  secret: (name: string) => string | undefined,
): Promise<RosterReading> {
  const source = `postgres query ${name}`;
  const client = await connect(readUrl(name, postgres.urlEnv, secret), postgres.urlEnv, source);
  try {
    await openCursor(client, postgres.query, source);
    const first = await fetchBatch(client, source);
    const binding = bindColumns(columns, first.headers, source);
    if (first.rows.length === 0) {
      throw new RosterError('roster_empty', `${source}: the query gave no rows. Nothing was changed; check the query.`);
    }
    return toReading(client, binding, first.rows, source);
  } catch (error) {
    await disconnect(client);
    throw error;
  }
}

function toReading(client: pg.Client, binding: ColumnBinding, first: PostgresRow[], source: string): RosterReading {
  const hash = createHash('sha256').update(`${JSON.stringify(binding.headers)}\n`);
  let digest: string | null = null;
  async function* readRows(): AsyncGenerator<readonly RosterRow[], void, undefined> {
    let line = 0;
    try {
      for (let batch = first; batch.length > 0; batch = (await fetchBatch(client, source)).rows) {
        yield batch.map((row) => {
          hash.update(`${JSON.stringify(row)}\n`);
          line += 1;
          return checkRow(
            binding,
            line,
            row.map((value) => value ?? ''),
          );
        });
      }
      digest = hash.digest('hex');
    } finally {
      await disconnect(client);
    }
  }
  const rows = readRows();
  return {
    source,
    headers: binding.headers,
    tally: () => ({ lines: 0, headers: 0, blanks: 0, continuations: 0, records: 0 }),
    rows,
    digest: () => {
      if (digest === null) throw new RosterError('roster_not_read', `${source}: has not been read to its end.`);
      return digest;
    },
    close: async () => {
      await rows.return();
      await disconnect(client);
    },
  };
}

function readUrl(name: string, urlEnv: string, secret: (name: string) => string | undefined): string {
  const url = secret(urlEnv);
  if (url !== undefined && url !== '') return url;
  const message = `is not set; roster ${name} reads its connection string from it`;
  throw new ConfigError([{ where: 'environment', path: urlEnv, message }]);
}

async function connect(url: string, urlEnv: string, source: string): Promise<pg.Client> {
  const client = createClient(url, urlEnv, source);
  // A connection lost between two fetches fails the next fetch; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await disconnect(client);
    throw toConnectError(error, source, `${client.host}:${client.port}`);
  }
}

function createClient(url: string, urlEnv: string, source: string): pg.Client {
  try {
    return new pg.Client({
      connectionString: url,
      application_name: 'nightscreen roster',
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
    });
  } catch {
    // The parser's own error quotes the whole string, password included.
    throw new RosterError('database_url_invalid', `${source}: ${urlEnv} holds no valid Postgres connection string.`);
  }
}

async function openCursor(client: pg.Client, query: string, source: string): Promise<void> {
  try {
    await client.query('begin read only isolation level repeatable read');
    // Rows in the same order while the table stays the same, so that the digest stays the same too.
    await client.query('set local synchronize_seqscans = off');
    await client.query('set local cursor_tuple_fraction = 1');
    await client.query(`set local statement_timeout = ${statementTimeoutMs}`);
    await client.query("set local datestyle = 'ISO, YMD'");
    // The extended protocol takes one statement only, so nothing behind a semicolon can leave the transaction.
    const declaration = {
      text: `declare roster no scroll cursor for ${query.replace(/[\s;]+$/, '')}`,
      queryMode: 'extended',
    };
    await client.query(declaration);
  } catch (error) {
    throw toQueryError(error, source);
  }
}

async function fetchBatch(client: pg.Client, source: string): Promise<{ headers: string[]; rows: PostgresRow[] }> {
  try {
    const result = await client.query<PostgresRow>({
      text: `fetch ${batchSize} from roster`,
      rowMode: 'array',
      types: { getTypeParser: parsePostgresValue },
    });
    return { headers: result.fields.map((field) => field.name), rows: result.rows };
  } catch (error) {
    throw toQueryError(error, source);
  }
}

async function disconnect(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}
