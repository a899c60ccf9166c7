import type { DateColumn, NameColumns, PartyBinding } from './bind-columns.js';
import type { CountryColumns } from './country-columns.js';
import type { RejectReason } from './customer.js';
import { Fault } from './fault.js';
import type { BoundColumn } from './find-columns.js';
import { isConspicuous } from './find-field-fault.js';
import type { WordColumn } from './word-columns.js';

/** The longest customer id, in UTF-16 units: an index of the database must be able to hold it. */
const maxIdLength = 200;
/** The longest name, in characters. */
const maxNameLength = 500;

const plainLetter = /[A-Za-z0-9]/;
const letterOrDigit = /[\p{L}\p{N}]/u;

/** Reads a field without the blanks around it. */
export function readField(fields: readonly string[], column: BoundColumn): string {
  return (fields[column.index] ?? '').trim();
}

/** Reads the customer's id. */
export function readId(id: readonly BoundColumn[], fields: readonly string[]): string | Fault {
  let joined = '';
  for (const column of id) {
    const part = readField(fields, column);
    if (part === '') return new Fault('missing_id', column, '');
    joined = joined === '' ? part : `${joined} ${part}`;
  }
  return joined.length > maxIdLength ? new Fault('id_too_long', id[0] ?? null, joined) : joined;
}

/** Reads the customer's id of a row that is rejected for whatever reason; null where it shows none. */
export function readReference({ id }: PartyBinding, fields: readonly string[]): string | null {
  const reference = readId(id, fields);
  return typeof reference === 'string' && !isConspicuous(reference) ? reference : null;
}

/** Reads a name from its columns, those that are empty left out. */
export function readName({ columns, separator }: NameColumns, fields: readonly string[]): string | Fault {
  let name = '';
  for (const column of columns) {
    const part = readField(fields, column);
    if (part !== '') name = name === '' ? part : name + separator + part;
  }
  if (name === '') return new Fault('missing_name', columns[0] ?? null, '');
  return checkName(name, columns[0] ?? null) ?? name;
}

/** Reads the aliases of a row, each once and as it stands. */
export function readAliases({ columns, separator }: NameColumns, fields: readonly string[]): readonly string[] | Fault {
  const aliases = new Set<string>();
  for (const column of columns) {
    const text = readField(fields, column);
    if (text === '') continue;
    for (const part of text.split(separator)) {
      const alias = part.trim();
      if (alias === '') continue;
      const fault = checkName(alias, column);
      if (fault !== null) return fault;
      aliases.add(alias);
    }
  }
  return [...aliases];
}

function checkName(name: string, column: BoundColumn | null): Fault | null {
  if (name.length > maxNameLength && [...name].length > maxNameLength) return new Fault('name_too_long', column, name);
  return plainLetter.test(name) || letterOrDigit.test(name) ? null : new Fault('name_without_letters', column, name);
}

/** Reads a word of a closed set; null where the row gives none. */
export function readWord<Word>(
  { column, read, absent }: WordColumn<Word>,
  fields: readonly string[],
  unknown: RejectReason,
): Word | null | Fault {
  const text = column === null ? '' : readField(fields, column);
  if (text === '') return absent;
  return read(text) ?? new Fault(unknown, column, text);
}

/** Reads a date; null where the row gives none. */
export function readDate(
  date: DateColumn | null,
  fields: readonly string[],
  invalid: RejectReason,
): string | null | Fault {
  const text = date === null ? '' : readField(fields, date.column);
  if (date === null || text === '') return null;
  return date.read(text) ?? new Fault(invalid, date.column, text);
}

/** Reads the countries of a row, each once. */
export function readCountries(
  { columns, read, constant }: CountryColumns,
  fields: readonly string[],
): readonly string[] | Fault {
  let countries = constant;
  for (const column of columns) {
    const text = readField(fields, column);
    if (text === '') continue;
    const codes = read(text);
    if (codes === null) return new Fault('unknown_country', column, text);
    countries = countries.length === 0 ? codes : [...new Set([...countries, ...codes])];
  }
  return countries;
}
