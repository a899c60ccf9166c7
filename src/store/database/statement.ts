import { StoreError } from '../../errors.js';
import { toParameters } from './values.js';

/** What a statement takes as a parameter. JSON is passed by `json`; an array is sent as an array of the database. */
type SqlValue = string | number | boolean | Date | Uint8Array | null | readonly (string | number | boolean | null)[];

/**
 * A statement or a part of one, with its parameters. `sql` makes it, and `query`, `execute` and the functions that read take it:
 *
 *     const recent = sql`answered_at > ${after}`;
 *     await readRow(database, row, sql`select count(*) as answers from answer where run_id = ${runId} and ${recent}`);
 *
 * Rules of the store:
 * - A statement with parameters is written with `sql`, also where there is only one. One without may be a plain string.
 * - `${value}` becomes a parameter, each time a new one. Postgres takes its type from what stands beside it (`run_id = ${runId}`,
 *   `party_id = any (${partyIds})`). Where nothing does, as in a select list, a cast gives it: `${runId}::bigint`. No array is copied for it.
 * - `${part}` that `sql` made is put in with its parameters. SQL from a constant of the code is put in by `rawSql`, never a value.
 * - Rows go in by `insertRows` (all of them, or an error), by `insertInto` for a statement that goes on with `on conflict` or `returning`, and as
 *   a table of a statement by `recordset`. A property `partyId` is the column `party_id`.
 * - Several rows are read by `query`, one by `readRow` (or an error) or `findRow`, one value by `readValue` or `findValue`, one column by
 *   `readColumn`. An update that must reach a known number of rows is an `executeAll`. All but the first are in `database.ts`.
 *
 * Without parameters it may also stand in a template of plain SQL.
 */
export class Sql {
  readonly #pieces: readonly (string | { value: SqlValue })[];

  constructor(pieces: readonly (string | Sql | { value: SqlValue })[]) {
    this.#pieces = pieces.flatMap((piece) => (piece instanceof Sql ? piece.#pieces : [piece]));
  }

  /** The SQL with its parameters as `$1`, `$2`. */
  get text(): string {
    let count = 0;
    const toText = (piece: string | { value: SqlValue }): string => {
      if (typeof piece === 'string') return piece;
      count += 1;
      return `$${count}`;
    };
    return this.#pieces.map(toText).join('');
  }

  get values(): readonly SqlValue[] {
    return this.#pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.value]));
  }

  toString(): string {
    if (this.values.length === 0) return this.text;
    throw new StoreError('database_parameter', 'SQL with parameters was put into a template that is not sql`...`');
  }
}

/** SQL of a template; each part is a parameter or SQL with its own parameters. */
export function sql(texts: readonly string[], ...parts: readonly (Sql | SqlValue)[]): Sql {
  const [first = '', ...others] = texts;
  const pieces = others.flatMap((text, index) => {
    const part = parts[index] ?? null;
    return [part instanceof Sql ? part : { value: part }, text];
  });
  return new Sql([first, ...pieces]);
}

/** SQL from a constant of the code, such as the name of a table or a closed set; never from a value. */
export const rawSql = (text: string): Sql => new Sql([text]);

/** The parts, one after another. */
export const joinSql = (parts: readonly Sql[], separator = ', '): Sql =>
  new Sql(parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part])));

/** A value as jsonb. */
export const json = (value: unknown): Sql => sql`${JSON.stringify(value)}::text::jsonb`;

/** Rows as a table of a statement, which says the columns: `from ${recordset(rows)} as asked (party_id bigint, customer_version integer)`. */
export const recordset = (rows: readonly object[]): Sql => sql`jsonb_to_recordset(${json(rows.map(toColumns))})`;

/** Inserts rows in their order: each property goes into the column of its name, objects and arrays also as JSON. */
export function insertInto(table: string, rows: readonly object[]): Sql {
  const columns = rows.map(toColumns);
  const names = rawSql([...new Set(columns.flatMap((row) => Object.keys(row)))].join(', '));
  const name = rawSql(table);
  return sql`insert into ${name} (${names}) select ${names} from jsonb_populate_recordset(null::${name}, ${json(columns)})`;
}

/** The same, and replaces the other columns of a row with the same key. */
export function replaceInto(table: string, row: object, key: readonly string[]): Sql {
  const others = Object.keys(toColumns(row)).filter((name) => !key.includes(name));
  const replaced = rawSql(others.map((name) => `${name} = excluded.${name}`).join(', '));
  return sql`${insertInto(table, [row])} on conflict (${rawSql(key.join(', '))}) do update set ${replaced}`;
}

const toColumns = (row: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [toSnakeCase(name), toJsonValue(value)]));

const toSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Bytes have no form in JSON; a property without a value is a column without one. */
function toJsonValue(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value ?? null;
  return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`;
}

/** A statement for a driver; parameters only belong to text. */
export type StatementParameters = [statement: string | Sql, parameters?: readonly unknown[]];

/** What a driver sends: the SQL, and the parameters as text. */
export function toStatement(...[statement, parameters = []]: StatementParameters) {
  if (typeof statement === 'string') return { text: statement, values: toParameters(parameters) };
  return { text: statement.text, values: toParameters(statement.values) };
}

/** The beginning of a statement on one line, for messages. */
export const describeStatement = (statement: string | Sql): string =>
  toStatement(statement).text.trim().replace(/\s+/g, ' ').slice(0, 80);
