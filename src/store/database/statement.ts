import { StoreError } from '../../errors.js';
import { type SqlValue, toHex, toParameter } from './values.js';

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

/** A value as jsonb. */
export const json = (value: unknown): Sql => sql`${toJsonText(value)}::text::jsonb`;

/** A value as JSON. Postgres stores no NUL in texts: its visible symbol replaces it. */
export function toJsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\u0000') ? text.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1\u2400') : text;
}

/** Rows as a table of a statement, which says the columns: `from ${recordset(rows)} as asked (party_id bigint, customer_version integer)`. */
export const recordset = (rows: readonly object[]): Sql => sql`jsonb_to_recordset(${json(rows.map(toColumns))})`;

/** Inserts rows in their order: each property goes into the column of its name, objects and arrays also as JSON. */
export function insertInto(table: string, rows: readonly object[]): Sql {
  const names = rawSql(listColumns(rows).join(', '));
  const name = rawSql(table);
  return sql`insert into ${name} (${names}) select ${names} from jsonb_populate_recordset(null::${name}, ${json(rows.map(toColumns))})`;
}

/** The same, and replaces the other columns of rows with the same key. */
export function replaceInto(table: string, rows: readonly object[], key: readonly string[]): Sql {
  const others = listColumns(rows).filter((name) => !key.includes(name));
  const replaced = rawSql(others.map((name) => `${name} = excluded.${name}`).join(', '));
  return sql`${insertInto(table, rows)} on conflict (${rawSql(key.join(', '))}) do update set ${replaced}`;
}

/** Replaces columns of a table; the condition follows: `${updateOf('run', { stage })} where run.run_id = ${runId}`. */
export function updateOf(table: string, values: object): Sql {
  const columns = toColumns(values);
  const changes = rawSql(
    Object.keys(columns)
      .map((name) => `${name} = changed.${name}`)
      .join(', '),
  );
  const name = rawSql(table);
  return sql`update ${name} set ${changes} from jsonb_populate_record(null::${name}, ${json(columns)}) as changed`;
}

/** The columns of rows, each once. */
const listColumns = (rows: readonly object[]): readonly string[] => [
  ...new Set(rows.flatMap((row) => Object.keys(row).map(toSnakeCase))),
];

const toColumns = (row: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [toSnakeCase(name), toJsonValue(value)]));

/** Names of columns by property: a night converts a million rows with the same few names. */
const columnNames = new Map<string, string>();

function toSnakeCase(name: string): string {
  const known = columnNames.get(name);
  if (known !== undefined) return known;
  const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  columnNames.set(name, column);
  return column;
}

/** Bytes have no form in JSON; a property without a value is a column without one. */
const toJsonValue = (value: unknown): unknown => (value instanceof Uint8Array ? toHex(value) : (value ?? null));

/** What a driver sends: the SQL, and the parameters as text. */
export const toStatement = (statement: string | Sql) =>
  typeof statement === 'string'
    ? { text: statement, values: [] }
    : { text: statement.text, values: statement.values.map(toParameter) };

/** The beginning of a statement on one line, for messages. */
export const describeStatement = (statement: string | Sql): string =>
  toStatement(statement).text.trim().replace(/\s+/g, ' ').slice(0, 80);
