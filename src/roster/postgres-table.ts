import { createHash } from 'node:crypto';
import pg from 'pg';
import { ConfigError, RosterError, readErrorCode } from '../errors.js';
import { isConspicuous } from './check-row.js';
import type { PostgresSettings } from './settings.js';
import { maxFieldLength } from './settings.js';
import { type LineTally, parseTotal, type TableReading, type TableRecord } from './table-reading.js';

/** How long a step of the reading may take. */
const usualTimeoutMs = 3_600_000;

/**
 * Opens the rows of a query or a table in one read-only snapshot. Throws ConfigError when the variable is not set,
 * RosterError when the database is unreachable, refuses the query, or gives no rows, unless `mayBeEmpty`. Reading
 * `records` also throws for a row that is too wide.
 */
export async function openPostgresTable(
  name: string,
  postgres: PostgresSettings,
  secret: (name: string) => string | undefined,
  columns: MappedColumns & { totalQuery?: string | undefined },
  mayBeEmpty = false,
): Promise<TableReading> {
  const { urlEnv, query, timeoutMs = usualTimeoutMs } = postgres;
  const source = `postgres query ${name}`;
  const client = await connect(readUrl(name, urlEnv, secret), urlEnv, source, timeoutMs);
  try {
    await openCursor(client, query, source, timeoutMs, columns.isMapped);
    const fetchNext = (readRows: number, fetchSize: number): Promise<RowBatch> =>
      fetchRows(client, source, timeoutMs, { readRows, fetchSize, id: columns.id });
    const first = await fetchNext(0, firstFetchSize);
    if (first.rows.length === 0 && !mayBeEmpty) {
      throw new RosterError('roster_empty', `${source}: the query gave no rows. Nothing was changed; check the query.`);
    }
    const reading = toReading(client, first, source, fetchNext);
    if (columns.totalQuery === undefined) return reading;
    return { ...reading, stated: await readTotal(client, columns.totalQuery, source, timeoutMs) };
  } catch (error) {
    await disconnect(client);
    throw error;
  }
}

