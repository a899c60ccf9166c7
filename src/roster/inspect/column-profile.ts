import type { PartyType, RiskTier } from '../../vocabulary.js';
import { readCountry } from '../country.js';
import { type ColumnRole, readHeader } from '../headers.js';
import { createDateReader } from '../read-date.js';

/** What the values of a column look like; shares are of the values that are not empty. */
export interface ColumnProfile {
  header: string;
  /** What the header says. */
  role: ColumnRole | null;
  /** As of `readHeader`; 0 without a role. */
  strength: number;
  /** The header says nothing, not even that the column is about something else. */
  isOpen: boolean;
  /** One for each row that was looked at: trimmed, and at most 200 characters of it. */
  values: readonly string[];
  filled: number;
  /** Share of the rows that have a value. */
  filledShare: number;
  /** How many different values. */
  distinctShare: number;
  /** The different values, in lower case, where there are few; null otherwise. */
  words: readonly string[] | null;
  /** Share of values with letters and no digit. */
  letterShare: number;
  /** Share of values of several words of letters. */
  severalWordsShare: number;
  /** Share of values that could be the code of something: one word with a digit, no amount and no e-mail address. */
  codeShare: number;
  /** Of the values, in characters. */
  meanLength: number;
  /** Share of values that are countries. */
  countryShare: number;
  /** Each date format with the share of values that it reads, the best first; nine of ten dates lie between its first and its last year. */
  dateFormats: readonly { format: string; share: number; firstYear: number; middleYear: number; lastYear: number }[];
}

/** What a profile reads of a cell: more says nothing more about what a column holds. */
const maxCellLength = 200;
const maxDateLength = 30;
const mostWords = 20;
const lookedUp = 30;
const isoFormat = 'yyyy-MM-dd';
const knownFormats =
  `yyyy-MM-dd dd.MM.yyyy d.M.yyyy dd/MM/yyyy MM/dd/yyyy d/M/yyyy M/d/yyyy dd-MM-yyyy MM-dd-yyyy yyyy/MM/dd
  yyyy.MM.dd yyyyMMdd ddMMyyyy dd.MM.yy dd/MM/yy MM/dd/yy dd-MM-yy MM-dd-yy yy-MM-dd`.split(/\s+/);
const readers = knownFormats.map((format) => ({ format, read: createDateReader([format]) }));
const latestYear = new Date().getFullYear();

