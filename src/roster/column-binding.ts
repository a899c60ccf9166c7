import { RosterError } from '../errors.js';
import type { PartyRole, PartyType, RiskTier } from '../vocabulary.js';
import {
  type ColumnSettings,
  foldWord,
  maxAttributeLength,
  maxAttributes,
  maxFieldLength,
  type PartyColumnSettings,
} from './column-settings.js';
import { type ReadCountry, readCountry } from './country.js';
import type { DoubtReason } from './customer.js';
import { foldPlaceholder } from './doubts.js';
import {
  type BoundColumn,
  type ColumnFinder,
  createColumnFinder,
  type HeaderOrigin,
  standardHeaders,
  standardPartyHeaders,
} from './headers.js';
import {
  createBirthDateReader,
  createEndDateReader,
  type DateSettings,
  type DoubtfulDate,
  rememberWords,
} from './read-date.js';

/** The columns that hold countries. */
export interface CountryColumns {
  columns: readonly BoundColumn[];
  /** The codes of a field that is not empty, each once, and why a part of it is none. */
  read: (text: string) => ReadCountries;
  /** What no column at all stands for. */
  constant: readonly string[];
}

/** The countries that a field names; where a part of it names none, why, and `zz` in place of it beside others. */
interface ReadCountries {
  codes: readonly string[];
  why: DoubtReason | null;
}

