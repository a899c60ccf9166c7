import type { DoubtField, DoubtReason, PartyRole, RejectReason } from '../vocabulary.js';
import type { CustomerBinding, PartyBinding, WordColumn } from './column-binding.js';
import {
  type Customer,
  type Doubt,
  maxParties,
  type Party,
  type PartyRow,
  type Readings,
  type RejectedRow,
  type RosterRow,
  removeInvisible,
  toScreeningRequest,
} from './customer.js';
import { isSpreadsheetError, truncate } from './doubts.js';
import type { BoundColumn } from './headers.js';
import { looksLikeAliases, readListText } from './name-lists.js';
import { findNoCustomer } from './no-customer.js';
import { classifyValue, surplusColumn } from './rejects.js';
import type { TableRecord } from './table-reading.js';

/** Turns a record of a roster into a customer, or into a rejected row with its first fault. */
export function checkRow(binding: CustomerBinding, record: TableRecord): RosterRow {
  const { line, file, isOpen = false } = record;
  const fields = fitFields(binding, record);
  const customer = findRowFault(binding, record, fields) ?? toCustomer(binding, fields);
  return customer instanceof RowFault
    ? rejectRow(binding, { ...record, fields }, customer)
    : { kind: 'customer', line, file, customer, fields, ...(isOpen && { isOpen }) };
}

/** Turns a record of related parties into a party of a customer, or into a rejected row with its first fault. */
export function checkPartyRow(binding: PartyBinding & { role: WordColumn<PartyRole> }, record: TableRecord): PartyRow {
  const { line, file } = record;
  const fields = fitFields(binding, record);
  const related = findRowFault(binding, record, fields) ?? toRelated(binding, fields);
  return related instanceof RowFault
    ? rejectRow(binding, { ...record, fields }, related)
    : { kind: 'party', line, file, related, fields: nameFields(binding.headers, fields) };
}

function toRelated(binding: PartyBinding & { role: WordColumn<PartyRole> }, fields: readonly string[]) {
  const readings = new RowReadings();
  const reference = readId(binding.id, fields, readings);
  if (typeof reference !== 'string') return reference;
  const { column, read, absent } = binding.role;
  const role = column === null ? absent : read(readField(fields, column));
  // The role is not sent, so a party with an unknown role is screened as well.
  const party = toParty(binding, role ?? 'other', fields, readings);
  return party instanceof RowFault ? party : { reference, party, readings };
}

/** The first fault of a row as a whole, or of the form of a mapped field. */
function findRowFault(binding: PartyBinding, { fault, ...record }: TableRecord, fields: readonly string[]) {
  const noCustomer = fault === 'malformed_csv' ? null : findNoCustomer(binding, record.fields);
  if (noCustomer !== null) return new RowFault('not_a_customer', null, noCustomer);
  const reason = fault ?? (fields.length === binding.headers.length ? null : 'wrong_column_count');
  if (reason !== null) return new RowFault(reason, null, '');
  return findLongField(binding, fields) ?? (fields.some(isConspicuous) ? findCharacterFault(binding, fields) : null);
}

function rejectRow(
  binding: PartyBinding,
  record: TableRecord,
  fault: RowFault,
): { kind: 'rejected'; rejected: RejectedRow } {
  const { line, file, fields } = record;
  const { reason, column } = fault;
  // The fields keep the quotes that made the record malformed; the id is read without them.
  const bare = reason === 'malformed_csv' ? fields.map((field) => field.replaceAll('"', '')) : fields;
  return {
    kind: 'rejected',
    rejected: {
      line,
      file,
      column: column?.header ?? null,
      reason,
      valueClass: describeFault(binding, record, fault),
      reference: reason === 'not_a_customer' ? null : readReference(binding, bare),
      fields: nameFields(binding.headers, fields),
      ...(record.isCut && { isCut: true }),
    },
  };
}

function describeFault({ headers }: PartyBinding, { fields }: TableRecord, fault: RowFault): string | null {
  if (fault.column !== null) return classifyValue(fault.text);
  if (fault.reason === 'not_a_customer') return fault.text;
  if (fault.reason !== 'wrong_column_count') return null;
  return `${fields.length} ${fields.length === 1 ? 'field' : 'fields'} for ${headers.length} columns`;
}

