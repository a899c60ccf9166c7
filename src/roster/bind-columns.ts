import { RosterError } from '../errors.js';
import { standardHeaders, standardPartyHeaders } from './column-names.js';
import {
  type ColumnSettings,
  maxAttributeLength,
  maxAttributes,
  maxFieldLength,
  type PartyColumnSettings,
} from './column-settings.js';
import { bindCountries, type CountryColumns } from './country-columns.js';
import type { PartyRole, PartyType, RiskTier } from './customer.js';
import { type BoundColumn, type ColumnFinder, createColumnFinder, type HeaderOrigin } from './find-columns.js';
import { foldPlaceholder } from './placeholder-names.js';
import { createBirthDateReader, createEndDateReader, type DateSettings, type DoubtfulDate } from './read-date.js';
import { bindWords, roleWords, standingWords, tierWords, typeWords, type WordColumn } from './word-columns.js';

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
export interface FieldLimit {
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
