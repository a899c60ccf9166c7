import type { ColumnSettings } from './column-settings.js';
import { toCountryCode } from './country-code.js';
import type { BoundColumn, ColumnFinder } from './find-columns.js';
import { foldWord } from './fold-word.js';
import { rememberWords } from './remember-words.js';

/** The columns that hold countries. */
export interface CountryColumns {
  columns: readonly BoundColumn[];
  /** The lower-case alpha-2 codes of a field that is not empty, each once; null when it holds something that is no country. */
  read: (text: string) => readonly string[] | null;
  /** What no column at all stands for. */
  constant: readonly string[];
}

/** Binds the countries to their columns; `standard` is the header that needs no mapping. */
export function bindCountries(
  setting: ColumnSettings['countries'],
  standard: string,
  { find, findOptional }: ColumnFinder,
): CountryColumns {
  const none: readonly string[] = [];
  const read = toReader(';', {});
  if (setting === undefined) {
    const column = findOptional(standard);
    return { columns: column === null ? [] : [column], read, constant: none };
  }
  if (typeof setting === 'string') return { columns: [find(setting)], read, constant: none };
  if (Array.isArray(setting)) return { columns: setting.map(find), read, constant: none };
  if ('value' in setting) return { columns: [], read, constant: [setting.value] };
  return { columns: [find(setting.column)], read: toReader(setting.separator, setting.values ?? {}), constant: none };
}

function toReader(separator: string, values: Readonly<Record<string, string>>): CountryColumns['read'] {
  const own = new Map(Object.entries(values).map(([word, code]) => [foldWord(word), code]));
  const toCode = (text: string): string | null => own.get(foldWord(text)) ?? toCountryCode(text);
  return rememberWords((text) => {
    // A country's own name may hold a comma, as in "Korea, Republic of".
    const whole = separator === ',' ? toCode(text) : null;
    if (whole !== null) return [whole];
    const codes = new Set<string>();
    for (const part of text.split(separator)) {
      if (part.trim() === '') continue;
      const code = toCode(part);
      if (code === null) return null;
      codes.add(code);
    }
    return [...codes];
  });
}