/** Names the fields by their headers: missing fields are empty, surplus fields are joined in one more column. */
export function nameFields(headers: readonly string[], fields: readonly string[]): Readonly<Record<string, string>> {
  const named = headers.map((header, index) => [header, fields[index] ?? ''] as const);
  const surplus = fields.slice(headers.length).join(' | ');
  return Object.fromEntries(fields.length > headers.length ? [...named, [surplusColumn, surplus]] : named);
}

const noAttributes: Customer['attributes'] = Object.freeze({});

/** Gives the customer of a row, or its fault. A fact that is not part of a request is never a fault, only in doubt. */
function toCustomer(binding: CustomerBinding, fields: readonly string[]): Customer | RowFault {
  const readings = new RowReadings();
  const reference = readId(binding.id, fields, readings);
  if (typeof reference !== 'string') return reference;
  const party = toParty(binding, 'customer', fields, readings);
  if (party instanceof RowFault) return party;
  const riskTier = readFactWord(binding.riskTier, fields, readings, ['riskTier', 'unknown_risk_tier']);
  const isActive = readFactWord(binding.activity, fields, readings, ['active', 'unknown_standing']);
  const endDate = readDate(binding.endDate, fields, readings, 'endDate', party);
  const parties = withAliases(binding, party, fields, readings);
  if (parties instanceof RowFault) return parties;
  const attributes = binding.attributes.length === 0 ? noAttributes : readAttributes(binding.attributes, fields);
  return { reference, riskTier, parties, isActive: isActive ?? true, endDate, attributes, readings };
}

function toParty(
  binding: PartyBinding,
  role: Party['role'],
  fields: readonly string[],
  readings: RowReadings,
): Party | RowFault {
  const whole = readName(binding.name, fields);
  if (typeof whole !== 'string') return whole;
  const type = readWord(binding.type, fields, 'unknown_type');
  if (type instanceof RowFault) return type;
  if (type === null) return new RowFault('missing_type', binding.type.column, '');
  const own = listNameColumns(binding, fields, type);
  if (own.length < binding.name.columns.length && role !== 'customer')
    readings.doubt('name', listHeaders(binding.name.columns), whole, 'list_of_names');
  const columns = role === 'customer' ? own : binding.name.columns;
  const text = readName({ ...binding.name, columns }, fields);
  if (typeof text !== 'string') return text;
  const parts = columns.length > 1 ? columns.map((column) => readField(fields, column)) : [];
  const read = binding.readName(text, type, parts);
  if (read === null) return new RowFault('missing_name', columns[0] ?? null, text);
  const { name, said, why, leftOut } = read;
  const fault = name === text ? null : checkName(name, columns[0] ?? null);
  if (fault !== null) return fault;
  for (const out of leftOut) readings.doubt('namePart', columns[out.part]?.header ?? '', out.text, 'says_unknown');
  if (why !== null) readings.doubt('name', listHeaders(columns), text, why);
  if (said !== null) readings.say('name', said);
  const birthDate = readDate(binding.birthDate, fields, readings, 'birthDate', { type, birthDate: null });
  const countries = readCountries(binding.countries, fields, readings);
  return { role, type, name, birthDate, countries };
}

const listHeaders = (columns: readonly BoundColumn[]): string => columns.map(({ header }) => header).join(' + ');

/** The columns of the name for a type: where a row has the name of a person and that of a firm, one of them. */
function listNameColumns({ name, readName: read }: PartyBinding, fields: readonly string[], type: Party['type']) {
  const { columns, companies } = name;
  const isName = (column: BoundColumn): boolean => {
    const text = readField(fields, column);
    return letterOrDigit.test(text) && read(text, 'entity', []) !== null;
  };
  if (!companies.some(isName)) return columns;
  const persons = columns.filter((column) => !companies.includes(column));
  if (!persons.some(isName)) return columns;
  return type === 'person' ? persons : companies;
}

