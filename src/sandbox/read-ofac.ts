import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { toCountryCode } from './country-code.js';
import type { WatchlistEntry } from './watchlist-entry.js';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const SCHEMAS: Record<string, string> = { individual: 'Person', vessel: 'Vessel', aircraft: 'Airplane' };
// Company words decide between the two schemas because the file itself says only "not an individual".
const COMPANY = /\b(ltd|limited|llc|inc|corp(oration)?|co|company|gmbh|s\.?a\.?r?\.?l?|jsc|plc|bank|banco)\b\.?/i;

const readRows = async (path: string): Promise<string[][]> => {
  const text = await readFile(path, 'utf8');
  // The published files end with the end-of-file byte of another age.
  return parse(text.replaceAll('\u001a', ''), { relax_column_count: true, skip_empty_lines: true, trim: true });
};

const readOptionalRows = async (path: string): Promise<string[][]> =>
  readRows(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });

const toValue = (field: string | undefined): string => (field === undefined || field === '-0-' ? '' : field);

const toDate = (day: string | undefined, month: string | undefined, year: string): string => {
  const monthNumber = month === undefined ? 0 : MONTHS.indexOf(month) + 1;
  if (monthNumber === 0) return year;
  const yearAndMonth = `${year}-${String(monthNumber).padStart(2, '0')}`;
  return day === undefined ? yearAndMonth : `${yearAndMonth}-${day.padStart(2, '0')}`;
};

const readBirthDates = (remarks: string): string[] =>
  [...remarks.matchAll(/DOB (?:circa )?(?:(?:(\d{1,2}) )?([A-Z][a-z]{2}) )?(\d{4})/g)].map(([, day, month, year]) =>
    toDate(day, month, year ?? ''),
  );

const readCountries = (remarks: string): string[] =>
  [...remarks.matchAll(/(?:nationality|citizen) ([^;.]+)/g)].flatMap(([, name]) => toCountryCode(name ?? '') ?? []);

const readWeakAliases = (remarks: string): string[] =>
  [...remarks.matchAll(/a\.k\.a\. '([^']{3,})'/g)].flatMap(([, alias]) => alias ?? []);

const groupColumn = (rows: readonly string[][], column: number): Map<string, string[]> => {
  const groups = new Map<string, string[]>();
  for (const row of rows) {
    const value = toValue(row[column]);
    if (value !== '') groups.set(row[0] ?? '', [...(groups.get(row[0] ?? '') ?? []), value]);
  }
  return groups;
};

/** Reads the OFAC SDN list as published in CSV: `sdn.csv` and, where present, `alt.csv` (aliases) and `add.csv` (countries). */
export const readOfacFolder = async (folder: string): Promise<WatchlistEntry[]> => {
  const [parties, aliasRows, addressRows] = await Promise.all([
    readRows(join(folder, 'sdn.csv')),
    readOptionalRows(join(folder, 'alt.csv')),
    readOptionalRows(join(folder, 'add.csv')),
  ]);
  const aliases = groupColumn(aliasRows, 3);
  const addressCountries = groupColumn(addressRows, 4);
  return parties.map((row) => {
    const [number = '', name = '', type = ''] = row;
    const remarks = toValue(row[11]);
    const schema = SCHEMAS[type] ?? (COMPANY.test(name) ? 'Company' : 'Organization');
    const ofAddress = schema === 'Person' ? [] : (addressCountries.get(number) ?? []);
    return {
      id: `amla_ofac${number}`,
      schema,
      name,
      aliases: [...(aliases.get(number) ?? []), ...readWeakAliases(remarks)],
      topics: ['sanction'],
      birth_date: [...new Set(readBirthDates(remarks))],
      country: [...new Set([...readCountries(remarks), ...ofAddress.flatMap((place) => toCountryCode(place) ?? [])])],
    };
  });
};
