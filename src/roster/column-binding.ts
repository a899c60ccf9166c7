import { RosterError } from '../errors.js';
import type { DoubtReason, PartyRole, PartyType, RiskTier } from '../vocabulary.js';
import { readCountry } from './country.js';
import { createBirthDateReader, createEndDateReader, type FactDateReader } from './fact-dates.js';
import { type BoundColumn, readHeader, standardHeaders, standardPartyHeaders } from './headers.js';
import { foldPlaceholder, type PartyName, readPartyName } from './party-name.js';
import { rememberWords } from './read-date.js';
import {
  type ColumnSettings,
  foldWord,
  maxAttributeLength,
  maxAttributes,
  maxFieldLength,
  type PartyColumnSettings,
} from './settings.js';
import { describeLowerHeader, mostQuoted, quoteAll, type TableReading } from './table-reading.js';

/** Binds the countries to their columns; `standard` is the header that needs no mapping. */
function bindCountries(
  { countries: setting, language = null }: Pick<ColumnSettings, 'countries'> & { language?: string | null | undefined },
  standard: string,
  { find, findOptional }: ColumnFinder,
): PartyBinding['countries'] {
  const none: readonly string[] = [];
  const read = toCountryReader(';', {}, language);
  if (setting === undefined) {
    const column = findOptional(standard);
    return { columns: column === null ? [] : [column], read, constant: none };
  }
  if (typeof setting === 'string') return { columns: [find(setting)], read, constant: none };
  if (Array.isArray(setting)) return { columns: setting.map(find), read, constant: none };
  if ('value' in setting) return { columns: [], read, constant: [setting.value] };
  return {
    columns: [find(setting.column)],
    read: toCountryReader(setting.separator, setting.values ?? {}, language),
    constant: none,
  };
}

/** Other possible separators of countries. The names that are read do not contain them. */
const otherSeparators = /[;,/|]/;

function toCountryReader(
  separator: string,
  values: Readonly<Record<string, string>>,
  language: string | null,
): PartyBinding['countries']['read'] {
  const own = new Map(Object.entries(values).map(([word, code]) => [foldWord(word), code]));
  const readOne = (text: string) => {
    const code = own.get(foldWord(text));
    return code === undefined ? readCountry(text, language) : { codes: [code] };
  };
  const readParts = (parts: readonly string[]) => {
    const codes = new Set<string>();
    let why: DoubtReason | null = null;
    for (const part of parts) {
      if (part.trim() === '') continue;
      const found = readOne(part);
      if ('why' in found) why ??= found.why;
      else for (const code of found.codes) codes.add(code);
    }
    return { codes: why === null || codes.size === 0 ? [...codes] : [...codes, 'zz'], why };
  };
  return rememberWords((text) => {
    // A country's own name may hold a comma, as in "Korea, Republic of".
    const whole = readOne(text);
    if (!('why' in whole)) return { codes: whole.codes, why: null };
    const parts = text.split(separator);
    const found = readParts(parts);
    if (found.why === null || !parts.some((part) => otherSeparators.test(part))) return found;
    const others = readParts(text.split(otherSeparators));
    return others.why === null ? others : found;
  });
}

/** A fact that is one word of a closed set; without a column it is the same for every row. */
export interface WordColumn<Word> {
  column: BoundColumn | null;
  /** Null for an unknown word. */
  read: (text: string) => Word | null;
  /** The value of an empty or missing field. */
  absent: Word | null;
}

type Words<Word> = Readonly<Record<string, Word>>;

const typeWords: Words<PartyType> = { person: 'person', entity: 'entity' };

const tierWords: Words<RiskTier> = { low: 'low', medium: 'medium', high: 'high' };

/** The roles of related parties, with the names that registers give them. */
const roleWords: Words<PartyRole> = {
  alias: 'alias',
  aka: 'alias',
  joint_holder: 'joint_holder',
  'joint holder': 'joint_holder',
  director: 'director',
  beneficial_owner: 'beneficial_owner',
  'beneficial owner': 'beneficial_owner',
  ubo: 'beneficial_owner',
  other: 'other',
};

const activityWords: Words<boolean> = {
  yes: true,
  y: true,
  true: true,
  t: true,
  1: true,
  active: true,
  open: true,
  current: true,
  no: false,
  n: false,
  false: false,
  f: false,
  0: false,
  inactive: false,
  closed: false,
  former: false,
  left: false,
  ended: false,
  terminated: false,
};