/** Looks at a column's values, one for each row that was read; `name` is what of its header says what it holds. */
export function profileColumn(header: string, given: readonly string[], name = header): ColumnProfile {
  const values = given.map((value) => value.slice(0, maxCellLength).trim());
  const counts = new Map<string, number>();
  for (const value of values) if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  const filled = values.length - values.filter((value) => value === '').length;
  const share = (isMeant: (value: string) => boolean): number => {
    let sum = 0;
    for (const [value, count] of counts) if (isMeant(value)) sum += count;
    return filled === 0 ? 0 : sum / filled;
  };
  const distinct = new Set([...counts.keys()].map((value) => value.toLowerCase()));
  const { role, strength, isOther, isOtherDay } = readHeader(name);
  const dateFormats = findDateFormats(share);
  const words = distinct.size > 0 && distinct.size <= mostWords ? [...distinct] : null;
  return {
    header,
    role,
    strength,
    isOpen: role === null && !isOther && (dateFormats.length === 0 || !isOtherDay),
    values,
    filled,
    filledShare: values.length === 0 ? 0 : filled / values.length,
    distinctShare: filled === 0 ? 0 : distinct.size / filled,
    words,
    letterShare: share((value) => /\p{L}/u.test(value) && !/\p{N}/u.test(value)),
    severalWordsShare: share((value) => /\p{L}[\p{L}\p{M}.'’-]*\s+[\p{L}]/u.test(value) && !/\d/.test(value)),
    codeShare: share(isCode),
    meanLength: values.reduce((sum, { length }) => sum + length, 0) / Math.max(filled, 1),
    countryShare: looksLikeCountries([...counts.keys()]) ? share(isCountryList) : 0,
    dateFormats,
  };
}

const decimal = /^[-+]?\d+([.,]\d+)+$/;

function isCode(value: string): boolean {
  return /\d/.test(value) && /^[\p{L}\p{N}][\p{L}\p{N}._/:#-]*$/u.test(value) && !decimal.test(value);
}

/** Names of countries are looked up in many languages, which would take long for values that are plainly something else. */
const looksLikeCountries = (values: readonly string[]): boolean =>
  values.slice(0, lookedUp).filter(isCountryList).length > Math.min(values.length, lookedUp) / 3;

/** A name that two languages read differently is one of a country nevertheless. */
const isCountry = (text: string): boolean => {
  const found = readCountry(text, null);
  return 'codes' in found || found.why === 'ambiguous_country' || found.why === 'stateless';
};

const isCountryList = (value: string): boolean =>
  !/\d/.test(value) && (isCountry(value) || value.split(/[;|,/]/).every(isCountry));

function findDateFormats(share: (isMeant: (value: string) => boolean) => number): ColumnProfile['dateFormats'] {
  if (share((value) => /\d/.test(value) && value.length <= maxDateLength) < 0.1) return [];
  const fits = readers.map(({ format, read }) => {
    const years: number[] = [];
    const found = share((value) => {
      const year = value.length > maxDateLength ? null : toYear(value, format, read);
      if (year !== null) years.push(year);
      return year !== null;
    });
    years.sort((one, other) => one - other);
    const [firstYear = 0, middleYear = 0, lastYear = 0] = [0.05, 0.5, 0.95].map(
      (place) => years[Math.floor(place * years.length)] ?? 0,
    );
    return { format, share: found, firstYear, middleYear, lastYear };
  });
  return fits.filter((fit) => fit.share > 0).toSorted((one, other) => other.share - one.share);
}

/** A number of eight digits is a date only in a year in which somebody may have been born; ISO dates are read whatever the format. */
function toYear(value: string, format: string, read: (text: string) => string | null): number | null {
  if (/^\d{4}(-\d\d(-\d\d)?)?$/.test(value) && format !== isoFormat) return null;
  const year = Number(read(value)?.slice(0, 4));
  return year >= 1850 && year <= latestYear + 50 ? year : null;
}

/** A mapping as guessed, in the words of the configuration. */
interface GuessedColumns {
  id?: string | readonly string[];
  name?: string | readonly string[];
  type?: { value: PartyType } | { column: string; values: Readonly<Record<string, PartyType>> } | string;
  birthDate?: string | { column: string; format: string } | { column: string; formats: readonly string[] };
  countries?: string | readonly string[];
  /** Of the names of countries. */
  language?: string;
  riskTier?: string | { column: string; values: Readonly<Record<string, RiskTier>> };
}

/** A guessed mapping, with what somebody who knows the file should look at. */
export interface ColumnGuess {
  columns: GuessedColumns;
  /** Why each was guessed: by its header, or by its values. */
  because: Readonly<Record<string, string>>;
  /** What could not be guessed, or only by half. */
  doubts: readonly string[];
}

/** From this share on the values of a column are all of a kind. */
export const enough = 0.9;

/** A guess while it is made: each column is taken for one thing at most. */
export class Guess implements ColumnGuess {
  readonly columns: GuessedColumns = {};
  readonly because: Record<string, string> = {};
  readonly doubts: string[] = [];
  readonly #free: Set<ColumnProfile>;

  constructor(profiles: readonly ColumnProfile[]) {
    this.#free = new Set(profiles);
  }

  /** Columns that are not taken yet, in the order of the table. */
  get free(): readonly ColumnProfile[] {
    return [...this.#free];
  }

  /** Free columns whose headers say nothing that is known: only of these the values may decide. */
  get unnamed(): readonly ColumnProfile[] {
    return this.free.filter(({ isOpen }) => isOpen);
  }

  /** Free columns of a role, those whose headers say it most clearly and that have most values first. */
  ofRole(role: ColumnRole): readonly ColumnProfile[] {
    const weigh = ({ strength, filledShare }: ColumnProfile): number => strength + 4 * Math.min(filledShare, 0.5);
    return this.free.filter((profile) => profile.role === role).toSorted((one, other) => weigh(other) - weigh(one));
  }

  byRole(role: ColumnRole): ColumnProfile | undefined {
    return this.ofRole(role)[0];
  }

  take(key: keyof GuessedColumns, why: string, ...profiles: readonly ColumnProfile[]): void {
    for (const profile of profiles) this.#free.delete(profile);
    this.because[key] = why;
  }
}

/** One header as it is, several as a list. */
export function toHeaders(profiles: readonly ColumnProfile[]): string | readonly string[] {
  const headers = profiles.map(({ header }) => header);
  return headers.length === 1 ? (headers[0] ?? '') : headers;
}
