import { RosterError } from '../errors.js';
import { type PartyType, partyTypes, type RiskTier, riskTiers } from './customer.js';
import { compileDateFormat } from './date-format.js';
import type { ColumnSettings } from './settings.js';

/** A column of the source by its place, with its header for messages. */
export interface BoundColumn {
  header: string;
  index: number;
}

/** Where each part of a customer stands in a row, and how its words are read; own words are keyed in lower case. */
export interface ColumnBinding {
  headers: readonly string[];
  id: readonly BoundColumn[];
  name: readonly BoundColumn[];
  type: { value: PartyType } | { column: BoundColumn; words: ReadonlyMap<string, PartyType> };
  birthDate: { column: BoundColumn; format: RegExp | null } | null;
  countries: BoundColumn | null;
  riskTier: { column: BoundColumn; words: ReadonlyMap<string, RiskTier> } | null;
}

/** The headers that need no mapping. */
const standardHeaders = {
  id: 'customer_id',
  name: 'name',
  type: 'type',
  birthDate: 'birth_date',
  countries: 'countries',
  riskTier: 'risk_tier',
} as const;

const columnKeys = ['id', 'name', 'type', 'birthDate', 'countries', 'riskTier'] as const;

/**
 * Finds the mapped columns among a source's headers; birth date, countries and risk tier may be absent unless mapped by name.
 * Throws RosterError `duplicate_header`, or `column_missing` with all missing columns at once.
 */
export function bindColumns(columns: ColumnSettings, givenHeaders: readonly string[], source: string): ColumnBinding {
  const headers = nameHeaders(givenHeaders);
  const duplicates = headers.filter((header, index) => headers.indexOf(header) !== index);
  if (duplicates.length > 0) {
    throw new RosterError(
      'duplicate_header',
      `${source}: the header has ${quoteAll([...new Set(duplicates)])} more than once. Give each column a name of its own.`,
    );
  }
  const missing: string[] = [];
  const find = (header: string): BoundColumn => {
    const index = headers.indexOf(header.normalize('NFC'));
    if (index < 0) missing.push(header);
    return { header, index };
  };
  const findOptional = (header: string) => (headers.includes(header) ? find(header) : null);

  const { type = standardHeaders.type, birthDate, countries, riskTier } = columns;
  const binding: ColumnBinding = {
    headers,
    id: [columns.id ?? standardHeaders.id].flat().map(find),
    name: [columns.name ?? standardHeaders.name].flat().map(find),
    type: bindType(type, find),
    birthDate: bindBirthDate(birthDate, find, findOptional),
    countries: countries === undefined ? findOptional(standardHeaders.countries) : find(countries),
    riskTier: bindRiskTier(riskTier, find, findOptional),
  };
  if (missing.length > 0) throw toMissingError([...new Set(missing)], headers, source);
  return binding;
}

/** Counts how many of the given headers the mapping asks for. */
export function countMappedHeaders(columns: ColumnSettings, headers: readonly string[]): number {
  const wanted = new Set<string>();
  for (const key of columnKeys) {
    for (const setting of [columns[key] ?? standardHeaders[key]].flat()) {
      if (typeof setting === 'string') wanted.add(setting);
      else if ('column' in setting) wanted.add(setting.column);
    }
  }
  return headers.filter((header) => wanted.has(header.trim())).length;
}

type Find = (header: string) => BoundColumn;
type FindOptional = (header: string) => BoundColumn | null;

function bindType(type: NonNullable<ColumnSettings['type']>, find: Find): ColumnBinding['type'] {
  if (typeof type === 'string') return { column: find(type), words: toWords(partyTypes) };
  return 'value' in type ? { value: type.value } : { column: find(type.column), words: toOwnWords(type.values) };
}

function bindBirthDate(
  birthDate: ColumnSettings['birthDate'],
  find: Find,
  findOptional: FindOptional,
): ColumnBinding['birthDate'] {
  if (typeof birthDate === 'object') {
    return { column: find(birthDate.column), format: compileDateFormat(birthDate.format) };
  }
  const column = birthDate === undefined ? findOptional(standardHeaders.birthDate) : find(birthDate);
  return column && { column, format: null };
}

function bindRiskTier(
  riskTier: ColumnSettings['riskTier'],
  find: Find,
  findOptional: FindOptional,
): ColumnBinding['riskTier'] {
  if (typeof riskTier === 'object') return { column: find(riskTier.column), words: toOwnWords(riskTier.values) };
  const column = riskTier === undefined ? findOptional(standardHeaders.riskTier) : find(riskTier);
  return column && { column, words: toWords(riskTiers) };
}

function toWords<Word extends string>(words: readonly Word[]): ReadonlyMap<string, Word> {
  return new Map(words.map((word) => [word, word]));
}

function toOwnWords<Word extends string>(values: Readonly<Record<string, Word>>): ReadonlyMap<string, Word> {
  return new Map(Object.entries(values).map(([own, word]) => [foldWord(own), word]));
}

/** Gives the form in which own words of a mapping and of a row are compared. */
export function foldWord(word: string): string {
  return word.trim().normalize('NFC').toLowerCase();
}

function nameHeaders(headers: readonly string[]): readonly string[] {
  return headers.map((header, index) => header.trim().normalize('NFC') || `column ${index + 1}`);
}

function toMissingError(missing: readonly string[], headers: readonly string[], source: string): RosterError {
  return new RosterError(
    'column_missing',
    `${source}: no column ${quoteAll(missing)}. The header has ${quoteAll(headers)}. ` +
      'Name the right columns under `columns:` of this roster in the configuration, ' +
      `for example columns: { id: ${headers[0] ?? 'customer_no'}, name: [first_name, last_name], type: { value: person } }.`,
  );
}

function quoteAll(headers: readonly string[]): string {
  const shown = headers.slice(0, 50).map((header) => JSON.stringify(header.slice(0, 60)));
  return shown.join(', ') + (headers.length > shown.length ? ' ...' : '');
}