/** The trade name of a person, or the person beside the name of a firm: an alias of the other type. */
function readOtherName(binding: CustomerBinding, party: Party, fields: readonly string[], readings: RowReadings) {
  const type = party.type === 'person' ? 'entity' : 'person';
  const columns = listNameColumns(binding, fields, type);
  if (columns.length === binding.name.columns.length) return [];
  const text = readName({ ...binding.name, columns }, fields);
  const read = typeof text === 'string' ? binding.readName(text, type, []) : null;
  if (typeof text !== 'string' || read === null || toWords(read.name) === toWords(party.name)) return [];
  if (read.why !== null) readings.doubt('name', listHeaders(columns), text, read.why);
  const alias: Party = { ...party, role: 'alias', type, name: read.name };
  return [alias];
}

const toWords = (name: string): string =>
  name
    .toLowerCase()
    .split(/[\s,]+/)
    .toSorted()
    .join(' ');

/** Drops an alias whose request equals that of an earlier name. */
function withAliases(
  binding: CustomerBinding,
  party: Party,
  fields: readonly string[],
  readings: RowReadings,
): Customer['parties'] | RowFault {
  const { aliases } = binding;
  const others: Party[] = readOtherName(binding, party, fields, readings);
  if (aliases === null) return [party, ...others];
  const names = readAliases(binding, aliases, party.type, fields, readings);
  const known = new Set([party, ...others].map((each) => toScreeningRequest(each).name));
  for (const name of names) {
    const alias: Party = { ...party, role: 'alias', name };
    const { name: sentName } = toScreeningRequest(alias);
    if (known.has(sentName)) continue;
    known.add(sentName);
    others.push(alias);
  }
  if (others.length >= maxParties) {
    return new RowFault('too_many_parties', aliases.columns[0] ?? null, '');
  }
  return [party, ...others];
}

function readAttributes(columns: readonly BoundColumn[], fields: readonly string[]): Customer['attributes'] {
  const attributes: Record<string, string> = {};
  for (const column of columns) {
    const text = readField(fields, column);
    if (text !== '') attributes[column.header] = text;
  }
  return attributes;
}

/** The longest customer id, in UTF-16 units: an index of the database must be able to hold it. */
const maxIdLength = 200;
/** The longest name, in characters. */
const maxNameLength = 500;

const plainLetter = /[A-Za-z0-9]/;
const letterOrDigit = /[\p{L}\p{N}]/u;

function readField(fields: readonly string[], column: BoundColumn): string {
  const text = (fields[column.index] ?? '').trim();
  // Spreadsheets keep leading zeros by this formula.
  const isText = text.startsWith('="') && text.indexOf('"', 2) === text.length - 1;
  return isText ? text.slice(2, -1).trim() : text;
}

/** Reads an id. One that a spreadsheet has changed is in doubt and kept: with two rows of it, both names are searched. */
function readId(id: readonly BoundColumn[], fields: readonly string[], readings: RowReadings): string | RowFault {
  let joined = '';
  for (const column of id) {
    const text = readField(fields, column);
    const part = text.replace(textMark, '$1');
    if (part === '') return new RowFault('missing_id', column, '');
    if (part !== text || isChangedId(part)) readings.doubt('id', column.header, text, 'spreadsheet_id');
    joined = joined === '' ? part : `${joined} ${part}`;
  }
  return joined.length > maxIdLength ? new RowFault('id_too_long', id[0] ?? null, joined) : joined;
}

