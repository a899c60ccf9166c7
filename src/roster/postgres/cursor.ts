import type pg from 'pg';
import { toQueryError } from './postgres-error.js';
import { type PostgresRow, parsePostgresValue } from './postgres-value.js';

/** Rows of a cursor, every value as text, with the names of their columns. */
export interface RowBatch {
  headers: readonly string[];
  rows: readonly PostgresRow[];
}

/** Declares the cursor `roster` over a query in a read-only snapshot of its own; throws RosterError when Postgres refuses. */
export async function openCursor(client: pg.Client, query: string, source: string, timeoutMs: number): Promise<void> {
  try {
    await client.query('begin read only isolation level repeatable read');
    // Rows in the same order while the table stays the same, so that the digest stays the same too.
    await client.query('set local synchronize_seqscans = off');
    await client.query('set local cursor_tuple_fraction = 1');
    await client.query(`set local statement_timeout = ${timeoutMs}`);
    // Between two fetches the importer may write for longer than the server likes to wait.
    await client.query('set local idle_in_transaction_session_timeout = 0');
    await client.query("set local datestyle = 'ISO, YMD'");
    // The extended protocol takes one statement only, so nothing behind a semicolon can leave the transaction.
    const declaration = {
      text: `declare roster no scroll cursor for ${query.replace(/[\s;]+$/, '')}`,
      queryMode: 'extended',
    };
    await client.query(declaration);
  } catch (error) {
    throw toQueryError(error, source, timeoutMs);
  }
}

/** Fetches the next rows of the cursor, at most `fetchSize`, behind those that were read, none at its end; throws RosterError. */
export async function fetchRows(
  client: pg.Client,
  source: string,
  timeoutMs: number,
  readRows: number,
  fetchSize: number,
): Promise<RowBatch> {
  try {
    const result = await client.query<PostgresRow>({
      text: `fetch ${fetchSize} from roster`,
      rowMode: 'array',
      types: { getTypeParser: parsePostgresValue },
    });
    return { headers: result.fields.map((field) => field.name), rows: result.rows };
  } catch (error) {
    const place =
      readRows === 0
        ? `No row had been read: it is one of the first ${fetchSize}.`
        : `It came after row ${readRows}, within the next ${fetchSize}.`;
    throw toQueryError(error, source, timeoutMs, place);
  }
}