/** Binds a setting to a column. Words that the setting lists come before the known ones. */
function bindWords<Word extends string | boolean>(
  setting: string | { value: Word } | { column: string; values: Words<Word> } | BoundColumn | null,
  words: Words<Word>,
  absent: Word | null,
  find: (header: string) => BoundColumn,
): WordColumn<Word> {
  if (setting === null) return { column: null, read: () => null, absent };
  if (typeof setting === 'string') return { column: find(setting), read: toWordReader(words), absent };
  if ('value' in setting) return { column: null, read: () => null, absent: setting.value };
  if ('index' in setting) return { column: setting, read: toWordReader(words), absent };
  return { column: find(setting.column), read: toWordReader(words, setting.values), absent };
}

function toWordReader<Word>(words: Words<Word>, own: Words<Word> = {}): (text: string) => Word | null {
  const all = [...Object.entries(words), ...Object.entries(own)];
  const folded = new Map(all.map(([text, word]) => [foldWord(text), word]));
  return rememberWords((text) => folded.get(foldWord(text)) ?? null);
}

/** The columns of a party in any source. */
export interface PartyBinding {
  headers: readonly string[];
  /** The columns of the customer's id. */
  id: readonly BoundColumn[];
  /** The columns of the name, what joins them, and those of firms beside the first or last name of a person. */
  name: { columns: readonly BoundColumn[]; separator: string; companies: readonly BoundColumn[] };
  type: WordColumn<PartyType>;
  birthDate: { column: BoundColumn; read: FactDateReader } | null;
  countries: {
    columns: readonly BoundColumn[];
    /** The distinct codes of a non-empty field; `why` a part is unreadable, which is `zz` beside others. */
    read: (text: string) => { codes: readonly string[]; why: DoubtReason | null };
    /** The countries of every row when no column gives them. */
    constant: readonly string[];
  };
  /** Reads a whole name; null for a placeholder of a missing one. `parts` are the joined fields of several columns. */
  readName: (text: string, type: PartyType, parts: readonly string[]) => PartyName | null;
  /** Whether the settings list a name as real. */
  isReal: (name: string) => boolean;
  /** Columns of names: a line break in one has its own reject reason. */
  names: readonly BoundColumn[];
  /** The columns of the id and the type. */
  words: readonly BoundColumn[];
  /** Columns that are stored but not read. */
  attributes: readonly BoundColumn[];
  /** The longest field of each column in UTF-16 units. A longer one is cut if `isCut`, or rejects its row. */
  limits: readonly { length: number; isCut: boolean }[];
}

/** The columns of a customer. */
export interface CustomerBinding extends PartyBinding {
  riskTier: WordColumn<RiskTier>;
  /** `isSplit`: the settings name the separator, so what it leaves together is one name. */
  aliases: (Omit<PartyBinding['name'], 'companies'> & { isSplit: boolean }) | null;
  activity: WordColumn<boolean>;
  endDate: PartyBinding['birthDate'];
}

/** The headers of a source with their origin. */
export interface SourceHeaders {
  /** As `nameHeaders` gives them. */
  headers: readonly string[];
  source: string;
  /**
   * Where the headers come from: a `query`, the `first_line` of a file, or `numbers` for a file without a header. The
   * first line may be a customer's row, so messages quote only its mapped headers.
   */
  origin: 'query' | 'first_line' | 'numbers';
  lowerHeader?: TableReading['lowerHeader'];
  /** `yyyy-mm-dd`: the latest possible birth date. */
  today: string;
}

/**
 * Finds the mapped columns of a roster. The standard columns of birth date, countries and risk tier may be absent.
 * Throws RosterError `duplicate_header`, `too_many_attributes`, or `column_missing` with all missing columns at once.
 */
export function bindColumns(columns: ColumnSettings, { today, ...shape }: SourceHeaders): CustomerBinding {
  const { source } = shape;
  const finder = createColumnFinder(shape);
  const { find, findOptional } = finder;
  const id = [columns.id ?? standardHeaders.id].flat().map(find);
  const shared = bindParty({ ...columns, type: columns.type ?? standardHeaders.type }, null, finder, today);
  const tier = columns.riskTier ?? findOptional(standardHeaders.riskTier);
  const aliases = bindAliases(columns.aliases, finder);
  const customer = {
    id,
    ...shared,
    riskTier: bindWords(tier, tierWords, null, find),
    aliases,
    // Own words replace the known ones here: the code F of a bank may mean a frozen account of an active customer.
    activity: bindWords(columns.active ?? null, typeof columns.active === 'object' ? {} : activityWords, true, find),
    endDate: bindDate(columns.endDate ?? null, createEndDateReader, columns, finder, today),
  };
  const names = customer.name.columns;
  const words = toWordColumns(customer);
  const mapped = finder.found();
  const attributes = bindAttributes(columns.attributes, finder, source);
  finder.finish();
  const limits = toLimits(finder.headers, mapped, attributes, columns.attributes === 'all');
  return { headers: finder.headers, ...customer, names, words, attributes, limits };
}