/** With an apostrophe, spreadsheets take digits for text. */
const textMark = /^['’](\d[^'’]*)['’]?$/;
/** A number as spreadsheets round it: several customers may have the same. */
const rounded = /^[-+]?\d(?:[.,]\d+E[-+]|E\+)\d{2,3}$/i;

const isChangedId = (text: string): boolean => text.startsWith('=') || rounded.test(text) || isSpreadsheetError(text);

function readReference({ id }: PartyBinding, fields: readonly string[]): string | null {
  const reference = readId(id, fields, new RowReadings());
  return typeof reference === 'string' && !isConspicuous(reference) ? reference : null;
}

function readName({ columns, separator }: PartyBinding['name'], fields: readonly string[]): string | RowFault {
  let name = '';
  for (const column of columns) {
    const part = readField(fields, column);
    if (part !== '') name = name === '' ? part : name + separator + part;
  }
  if (name === '') return new RowFault('missing_name', columns[0] ?? null, '');
  return checkName(name, columns[0] ?? null) ?? name;
}

/** Reads the aliases of a row. One that is no name is in doubt; a cell of several is searched as it is. */
function readAliases(
  binding: CustomerBinding,
  { columns, separator, isSplit }: NonNullable<CustomerBinding['aliases']>,
  type: Party['type'],
  fields: readonly string[],
  readings: RowReadings,
): readonly string[] {
  const aliases = new Set<string>();
  for (const column of columns) {
    const text = readField(fields, column);
    if (text === '') continue;
    const list = readListText(text);
    for (const part of list ?? text.split(separator)) {
      const given = part.trim().split(lineBreaks).join(' ');
      if (given === '') continue;
      const read = binding.readName(given, type, []);
      const fault = read === null ? null : checkName(read.name, column);
      if (read === null) {
        readings.doubt('aliases', column.header, given, 'says_unknown');
      } else if (fault !== null && fault.reason !== 'name_too_long') {
        readings.doubt('aliases', column.header, given, 'unreadable_alias');
      } else {
        const isOne = list !== null || isSplit || binding.isReal(given);
        const isList = lineBreaks.test(part.trim()) || (!isOne && looksLikeAliases(part, type));
        const unsent = findCharacterDoubt(given) ?? (fault === null ? null : 'unreadable_alias');
        const found = isSplit && read.why === 'list_of_names' ? null : read.why;
        const why = unsent ?? found ?? (isList ? 'list_of_names' : null);
        if (why !== null) readings.doubt('name', column.header, given, why);
        if (unsent !== null) continue;
        aliases.add(read.name);
        if (read.said !== null) readings.say('aliases', text);
      }
    }
  }
  return [...aliases];
}

const lineBreaks = /[\n\r\u0085\u2028\u2029]+/;

function checkName(name: string, column: BoundColumn | null): RowFault | null {
  if (name.length > maxNameLength && [...name].length > maxNameLength)
    return new RowFault('name_too_long', column, name);
  if (plainLetter.test(name)) return null;
  // A filler of Hangul is a letter that nobody sees.
  const visible = removeInvisible(name);
  if (visible === '') return new RowFault('missing_name', column, name);
  return letterOrDigit.test(visible) ? null : new RowFault('name_without_letters', column, name);
}

function readWord<Word>(
  { column, read, absent }: WordColumn<Word>,
  fields: readonly string[],
  unknown: RejectReason,
): Word | null | RowFault {
  const text = column === null ? '' : readField(fields, column);
  if (text === '') return absent;
  return read(text) ?? new RowFault(unknown, column, text);
}

/** Reads a word of a closed set that is not part of a request; an unknown word is in doubt. */
function readFactWord<Word>(
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

function readDate(
  date: PartyBinding['birthDate'],
  fields: readonly string[],
  readings: RowReadings,
  field: 'birthDate' | 'endDate',
  known: Pick<Party, 'type' | 'birthDate'>,
): string | null {
  const text = date === null ? '' : readField(fields, date.column);
  if (date === null || text === '') return null;
  const found = date.read(text, known);
  if (found === text) return text;
  if (typeof found === 'string') {
    readings.say(field, text);
    return found;
  }
  readings.doubt(field, date.column.header, text, findCharacterDoubt(text) ?? found.why);
  if (found.reads !== undefined) readings.say(field, found.reads);
  return found.value;
}

/** Reads the distinct countries of a row; `zz` represents unreadable ones. */
function readCountries(
  { columns, read, constant }: PartyBinding['countries'],
  fields: readonly string[],
  readings: RowReadings,
): readonly string[] {
  let countries = constant;
  let said = '';
  for (const column of columns) {
    const text = readField(fields, column);
    if (text === '') continue;
    const wrong = findCharacterDoubt(text);
    const { codes, why } = wrong === null ? read(readListText(text)?.join(';') ?? text) : { codes: [], why: wrong };
    if (why !== null) readings.doubt('countries', column.header, text, why);
    said = said === '' ? text : `${said};${text}`;
    countries = countries.length === 0 ? codes : [...new Set([...countries, ...codes])];
  }
  if (said === '' || (said.length === 2 && said.toLowerCase() === countries[0])) return countries;
  if (readings.doubts.some(({ field }) => field === 'countries')) {
    // An unreadable column beside readable ones adds an unknown country.
    if (countries.length > 0 && !countries.includes('zz')) return [...countries, 'zz'];
  } else if (said !== countries.join(';')) readings.say('countries', said);
  return countries;
}

function findCharacterDoubt(text: string): DoubtReason | null {
  if (!isConspicuous(text)) return null;
  return text.includes('\ufffd') ? 'replacement_character' : 'control_character';
}

const ellipsis = '…';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const conspicuous = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/;

/** Whether a text holds a control character, a line break or U+FFFD. */
export const isConspicuous = (text: string): boolean => conspicuous.test(text);

/** Cuts fields of unmapped columns that are too long, in a row of the right width. */
function fitFields({ headers, limits }: PartyBinding, { fault, fields }: TableRecord): readonly string[] {
  const isTooLong = (text: string, index: number): boolean => text.length > (limits[index]?.length ?? text.length);
  if (fault !== null || fields.length !== headers.length || !fields.some(isTooLong)) return fields;
  return fields.map((text, index) => {
    const limit = limits[index];
    return limit?.isCut && isTooLong(text, index) ? cutField(text, limit.length) : text;
  });
}

function cutField(text: string, length: number): string {
  const end = length - ellipsis.length;
  const isHalved = (text.codePointAt(end - 1) ?? 0) > 0xffff;
  return text.slice(0, isHalved ? end - 1 : end) + ellipsis;
}

function findLongField({ headers, limits }: PartyBinding, fields: readonly string[]): RowFault | null {
  const index = fields.findIndex((text, at) => text.length > (limits[at]?.length ?? text.length));
  if (index < 0) return null;
  return new RowFault('field_too_long', { header: headers[index] ?? '', index }, fields[index] ?? '');
}

const control = /[\p{Cc}\u2028\u2029]/u;
const ofTexts: readonly (readonly [RegExp, RejectReason])[] = [
  [control, 'control_character'],
  [/\ufffd/, 'replacement_character'],
];
const ofNames: typeof ofTexts = [[/[\n\r\u0085\u2028\u2029]/, 'line_break_in_name'], ...ofTexts];
// Postgres stores no NUL.
const ofAttributes: typeof ofTexts = [[/\0/, 'control_character'], ...ofTexts.slice(1)];

function findCharacterFault({ words, names, attributes }: PartyBinding, fields: readonly string[]): RowFault | null {
  const looked = [
    { columns: words, faults: ofTexts },
    { columns: names, faults: ofNames },
    { columns: attributes, faults: ofAttributes },
  ];
  for (const { columns, faults } of looked) {
    for (const column of columns) {
      const text = (fields[column.index] ?? '').trim();
      const [, reason] = faults.find(([pattern]) => pattern.test(text)) ?? [];
      if (reason !== undefined) return new RowFault(reason, column, text);
    }
  }
  return null;
}

class RowFault {
  readonly reason: RejectReason;
  readonly column: BoundColumn | null;
  readonly text: string;

  constructor(reason: RejectReason, column: BoundColumn | null, text: string) {
    this.reason = reason;
    this.column = column;
    this.text = text;
  }
}

/** The most UTF-16 units that a customer keeps of a value in doubt. */
const mostUnitsOfValue = 200;

const none: readonly Doubt[] = [];

class RowReadings implements Readings {
  doubts: Readings['doubts'] = none;
  said: Partial<Record<DoubtField, string>> | null = null;

  doubt(field: DoubtField, column: string, value: string, why: DoubtReason): void {
    this.doubts = [...this.doubts, { field, column, value: truncate(value, mostUnitsOfValue), why }];
  }

  say(field: DoubtField, text: string): void {
    // Created on demand: rosters whose dates need conversion have one in every row.
    this.said ??= {};
    this.said[field] = truncate(text, mostUnitsOfValue);
  }
}