async function readTotal(client: pg.Client, query: string, source: string, timeoutMs: number): Promise<number> {
  const place = `${source}, controlTotal`;
  const statement = { text: query, queryMode: 'extended', rowMode: 'array' } as const;
  const { rows } = await client.query<unknown[]>(statement).catch((error: unknown) => {
    throw toQueryError(error, place, timeoutMs);
  });
  const [row] = rows;
  const total = rows.length === 1 && row?.length === 1 ? parseTotal(String(row[0] ?? '')) : null;
  if (total !== null) return total;
  throw new RosterError(
    'control_total_unreadable',
    `${place}: the query gave no single whole number. Write one such as select count(*) from customers.`,
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
        // Fetched while these rows are checked; a failure is thrown by the await below.
        const next = fetchNext(line + rows.length, sizeNextFetch(rows));
        next.catch(() => undefined);
        // One by one: wide rows together would exceed the longest string.
        for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
        const begin = line + 1;
        line += rows.length;
        yield rows.map((row, index) => ({ line: begin + index, file: null, fields: row.map(toField), fault: null }));
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
      if (digest === null) throw new RosterError('roster_not_read', `${source} has not been read to its end.`);
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

/** The most rows of one fetch, and so of one batch: with more, the network latency hardly matters. */
const mostRows = 500;
/** The growth of a fetch against the last one: a few narrow rows say little about the rest. */
const mostGrowth = 4;
/** About the most characters of one fetch; as many again are being checked meanwhile. */
const mostCharacters = 4 * 1_024 * 1_024;

/** The first fetch is small, because the width of the rows is unknown. */
const firstFetchSize = 10;

/**
 * Gives the size of the next fetch by the width of the last rows: at least 1, at most 500 and four times the last
 * size, and about 4 million characters.
 */
function sizeNextFetch(last: readonly PostgresRow[]): number {
  let characters = 0;
  for (const row of last) {
    for (const value of row) characters += value?.length ?? 0;
  }
  const fitting = Math.floor((mostCharacters * last.length) / Math.max(1, characters));
  return Math.min(mostRows, mostGrowth * last.length, Math.max(1, fitting));
}

const connectTimeoutMs = 15_000;
/** The wait beyond the server's own limit, after which the connection is considered dead. */
const graceMs = 30_000;

/** Connects to a database, with TLS as its URL requires. Throws RosterError, which never quotes the URL. */
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

async function disconnect(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/** The forms that the driver understands; it takes any other text for a path on an invented host. */
const understood = /^(postgres(ql)?:\/\/|socket:|\/)/i;

function createClient(url: string, urlEnv: string, source: string, timeoutMs: number): pg.Client {
  if (!understood.test(url)) {
    throw new RosterError(
      'database_url_invalid',
      `${source}: ${urlEnv} holds no Postgres connection string: it must begin with postgres:// or postgresql://.`,
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
    const code = readErrorCode(error) ?? '';
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

/** The driver verifies `prefer`, `require` and `verify-ca` like `verify-full`, but warns on standard error. */
function verifyRequiredTls(url: string): string {
  return /[?&]uselibpqcompat=/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

/** The most bytes of a value in a mapped column, as of a line of a file; wider values are never sent. */
const maxMappedBytes = 1024 * 1024;
/** The most bytes of any other value; only its beginning is sent. */
const maxUnmappedBytes = 64 * 1024 * 1024;
/** A value stored in fewer bytes unpacks to less than `maxMappedBytes`. */
const plainBytes = 2_000;

interface RowBatch {
  headers: readonly string[];
  rows: readonly PostgresRow[];
}

interface MappedColumns {
  isMapped(header: string): boolean;
  id: readonly string[];
}

/**
 * Declares the cursor `roster` over a query in a read-only snapshot. Unmapped columns are truncated to their stored
 * length, and values that are too wide are left out. Throws RosterError when Postgres refuses.
 */
async function openCursor(
  client: pg.Client,
  query: string,
  source: string,
  timeoutMs: number,
  isMapped: MappedColumns['isMapped'],
): Promise<void> {
  const statement = query.replace(/(?<![\s;])[\s;]+$/, '');
  // The extended protocol accepts one statement only, so text after a semicolon cannot leave the transaction.
  const declare = async (name: string, text: string): Promise<void> => {
    const declaration = { text: `declare ${name} no scroll cursor for ${text}`, queryMode: 'extended' };
    await client.query(declaration);
  };
  try {
    await client.query('begin read only isolation level repeatable read');
    // An unchanged table must give its rows in the same order, to give the same digest.
    await client.query('set local synchronize_seqscans = off');
    await client.query('set local cursor_tuple_fraction = 1');
    await client.query(`set local statement_timeout = ${timeoutMs}`);
    // Between two fetches the importer may write for longer than the server's limit.
    await client.query('set local idle_in_transaction_session_timeout = 0');
    await client.query("set local datestyle = 'ISO, YMD'");
    // The day of a point in time must not depend on the login.
    await client.query("set local timezone = 'UTC'");
    // Declared unchanged first, so that errors quote the statement as written.
    await declare('shape', statement);
    const { fields } = await client.query('fetch 0 from shape');
    await client.query('close shape');
    await client.query('savepoint declared');
    // Comments may follow the final semicolon. Everything longer than the statement itself is a syntax error.
    const ends = [...statement.matchAll(/;/g)].map(({ index }) => index).reverse();
    for (const end of [statement.length, ...ends]) {
      try {
        await declare('roster', boundRows(statement.slice(0, end), fields, isMapped));
        return;
      } catch (error) {
        const mayBeShorter = error instanceof pg.DatabaseError && error.code === syntaxError && end !== ends.at(-1);
        if (!mayBeShorter || ends.length === 0) throw error;
        await client.query('rollback to savepoint declared');
      }
    }
  } catch (error) {
    throw toQueryError(error, source, timeoutMs);
  }
}

const syntaxError = '42601';

const { TEXT, VARCHAR, BPCHAR, BYTEA, NUMERIC } = pg.types.builtins;

interface WrappedColumn {
  name: string;
  header: string;
  typeId: number;
  isMapped: boolean;
  /** SQL for the bytes of a value; null when its type bounds them. */
  size: string | null;
}

/**
 * Wraps a query to bound its values; an additional last column names the first value that is too wide. For 100,000
 * rows of 12 columns, reading takes about a tenth longer.
 */
function boundRows(statement: string, fields: readonly pg.FieldDef[], isMapped: MappedColumns['isMapped']): string {
  const columns = fields.map(({ name, dataTypeID: typeId, dataTypeSize }, index) =>
    wrapColumn({ name: `c${index + 1}`, header: name, typeId, isMapped: isMapped(name) }, dataTypeSize < 0),
  );
  if (columns.length === 0) return statement;
  const shown = columns.map((column) => `${boundValue(column)} as ${pg.escapeIdentifier(column.header)}`);
  const tooWide = columns.flatMap(({ name, size, isMapped }) =>
    size === null ? [] : `when ${size} > ${isMapped ? maxMappedBytes : maxUnmappedBytes} then '${name} ' || ${size}`,
  );
  const names = columns.map(({ name }) => name).join(', ');
  // `offset 0` makes Postgres compute each value once, however often it is used.
  return `select ${shown.join(', ')}, case ${tooWide.join(' ')} when false then null end
    from (select * from (
      ${statement}
    ) as query offset 0) as roster(${names})`;
}

function wrapColumn(column: Omit<WrappedColumn, 'size'>, varies: boolean): WrappedColumn {
  const { name, typeId, isMapped } = column;
  if (!varies || typeId === NUMERIC) return { ...column, size: null };
  // Known without reading values stored out of line.
  if (typeId === TEXT || typeId === VARCHAR || typeId === BPCHAR) return { ...column, size: `octet_length(${name})` };
  if (typeId === BYTEA) return { ...column, size: `2 * octet_length(${name})::bigint` };
  const stored = `pg_column_size(${name})`;
  const written = `octet_length(format('%s', ${name}))`;
  return { ...column, size: isMapped ? `case when ${stored} < ${plainBytes} then 0 else ${written} end` : stored };
}

function boundValue({ name, typeId, isMapped, size }: WrappedColumn): string {
  if (size === null) return name;
  if (isMapped) return `case when ${size} > ${maxMappedBytes} then null else ${name} end`;
  // One character more than the stored length shows that the value was truncated.
  const length = maxFieldLength + 1;
  if (typeId === BYTEA) return `substring(${name} from 1 for ${length})`;
  if (typeId === BPCHAR) return `left(format('%s', ${name}), ${length})`;
  const isText = typeId === TEXT || typeId === VARCHAR;
  return isText
    ? `case when ${size} > ${maxFieldLength} then left(${name}, ${length}) else ${name} end`
    : `left(format('%s', ${name}), ${length})`;
}

/** Fetches at most `fetchSize` rows after the first `readRows`; none at the end. Throws RosterError. */
async function fetchRows(
  client: pg.Client,
  source: string,
  timeoutMs: number,
  { readRows, fetchSize, id }: { readRows: number; fetchSize: number; id: MappedColumns['id'] },
): Promise<RowBatch> {
  let headers: readonly string[];
  let rows: PostgresRow[];
  try {
    const result = await client.query<PostgresRow>({
      text: `fetch ${fetchSize} from roster`,
      rowMode: 'array',
      types: { getTypeParser: parsePostgresValue },
    });
    headers = result.fields.map((field) => field.name).slice(0, -1);
    rows = result.rows;
  } catch (error) {
    const place =
      readRows === 0
        ? `It is one of the first ${fetchSize} rows.`
        : `It is one of the ${fetchSize} rows after row ${readRows}.`;
    throw toQueryError(error, source, timeoutMs, place);
  }
  for (const [index, row] of rows.entries()) {
    const tooWide = row.pop() ?? null;
    if (tooWide !== null) throw refuseRow(row, tooWide, headers, id, `${source}: row ${readRows + index + 1}`);
  }
  return { headers, rows };
}

function refuseRow(
  row: PostgresRow,
  tooWide: string,
  headers: readonly string[],
  id: MappedColumns['id'],
  place: string,
): RosterError {
  const [name = '', bytes] = tooWide.split(' ');
  const header = JSON.stringify(headers[Number(name.slice(1)) - 1] ?? '');
  const known = id
    .map((part) => row[headers.indexOf(part)]?.trim().slice(0, 200) ?? '')
    .join(' ')
    .trim();
  const whose = known === '' || isConspicuous(known) ? '' : ` (id ${known})`;
  return new RosterError(
    'row_too_wide',
    `${place}${whose} has ${bytes} bytes in the column ${header}; a mapped column may have ${maxMappedBytes}, ` +
      `an unmapped one ${maxUnmappedBytes}. Nothing was imported. Leave the column out of the query, or truncate it there, such as by left(..., 1000).`,
  );
}

/** Classes of SQLSTATE whose messages concern the statement, the role or the server, and never quote a row's values. */
const safeClasses = new Set(['08', '25', '28', '3D', '3F', '42', '53', '54', '55', '57', '0A']);
const canceled = '57014';

/** Creates the error of a failed connection; it names the host and the code of the cause, never the credentials. */
export function toConnectError(error: unknown, source: string, host: string, urlEnv: string): RosterError {
  if (error instanceof pg.DatabaseError) {
    // Postgres names the user in the message of a failed login.
    const why = error.code?.startsWith('28') === true ? `the login failed (${error.code})` : describe(error);
    return new RosterError('database_refused', `${source}: the database at ${host} refused: ${why}.`);
  }
  if (error instanceof Error && error.message.includes('does not support SSL')) {
    return new RosterError(
      'tls_failed',
      `${source}: ${urlEnv} requires TLS, but the database at ${host} does not offer it. Switch TLS on there ` +
        '(ssl = on). Only in a private network, set sslmode=disable in the URL instead.',
    );
  }
  const code = readErrorCode(error) ?? 'no answer in time';
  if (/CERT|SELF_SIGNED|UNABLE_TO|^ERR_(SSL|TLS)|^EPROTO$/.test(code)) {
    return new RosterError(
      'tls_failed',
      `${source}: the certificate of the database at ${host} was not accepted (${code}). Add the certificate of the ` +
        `authority that issued it to ${urlEnv}: sslmode=verify-full&sslrootcert=/path/to/ca.pem. The host in the URL must match the certificate.`,
    );
  }
  return new RosterError('database_unreachable', `${source}: cannot connect to ${host} (${code}).`);
}

/**
 * Creates the error of a refused query, with the message of Postgres, or of a connection that was lost while reading.
 * `place` describes the position of a value at fault.
 */
export function toQueryError(error: unknown, source: string, timeoutMs: number, place = ''): RosterError {
  const raise = 'Make the query faster';
  if (!(error instanceof pg.DatabaseError)) {
    const isSilent = error instanceof Error && error.message === 'Query read timeout';
    const why = isSilent
      ? `the database gave no answer for more than ${timeoutMs / 1_000} s`
      : 'the connection was lost while reading';
    return new RosterError('roster_broken_off', `${source}: ${why}. Nothing was imported.`);
  }
  if (error.code === canceled && error.message.includes('statement timeout')) {
    return new RosterError('query_timeout', `${source}: no rows within ${timeoutMs / 1_000} s. ${raise}.`);
  }
  const isBrokenOff = error.code?.startsWith('57P') === true || error.code?.startsWith('08') === true;
  return isBrokenOff
    ? new RosterError(
        'roster_broken_off',
        `${source}: the database ended the connection: ${describe(error)}. Nothing was imported.`,
      )
    : new RosterError(
        'query_refused',
        `${source}: Postgres refused the query: ${describe(error)}.${isSafe(error) || place === '' ? '' : ` ${place}`}`,
      );
}

/** Messages about data may quote a customer's name, and error messages are logged. */
function describe(error: pg.DatabaseError): string {
  const { code = 'unknown' } = error;
  return isSafe(error) ? `${error.message} (${code})` : `an error in a value (SQLSTATE ${code})`;
}

const isSafe = ({ code = '' }: pg.DatabaseError): boolean => safeClasses.has(code.slice(0, 2));

type PostgresRow = (string | null)[];

/**
 * Gives the parser of a column's type: texts as Postgres writes them, lists included, and a time stamp without a zone as
 * its day. The day of one with a zone depends on the place.
 */
function parsePostgresValue(typeId: number): (text: string) => string {
  return typeId === pg.types.builtins.TIMESTAMP ? (text) => text.slice(0, 10) : (text) => text;
}