/**
 * Finds the mapped columns of a source of related parties. Type (default person), birth date and countries may be
 * absent. Throws like `bindColumns`.
 */
export function bindPartyColumns(columns: PartyColumnSettings, { today, ...shape }: SourceHeaders) {
  const finder = createColumnFinder(shape);
  const { find, headers: given } = finder;
  const standardType = given.includes(standardPartyHeaders.type) ? standardPartyHeaders.type : null;
  const party = {
    id: [columns.customerId ?? standardPartyHeaders.customerId].flat().map(find),
    role: bindWords(columns.role ?? standardPartyHeaders.role, roleWords, null, find),
    ...bindParty({ ...columns, type: columns.type ?? standardType ?? { value: 'person' } }, 'person', finder, today),
  };
  const names = party.name.columns;
  const words = toWordColumns(party);
  finder.finish();
  const limits = toLimits(finder.headers, finder.found(), [], false);
  return { headers: finder.headers, ...party, names, words, attributes: [], limits };
}

const toWordColumns = ({ id, type }: Pick<PartyBinding, 'id' | 'type'>): readonly BoundColumn[] =>
  type.column === null ? id : [...id, type.column];

/** Only columns that a setting names reject a row for a long field. */
function toLimits(
  headers: readonly string[],
  mapped: readonly BoundColumn[],
  attributes: readonly BoundColumn[],
  keepsAll: boolean,
) {
  const limits = headers.map(() => ({ length: maxFieldLength, isCut: true }));
  for (const { index } of attributes) limits[index] = { length: maxAttributeLength, isCut: keepsAll };
  for (const { index } of mapped) limits[index] = { length: maxFieldLength, isCut: false };
  return limits;
}

function bindParty(
  columns: Pick<ColumnSettings, 'name' | 'birthDate' | 'countries' | 'language' | 'realNames' | 'realDates'> & {
    type: NonNullable<ColumnSettings['type']>;
  },
  absentType: PartyType | null,
  finder: ColumnFinder,
  today: string,
) {
  const { find, findOptional } = finder;
  const birthDate = columns.birthDate ?? findOptional(standardHeaders.birthDate);
  const realNames = new Set(columns.realNames?.map(foldPlaceholder));
  const name = bindName(columns.name ?? standardHeaders.name, ' ', finder);
  return {
    name,
    type: bindWords(columns.type, typeWords, absentType, find),
    birthDate: bindDate(birthDate, createBirthDateReader, columns, finder, today),
    countries: bindCountries(columns, standardHeaders.countries, finder),
    readName: (text: string, type: PartyType, parts: readonly string[]) =>
      readPartyName(text, type, { parts, separator: name.separator, realNames }),
    isReal: (text: string) => realNames.has(foldPlaceholder(text)),
  };
}

function bindName(name: NonNullable<ColumnSettings['name']>, separator: string, { find }: ColumnFinder) {
  const isPlain = typeof name === 'string' || Array.isArray(name);
  const columns = (isPlain ? [name].flat() : name.columns).map(find);
  const roles = columns.map(({ header }) => readHeader(header).role);
  const hasPersons = roles.includes('first_name') || roles.includes('last_name');
  const companies = hasPersons ? columns.filter((_, at) => roles[at] === 'company') : [];
  return { columns, separator: isPlain ? separator : name.separator, companies };
}

function bindAliases(aliases: ColumnSettings['aliases'], { find }: ColumnFinder) {
  if (aliases === undefined) return null;
  return typeof aliases === 'string' || Array.isArray(aliases)
    ? { columns: [aliases].flat().map(find), separator: ';', isSplit: false }
    : {
        columns: [find(aliases.column)],
        separator: aliases.separator ?? ';',
        isSplit: aliases.separator !== undefined,
      };
}

/** The default pivot: two-digit years from this one on belong to the 20th century. */
const pivot = 30;

function bindDate(
  setting: ColumnSettings['birthDate'] | BoundColumn | null,
  createReader: typeof createBirthDateReader,
  { language, realDates }: Pick<ColumnSettings, 'language' | 'realDates'>,
  { find }: ColumnFinder,
  today: string,
): PartyBinding['birthDate'] {
  if (setting === null || setting === undefined) return null;
  const plain = { formats: [], pivot, language: language ?? null, today, realDates: new Set(realDates) };
  if (typeof setting === 'string') return { column: find(setting), read: createReader(plain) };
  if ('index' in setting) return { column: setting, read: createReader(plain) };
  const formats = [setting.format ?? setting.formats ?? []].flat();
  const read = createReader({ ...plain, formats, pivot: setting.pivot ?? pivot });
  return { column: find(setting.column), read };
}

