import { createHash } from 'node:crypto';
import pg from 'pg';
import { ConfigError, RosterError } from '../errors.js';
import { toDurationMs } from './duration.js';
import {
  fetchRows,
  type MappedColumns,
  openCursor,
  type PostgresRow,
  type RowBatch,
  toConnectError,
  toQueryError,
} from './postgres-cursor.js';
import type { PostgresSettings } from './settings.js';
import { type LineTally, parseTotal, type TableReading, type TableRecord } from './table-reading.js';

const batchSize = 500;

/**
 * Opens the rows of a query or a table in one read-only snapshot; `name` says whose they are. Throws ConfigError when the variable is
 * not set, RosterError when the database cannot be reached, refuses the query, or gives no rows, unless `mayBeEmpty`;
 * also, while `records` are read, for a row that is too wide.
 */
export async function openPostgresTable(
  name: string,
  postgres: PostgresSettings,
  secret: (name: string) => string | undefined,
  columns: MappedColumns & { totalQuery?: string | undefined },
  mayBeEmpty = false,
): Promise<TableReading> {
  const { urlEnv, query, table } = postgres;
  const source = table === undefined ? `postgres query ${name}` : `postgres table ${table}`;
  const statement = table === undefined ? (query ?? '') : toTableStatement(table);
  const timeoutMs = toDurationMs(postgres.statementTimeout);
  const client = await connect(readUrl(name, urlEnv, secret), urlEnv, source, timeoutMs);
  try {
    await openCursor(client, statement, source, timeoutMs, columns.isMapped);
    const fetchNext = (readRows: number, fetchSize: number): Promise<RowBatch> =>
      fetchRows(client, source, timeoutMs, { readRows, fetchSize, id: columns.id });
    const first = await fetchNext(0, firstFetchSize);
    if (first.rows.length === 0 && !mayBeEmpty) {
      const what = table === undefined ? 'the query gave no rows' : 'the table has no rows';
      const check = table === undefined ? 'check the query' : 'check the table';
      throw new RosterError('roster_empty', `${source}: ${what}. Nothing was changed; ${check}.`);
    }
    const reading = toReading(client, first, source, fetchNext);
    if (columns.totalQuery === undefined) return reading;
    return { ...reading, stated: await readTotal(client, columns.totalQuery, source, timeoutMs) };
  } catch (error) {
    await disconnect(client);
    throw error;
  }
}

/** The only figure that a query gives, in the snapshot that is read. */
async function readTotal(client: pg.Client, query: string, source: string, timeoutMs: number): Promise<number> {
  const asked = `${source}, controlTotal`;
  const statement = { text: query, queryMode: 'extended', rowMode: 'array' } as const;
  const { rows } = await client.query<unknown[]>(statement).catch((error: unknown) => {
    throw toQueryError(error, asked, timeoutMs);
  });
  const [row] = rows;
  const total = rows.length === 1 && row?.length === 1 ? parseTotal(String(row[0] ?? '')) : null;
  if (total !== null) return total;
  throw new RosterError(
    'control_total_unreadable',
    `${asked}: the query gave no single whole number. Write one such as select count(*) from customers.`,
  );
}

function toReading(
  client: pg.Client,
  first: RowBatch,
  source: string,
  fetchNext: (readRows: number, fetchSize: number) => Promise<RowBatch>,
): TableReading {
  const { headers } = first;
  const hash = createHash('sha256').update(`${JSON.stringify(headers)}\n`);
  let digest: string | null = null;
  let line = 0;
  async function* readRecords(): AsyncGenerator<readonly TableRecord[], void, undefined> {
    try {
      for (let { rows } = first; rows.length > 0; ) {
        // Fetched while these are checked; a failure is thrown where the rows are waited for.
        const next = fetchNext(line + rows.length, sizeNextFetch(rows));
        next.catch(() => undefined);
        // One by one: together, wide rows would be longer than a text can be.
        for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
        for (let start = 0; start < rows.length; start += batchSize) {
          const batch = rows.slice(start, start + batchSize);
          const begin = line + 1;
          line += batch.length;
          yield batch.map((row, index) => ({ line: begin + index, file: null, fields: row.map(toField), fault: null }));
        }
        rows = (await next).rows;
      }
      digest = hash.digest('hex');
    } finally {
      await disconnect(client);
    }
  }
  const records = readRecords();
  return {
    source,
    headers,
    records,
    digest: () => {
      if (digest === null) throw new RosterError('roster_not_read', `${source}: has not been read to its end.`);
      return digest;
    },
    tally: (): LineTally => ({ lines: line, headers: 0, blanks: 0, continuations: 0, records: line }),
    close: async () => {
      await records.return();
      await disconnect(client);
    },
  };
}

