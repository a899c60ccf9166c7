import type { ColumnSettings } from './column-settings.js';
import { type ReadCountry, readCountry } from './country-names.js';
import type { DoubtReason } from './customer.js';
import type { BoundColumn, ColumnFinder } from './find-columns.js';
import { foldWord } from './fold-word.js';
import { rememberWords } from './remember-words.js';

/** The columns that hold countries. */
export interface CountryColumns {
  columns: readonly BoundColumn[];
  /** The codes of a field that is not empty, each once, and why a part of it is none. */
  read: (text: string) => ReadCountries;
  /** What no column at all stands for. */
  constant: readonly string[];
}

/** The countries that a field names; where a part of it names none, why, and `zz` in place of it beside others. */
export interface ReadCountries {
  codes: readonly string[];
  why: DoubtReason | null;
}

/** Binds the countries to their columns; `standard` is the header that needs no mapping, `language` that of their names. */
export function bindCountries(
  { countries: setting, language = null }: Pick<ColumnSettings, 'countries'> & { language?: string | null | undefined },
  standard: string,
  { find, findOptional }: ColumnFinder,
): CountryColumns {
  const none: readonly string[] = [];
  const read = toReader(';', {}, language);
  if (setting === undefined) {
    const column = findOptional(standard);
    return { columns: column === null ? [] : [column], read, constant: none };
  }
  if (typeof setting === 'string') return { columns: [find(setting)], read, constant: none };
  if (Array.isArray(setting)) return { columns: setting.map(find), read, constant: none };
  if ('value' in setting) return { columns: [], read, constant: [setting.value] };
  return {
    columns: [find(setting.column)],
    read: toReader(setting.separator, setting.values ?? {}, language),
    constant: none,
  };
}

/** What may stand between countries where the separator that is declared does not: never a part of the name of one that is read. */
const otherSeparators = /[;,/|]/;

function toReader(
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