function bindAttributes(
  attributes: ColumnSettings['attributes'],
  { headers, find, found }: ColumnFinder,
  source: string,
): readonly BoundColumn[] {
  if (attributes === undefined) return [];
  const mapped = new Set(found().map((column) => column.header));
  const kept = attributes === 'all' ? headers.filter((header) => !mapped.has(header)) : attributes;
  if (kept.length > maxAttributes || kept.includes('__proto__')) {
    const what = kept.length > maxAttributes ? `${kept.length} columns are not mapped` : 'one is called __proto__';
    throw new RosterError(
      'too_many_attributes',
      `${source}: attributes: all cannot keep every column (${what}). List at most ${maxAttributes} headers under columns.attributes.`,
    );
  }
  return kept.map(find);
}

interface ColumnFinder {
  headers: readonly string[];
  find(header: string): BoundColumn;
  findOptional(header: string): BoundColumn | null;
  found(): readonly BoundColumn[];
  finish(): void;
}

function createColumnFinder({ headers, source, origin, lowerHeader }: Omit<SourceHeaders, 'today'>): ColumnFinder {
  const places = new Map<string, number>();
  const repeated: number[] = [];
  for (const [index, header] of headers.entries()) {
    if (places.has(header)) repeated.push(index);
    else places.set(header, index);
  }
  const lower = origin === 'first_line' && lowerHeader ? describeLowerHeader(lowerHeader.line) : '';
  if (repeated.length > 0) throw toDuplicateError(repeated, headers, source, origin, lower);
  const missing = new Set<string>();
  const found = new Map<string, BoundColumn>();
  const find = (header: string): BoundColumn => {
    const name = header.normalize('NFC');
    const index = places.get(name);
    if (index === undefined) missing.add(header);
    const column = found.get(name) ?? { header: name, index: index ?? -1 };
    found.set(name, column);
    return column;
  };
  return {
    headers,
    find,
    findOptional: (header) => (places.has(header) ? find(header) : null),
    found: () => [...found.values()],
    finish: () => {
      if (missing.size === 0) return;
      const present = [...found.values()].filter(({ index }) => index >= 0).map(({ header }) => header);
      const reported = `${source}: no column ${quoteAll([...missing])}. ${lower || describeThere(headers, present, origin)}`;
      throw new RosterError('column_missing', reported);
    },
  };
}

function toDuplicateError(
  repeated: readonly number[],
  headers: readonly string[],
  source: string,
  origin: SourceHeaders['origin'],
  lower: string,
): RosterError {
  const names = new Set(repeated.map((index) => headers[index] ?? ''));
  const places = headers.flatMap((header, index) => (names.has(header) ? index + 1 : []));
  const reported =
    origin === 'query'
      ? `the header has ${quoteAll([...names])} more than once. Give each column a name of its own.`
      : `the first line has the same value more than once (in the columns ${places.slice(0, mostQuoted).join(', ')}). ` +
        (lower || `Give each column a name of its own. ${withoutHeader}.`);
  return new RosterError('duplicate_header', `${source}: ${reported}`);
}

const withoutHeader = 'If the first line is a row, write `header: false` under `csv:` and name the columns by number';

function describeThere(
  headers: readonly string[],
  present: readonly string[],
  origin: SourceHeaders['origin'],
): string {
  const place = 'under `columns:` of this roster in the configuration, for example columns:';
  const byName = '{ id: customer_no, name: [first_name, last_name], type: { value: person } }';
  const byNumber = '{ id: 1, name: [2, 3], type: { value: person } }';
  if (origin === 'numbers') {
    return `The source is read without a header and has columns 1 to ${headers.length}. Name its columns by number ${place} ${byNumber}.`;
  }
  if (origin === 'query') return `The header has ${quoteAll(headers)}. Name the right columns ${place} ${byName}.`;
  const count = headers.length === 1 ? '1 column' : `${headers.length} columns`;
  const known = present.length === 0 ? 'none of them mapped' : `the mapped ones among them are ${quoteAll(present)}`;
  return (
    `The first line has ${count}, ${known}. The others are not shown here, because they may be a customer's data: ` +
    `\`nightscreen roster inspect FILE\` shows them. Name the right columns ${place} ${byName}. ` +
    `${withoutHeader}: columns: ${byNumber}.`
  );
}