/** Binds the countries to their columns; `standard` is the header that needs no mapping, `language` that of their names. */
function bindCountries(
  { countries: setting, language = null }: Pick<ColumnSettings, 'countries'> & { language?: string | null | undefined },
  standard: string,
  { find, findOptional }: ColumnFinder,
): CountryColumns {
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

/** What may stand between countries where the separator that is declared does not: never a part of the name of one that is read. */
const otherSeparators = /[;,/|]/;

function toCountryReader(
  separator: string,
  values: Readonly<Record<string, string>>,
  language: string | null,
): CountryColumns['read'] {
  const own = new Map(Object.entries(values).map(([word, code]) => [foldWord(word), code]));
  const readOne = (text: string): ReadCountry => {
    const code = own.get(foldWord(text));
    return code === undefined ? readCountry(text, language) : { codes: [code] };
  };
  const readParts = (parts: readonly string[]): ReadCountries => {
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

/** A part of a customer that is one word of a closed set; without a column it is the same for every row. */
export interface WordColumn<Word> {
  column: BoundColumn | null;
  /** Null for a word that is not known. */
  read: (text: string) => Word | null;
  /** What an empty field, or no column, stands for. */
  absent: Word | null;
}

/** Words of our own for a part, by their folded spelling. */
type Words<Word> = Readonly<Record<string, Word>>;

type WordSetting<Word> = string | { value: Word } | { column: string; values: Readonly<Record<string, Word>> };

/** `person` and `entity`. */
const typeWords: Words<PartyType> = { person: 'person', entity: 'entity' };

/** `low`, `medium` and `high`. */
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

/** Whether a customer is still one. */
const standingWords: Words<boolean> = {
  ...{ yes: true, y: true, true: true, t: true, 1: true, active: true, open: true, current: true },
  ...{ no: false, n: false, false: false, f: false, 0: false, inactive: false, closed: false },
  ...{ former: false, left: false, ended: false, terminated: false },
};

/** Binds a setting to a column; own words that it lists are read beside ours, and before them. */
function bindWords<Word extends string | boolean>(
  setting: WordSetting<Word> | BoundColumn | null,
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

/** The columns of a name, and what joins them. */
export interface NameColumns {
  columns: readonly BoundColumn[];
  separator: string;
}

/** A column of dates and how it is read. */
export interface DateColumn {
  column: BoundColumn;
  read: (text: string) => string | DoubtfulDate;
}

/** Where each part of a party stands in a row of any source. */
export interface PartyBinding {
  headers: readonly string[];
  /** The customer's id, in parts. */
  id: readonly BoundColumn[];
  name: NameColumns;
  type: WordColumn<PartyType>;
  birthDate: DateColumn | null;
  countries: CountryColumns;
  /** Folded names that read like placeholders and are real. */
  realNames: ReadonlySet<string>;
  /** Columns of names, where a line break is a reason of its own. */
  names: readonly BoundColumn[];
  /** Columns without which a row is nobody's: of the id and the type. */
  words: readonly BoundColumn[];
  /** Columns that are only kept. */
  attributes: readonly BoundColumn[];
  /** The longest field of each column, in the order of the headers. */
  limits: readonly FieldLimit[];
}

/** The longest field of a column in UTF-16 units, and whether a longer one is cut there; it rejects its row otherwise. */
interface FieldLimit {
  length: number;
  isCut: boolean;
}

/** Where each part of a customer stands in a row. */
export interface CustomerBinding extends PartyBinding {
  riskTier: WordColumn<RiskTier>;
  aliases: NameColumns | null;
  standing: WordColumn<boolean>;
  endDate: DateColumn | null;
}

/** Where each part of a related party stands in a row. */
export interface RelatedBinding extends PartyBinding {
  role: WordColumn<PartyRole>;
}

/** A source's headers, its name for messages, where the headers come from, and the day (`yyyy-mm-dd`) after which nobody is born. */
export interface SourceHeaders {
  headers: readonly string[];
  source: string;
  origin: HeaderOrigin;
  today: string;
}

/**
 * Finds the mapped columns of a roster; birth date, countries and risk tier may be absent unless mapped by name.
 * Throws RosterError `duplicate_header`, `too_many_attributes`, or `column_missing` with all missing columns at once.
 */
export function bindColumns(
  columns: ColumnSettings,
  { headers, source, origin, today }: SourceHeaders,
): CustomerBinding {
  const finder = createColumnFinder(headers, source, origin);
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
    // Own words take the place of ours here: the code F of a bank may be a frozen account, and not a customer who has left.
    standing: bindWords(columns.active ?? null, typeof columns.active === 'object' ? {} : standingWords, true, find),
    endDate: bindDate(columns.endDate ?? null, find, (settings) =>
      createEndDateReader({ ...settings, language: columns.language ?? null, today }),
    ),
  };
  const names = customer.name.columns;
  const words = toWordColumns(customer);
  const mapped = finder.found();
  const attributes = bindAttributes(columns.attributes, finder, source);
  finder.finish();
  const limits = toLimits(finder.headers, mapped, attributes, columns.attributes === 'all');
  return { headers: finder.headers, ...customer, names, words, attributes, limits };
}

/** Finds the mapped columns of a source of related parties; type (person), birth date and countries may be absent unless mapped by name; throws like `bindColumns`. */
export function bindPartyColumns(
  columns: PartyColumnSettings,
  { headers, source, origin, today }: SourceHeaders,
): RelatedBinding {
  const finder = createColumnFinder(headers, source, origin);
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

/** A column that no setting names, of whatever else is kept too, never rejects a row for its length. */
function toLimits(
  headers: readonly string[],
  mapped: readonly BoundColumn[],
  attributes: readonly BoundColumn[],
  keepsAll: boolean,
): readonly FieldLimit[] {
  const limits = headers.map((): FieldLimit => ({ length: maxFieldLength, isCut: true }));
  for (const { index } of attributes) limits[index] = { length: maxAttributeLength, isCut: keepsAll };
  for (const { index } of mapped) limits[index] = { length: maxFieldLength, isCut: false };
  return limits;
}

type PartSettings = Pick<ColumnSettings, 'name' | 'birthDate' | 'countries' | 'language' | 'realNames'> & {
  type: NonNullable<ColumnSettings['type']>;
};

function bindParty(columns: PartSettings, absentType: PartyType | null, finder: ColumnFinder, today: string) {
  const { language = null } = columns;
  const { find, findOptional } = finder;
  return {
    name: bindName(columns.name ?? standardHeaders.name, ' ', finder),
    type: bindWords(columns.type, typeWords, absentType, find),
    birthDate: bindDate(columns.birthDate ?? findOptional(standardHeaders.birthDate), find, (settings) =>
      createBirthDateReader({ ...settings, language, today }),
    ),
    countries: bindCountries(columns, standardHeaders.countries, finder),
    realNames: new Set(columns.realNames?.map(foldPlaceholder)),
  };
}

function bindName(name: NonNullable<ColumnSettings['name']>, separator: string, { find }: ColumnFinder): NameColumns {
  return typeof name === 'string' || Array.isArray(name)
    ? { columns: [name].flat().map(find), separator }
    : { columns: name.columns.map(find), separator: name.separator };
}

function bindAliases(aliases: ColumnSettings['aliases'], { find }: ColumnFinder): NameColumns | null {
  if (aliases === undefined) return null;
  return typeof aliases === 'string' || Array.isArray(aliases)
    ? { columns: [aliases].flat().map(find), separator: ';' }
    : { columns: [find(aliases.column)], separator: aliases.separator };
}

/** Two-digit years from this one on are of the 20th century, where the settings do not say otherwise. */
const pivot = 30;

function bindDate(
  setting: ColumnSettings['birthDate'] | BoundColumn | null,
  find: ColumnFinder['find'],
  createReader: (settings: Pick<DateSettings, 'formats' | 'pivot'>) => DateColumn['read'],
): DateColumn | null {
  if (setting === null || setting === undefined) return null;
  if (typeof setting === 'string') return { column: find(setting), read: createReader({ formats: [], pivot }) };
  if ('index' in setting) return { column: setting, read: createReader({ formats: [], pivot }) };
  const formats = [setting.format ?? setting.formats ?? []].flat();
  return { column: find(setting.column), read: createReader({ formats, pivot: setting.pivot ?? pivot }) };
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
