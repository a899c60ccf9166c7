import { StoreError } from '../errors.js';
import { parseArrayLiteral } from './array-literal.js';

type Parser = (text: string) => unknown;

const parseText: Parser = (text) => text;
const parseNumber: Parser = (text) => Number(text);
const parseJson: Parser = (text) => JSON.parse(text);
const parseBoolean: Parser = (text) => text === 't';
const parseBytes: Parser = (text) => {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex');
  throw new StoreError('database_value', 'the database sends bytes in its old form; set bytea_output to hex for it');
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

/** Object ids of the built-in column types that are more than text; they are the same on every Postgres. */
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
 * How a column's text becomes a JavaScript value, by type id: int8 a number (throws StoreError beyond the safe range), timestamptz a
 * Date, bytea a Buffer, json parsed, float8 and numeric a number, arrays arrays, everything else (date as well) the text itself.
 */
export const columnParsers: Readonly<Record<number, Parser>> = Object.fromEntries(
  scalarParsers.flatMap(([oid, arrayOid, parse]) => [
    [oid, parse],
    [arrayOid, arrayOf(parse)],
  ]),
);

/** The parser of one column type. */
export function columnParser(oid: number): Parser {
  return columnParsers[oid] ?? parseText;
}