const toField = (value: string | null): string => value ?? '';

function readUrl(name: string, urlEnv: string, secret: (name: string) => string | undefined): string {
  const url = secret(urlEnv);
  if (url !== undefined && url !== '') return url;
  const message = `is not set, nor is ${urlEnv}_FILE; roster ${name} reads its connection string from it`;
  throw new ConfigError([{ where: 'environment', path: urlEnv, message }]);
}

/** Gives the query of all rows of `table` or `schema.table`, its names quoted as they are spelt. */
function toTableStatement(table: string): string {
  const names = table.split('.').map((name) => `"${name.replaceAll('"', '""')}"`);
  return `select * from ${names.join('.')}`;
}

/** The most rows at once: waiting for the network counts for little then. */
const mostRows = 500;
/** How many times as many rows as the last time: a few narrow ones say little about the rest. */
const mostGrowth = 4;
/** About how many characters of rows are fetched at once; as many again are being checked meanwhile. */
const mostCharacters = 4 * 1_024 * 1_024;

/** How many rows are fetched first: few, because nobody knows yet how wide they are. */
const firstFetchSize = 10;

/** Says how many rows to fetch next, by the width of those fetched last: at least 1, at most 500 and four times as many, and about 4 million characters. */
export function sizeNextFetch(last: readonly PostgresRow[]): number {
  let characters = 0;
  for (const row of last) {
    for (const value of row) characters += value?.length ?? 0;
  }
  const fitting = Math.floor((mostCharacters * last.length) / Math.max(1, characters));
  return Math.min(mostRows, mostGrowth * last.length, Math.max(1, fitting));
}

const connectTimeoutMs = 15_000;
/** How much longer than the server's own limit we wait for an answer: beyond it the connection is dead. */
const graceMs = 30_000;

/** Connects to the database that a variable names, with TLS as its URL says; throws RosterError, which never quotes the URL. */
async function connect(url: string, urlEnv: string, source: string, timeoutMs: number): Promise<pg.Client> {
  const client = createClient(url, urlEnv, source, timeoutMs);
  // A connection lost between two fetches fails the next fetch; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await disconnect(client);
    throw toConnectError(error, source, `${client.host}:${client.port}`, urlEnv);
  }
}

/** Ends a connection, whatever its state. */
async function disconnect(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/** What the driver understands: anything else it takes for a path on a host of its own making. */
const understood = /^(postgres(ql)?:\/\/|socket:|\/)/i;

function createClient(url: string, urlEnv: string, source: string, timeoutMs: number): pg.Client {
  if (!understood.test(url)) {
    throw new RosterError(
      'database_url_invalid',
      `${source}: ${urlEnv} holds no Postgres connection string: it begins with neither postgres:// nor postgresql://.`,
    );
  }
  try {
    return new pg.Client({
      connectionString: verifyRequiredTls(url),
      application_name: 'nightscreen roster',
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: timeoutMs + graceMs,
      keepAlive: true,
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (/^(ENOENT|EACCES|EISDIR)$/.test(code)) {
      throw new RosterError(
        'database_url_invalid',
        `${source}: a certificate file that ${urlEnv} names (sslrootcert, sslcert or sslkey) cannot be read (${code}).`,
      );
    }
    // The parser's own error quotes the whole string, password included.
    throw new RosterError('database_url_invalid', `${source}: ${urlEnv} holds no valid Postgres connection string.`);
  }
}

/** The driver verifies for `prefer`, `require` and `verify-ca` what it verifies for `verify-full`, but warns on standard error that it may not always do so. */
function verifyRequiredTls(url: string): string {
  return /[?&]uselibpqcompat=/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}
