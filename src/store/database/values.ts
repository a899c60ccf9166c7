import { StoreError } from '../../errors.js';

/** What a statement takes as a parameter. JSON is passed by `json`; an array is sent as an array of the database. */
export type SqlValue =
  | string
  | number
  | boolean
  | Date
  | Uint8Array
  | null
  | readonly (string | number | boolean | null)[];

/** The text form of a parameter for both drivers; throws StoreError for an invalid date. */
export function toParameter(value: SqlValue): string | null {
  if (value === null) return null;
  if (value instanceof Uint8Array) return toHex(value);
  if (value instanceof Date) return toInstant(value);
  return typeof value === 'object'
    ? toArrayLiteral(value.map((element) => (element === null ? null : String(element))))
    : String(value);
}

/** Bytes as the text form of Postgres. */
export const toHex = (bytes: Uint8Array): string =>
  `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;

function toInstant(value: Date): string {
  if (!Number.isNaN(value.getTime())) return value.toISOString();
  throw new StoreError('database_parameter', 'a parameter is an invalid date, which cannot be sent');
}

/** The text form of a one-dimensional Postgres array; `null` becomes NULL. */
export function toArrayLiteral(elements: readonly (string | null)[]): string {
  const quoted = elements.map((element) =>
    element === null ? 'NULL' : `"${element.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`,
  );
  return `{${quoted.join(',')}}`;
}

const elementPattern = /"((?:[^"\\]|\\.)*)"|([^",{}]+)/gsy;

/** The elements of a one-dimensional Postgres array in text form; throws StoreError for anything else. */
export function parseArrayLiteral(literal: string): (string | null)[] {
  if (literal === '{}') return [];
  if (!literal.startsWith('{') || !literal.endsWith('}')) throw notOneDimensional();
  const elements: (string | null)[] = [];
  const pattern = new RegExp(elementPattern);
  pattern.lastIndex = 1;
  while (pattern.lastIndex < literal.length) {
    const match = pattern.exec(literal);
    if (!match) throw notOneDimensional();
    const [, quoted, bare] = match;
    if (quoted !== undefined) elements.push(quoted.replace(/\\(.)/gs, '$1'));
    else elements.push(bare === undefined || bare === 'NULL' ? null : bare);
    const end = pattern.lastIndex === literal.length - 1;
    if (!end && literal[pattern.lastIndex] !== ',') throw notOneDimensional();
    pattern.lastIndex += 1;
  }
  return elements;
}

function notOneDimensional(): StoreError {
  return new StoreError('database_value', 'the database sent an array that is not one-dimensional');
}

type Parser = (text: string) => unknown;

const parseText: Parser = (text) => text;
const parseNumber: Parser = (text) => Number(text);
const parseJson: Parser = (text) => JSON.parse(text);
const parseBoolean: Parser = (text) => text === 't';
const parseBytes: Parser = (text) => {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex');
  throw new StoreError('database_value', 'the database sends bytes in the escape format; set bytea_output to hex');
};

const parseInteger: Parser = (text) => {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new StoreError('database_value', 'the database sent an integer beyond what a number can hold exactly');
};

const instantPattern = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d)(?::?(\d\d))?$/;

const parseInstant: Parser = (text) => {
  const [, day, time, hours, minutes] = instantPattern.exec(text) ?? [];
  const instant = new Date(`${day}T${time}${hours}:${minutes ?? '00'}`);
  if (!Number.isNaN(instant.getTime())) return instant;
  throw new StoreError('database_value', 'the database sent a time that a Date cannot hold');
};

const arrayOf =
  (parse: Parser): Parser =>
  (text) =>
    parseArrayLiteral(text).map((element) => (element === null ? null : parse(element)));

/** Object ids of the built-in column types that are parsed; they are the same on every Postgres. */
const scalarParsers: readonly (readonly [oid: number, arrayOid: number, parse: Parser])[] = [
  [16, 1000, parseBoolean],
  [17, 1001, parseBytes],
  [20, 1016, parseInteger],
  [21, 1005, parseNumber],
  [23, 1007, parseNumber],
  [25, 1009, parseText],
  [26, 1028, parseNumber],
  [114, 199, parseJson],
  [700, 1021, parseNumber],
  [701, 1022, parseNumber],
  [1042, 1014, parseText],
  [1043, 1015, parseText],
  [1082, 1182, parseText],
  [1114, 1115, parseText],
  [1184, 1185, parseInstant],
  [1700, 1231, parseNumber],
  [2950, 2951, parseText],
  [3802, 3807, parseJson],
];

/**
 * Parsers of column texts by type id: int8, float8 and numeric give a number (int8 throws StoreError beyond the safe range), timestamptz a Date,
 * bytea a Buffer, json its value, arrays an array; other types, date included, stay text.
 */
export const columnParsers: Readonly<Record<number, Parser>> = Object.fromEntries(
  scalarParsers.flatMap(([oid, arrayOid, parse]) => [
    [oid, parse],
    [arrayOid, arrayOf(parse)],
  ]),
);
