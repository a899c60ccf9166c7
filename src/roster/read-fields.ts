import type { DateColumn, NameColumns, PartyBinding } from './bind-columns.js';
import { toCountryCode } from './country-code.js';
import type { CountryColumns } from './country-columns.js';
import type { DoubtReason, RejectReason } from './customer.js';
import type { RowReadings } from './doubts.js';
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

/** Reads the aliases of a row, each once and as it stands; one that cannot be a name is in doubt. */
export function readAliases(
  { columns, separator }: NameColumns,
  fields: readonly string[],
  readings: RowReadings,
): readonly string[] {
  const aliases = new Set<string>();
  for (const column of columns) {
    const text = readField(fields, column);
    if (text === '') continue;
    for (const part of text.split(separator)) {
      const alias = part.trim();
      if (alias === '') continue;
      if (checkName(alias, column) === null && !isConspicuous(alias)) aliases.add(alias);
      else readings.doubt('aliases', column.header, alias, 'unreadable_alias');
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

/** Reads a word of a closed set that is no part of a request; one that is not known is in doubt. */
export function readFactWord<Word>(
  { column, read, absent }: WordColumn<Word>,
  fields: readonly string[],
  readings: RowReadings,
  [field, unknown]: readonly ['riskTier' | 'active', DoubtReason],
): Word | null {
  const text = column === null ? '' : readField(fields, column);
  if (column === null || text === '') return absent;
  const word = read(text);
  if (word === null) readings.doubt(field, column.header, text, findCharacterDoubt(text) ?? unknown);
  else if (field === 'riskTier' && text.toLowerCase() !== word) readings.say(field, text);
  return word;
}

/** Reads a date; null where the row gives none, or none that can be read. */
export function readDate(
  date: DateColumn | null,
  fields: readonly string[],
  readings: RowReadings,
  field: 'birthDate' | 'endDate',
): string | null {
  const text = date === null ? '' : readField(fields, date.column);
  if (date === null || text === '') return null;
  const found = date.read(text);
  if (found === text) return text;
  if (typeof found === 'string') {
    readings.say(field, text);
    return found;
  }
  readings.doubt(field, date.column.header, text, findCharacterDoubt(text) ?? found.why);
  if (found.reads !== undefined) readings.say(field, found.reads);
  return found.value;
}

/** Reads the countries of a row, each once; `zz` among them is one that cannot be read. */
export function readCountries(
  { columns, read, constant }: CountryColumns,
  fields: readonly string[],
  readings: RowReadings,
): readonly string[] {
  let countries = constant;
  let said = '';
  for (const column of columns) {
    const text = readField(fields, column);
    if (text === '') continue;
    const wrong = findCharacterDoubt(text);
    const { codes, why } = wrong === null ? read(text) : { codes: [], why: wrong };
    if (why !== null) readings.doubt('countries', column.header, text, why);
    // What it was read as before names of two countries were in doubt.
    const former = why === 'ambiguous_country' ? toCountryCode(text) : null;
    if (former !== null) readings.say('countries', former);
    said = said === '' ? text : `${said};${text}`;
    countries = countries.length === 0 ? codes : [...new Set([...countries, ...codes])];
  }
  if (said === '' || (said.length === 2 && said.toLowerCase() === countries[0])) return countries;
  if (readings.doubts.some(({ field }) => field === 'countries')) {
    // One of several columns that cannot be read is one more country that is not known.
    if (countries.length > 0 && !countries.includes('zz')) return [...countries, 'zz'];
  } else if (said !== countries.join(';')) readings.say('countries', said);
  return countries;
}

function findCharacterDoubt(text: string): DoubtReason | null {
  if (!isConspicuous(text)) return null;
  return text.includes('\ufffd') ? 'replacement_character' : 'control_character';
}
