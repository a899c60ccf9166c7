import { knownFormats } from '../../vocabulary/date-formats.js';
import type { PartyType, RiskTier } from '../../vocabulary.js';
import { readCountry } from '../country.js';
import { readHeader } from '../headers.js';
import { createDateReader } from '../read-date.js';
import type { ProposedParty } from '../unmapped-names.js';

/** The profile of a column; shares are of the non-empty values. */
export interface ColumnProfile {
  header: string;
  /** The fact that the header names. */
  role: ReturnType<typeof readHeader>['role'];
  /** As in `readHeader`; 0 without a role. */
  strength: number;
  /** Whether the header is entirely unknown, so the column may hold any fact. */
  isOpen: boolean;
  /** One value for each sampled row: trimmed, at most 200 characters. */
  values: readonly string[];
  filled: number;
  /** Share of the rows with a value. */
  filledShare: number;
  /** Share of different values. */
  distinctShare: number;
  /** The different values in lower case if there are few; null otherwise. */
  words: readonly string[] | null;
  /** Share of values with letters and no digit. */
  letterShare: number;
  /** Share of values of several words of letters. */
  severalWordsShare: number;
  /** Share of values that may be a code: one word with a digit, no amount and no e-mail address. */
  codeShare: number;
  /** In characters. */
  meanLength: number;
  countryShare: number;
  /** The matching date formats, best first; nine of ten dates are between the first and the last year. */
  dateFormats: readonly { format: string; share: number; firstYear: number; middleYear: number; lastYear: number }[];
}

/** The characters of a cell that a profile reads. */
const maxCellLength = 200;
const maxDateLength = 30;
const mostWords = 20;
const lookedUp = 30;
const isoFormat = 'yyyy-MM-dd';
const sixDigits = 'yyMMdd'.length;
const readers = knownFormats.map((format) => ({ format, read: createDateReader(format) }));
const latestYear = new Date().getFullYear();

/** Profiles a column by its values; `name` is the significant part of its header. */
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
  const dateFormats = findDateFormats(share, role);
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
    severalWordsShare: share(
      (value) => /(?<![\p{L}\p{M}.'’-])[\p{M}.'’-]*\p{L}[\p{L}\p{M}.'’-]*\s+\p{L}/u.test(value) && !/\d/.test(value),
    ),
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

/** Country names are looked up in many languages, which is slow, so a sample decides first. */
const looksLikeCountries = (values: readonly string[]): boolean =>
  values.slice(0, lookedUp).filter(isCountryList).length > Math.min(values.length, lookedUp) / 3;

/** A name that languages read differently is still a country. */
const isCountry = (text: string): boolean => {
  const found = readCountry(text, null);
  return 'codes' in found || found.why === 'ambiguous_country' || found.why === 'stateless';
};

const isCountryList = (value: string): boolean =>
  !/\d/.test(value) && (isCountry(value) || value.split(/[;|,/]/).every(isCountry));

function findDateFormats(
  share: (isMeant: (value: string) => boolean) => number,
  role: ColumnProfile['role'],
): ColumnProfile['dateFormats'] {
  if (share((value) => /\d/.test(value) && value.length <= maxDateLength) < 0.1) return [];
  // Six digits alone are more often a number.
  const usual = readers.filter(
    ({ format }) => format.length > sixDigits || /[^dMy]/.test(format) || role === 'birth_date',
  );
  const fits = usual.map(({ format, read }) => {
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

/** Eight digits are a date only in a plausible birth year; ISO dates are read with every format. */
function toYear(value: string, format: string, read: (text: string) => string | null): number | null {
  if (/^\d{4}(-\d\d(-\d\d)?)?$/.test(value) && format !== isoFormat) return null;
  const year = Number(read(value)?.slice(0, 4));
  return year >= 1850 && year <= latestYear + 50 ? year : null;
}

/** A guessed mapping in the form of the configuration. */
interface GuessedColumns {
  id?: string | readonly string[];
  name?: string | readonly string[];
  type?: { value: PartyType } | { column: string; values: Readonly<Record<string, PartyType>> } | string;
  birthDate?: string | { column: string; format: string } | { column: string; formats: readonly string[] };
  countries?: string | readonly string[];
  riskTier?: string | { column: string; values: Readonly<Record<string, RiskTier>> };
  parties?: readonly ProposedParty[];
}

/** A guessed mapping with its doubts, which a person who knows the file should check. */
export interface ColumnGuess {
  columns: GuessedColumns;
  /** The reason of each guess: the header or the values. */
  because: Readonly<Record<string, string>>;
  /** Missing and uncertain guesses. */
  doubts: readonly string[];
  /** Columns with the meaning of a fact whose values are all unknown, so that the mapping leaves them out. */
  unmapped: readonly Unmapped[];
}

/** A column with the meaning of a fact, without a readable value. */
export interface Unmapped {
  key: 'type' | 'countries' | 'riskTier';
  column: string;
}

/** From this share on, the values of a column count as uniform. */
export const enough = 0.9;

/** A guess in progress: each column is used for one fact at most. */
export class Guess implements ColumnGuess {
  readonly columns: GuessedColumns = {};
  readonly because: Record<string, string> = {};
  readonly doubts: string[] = [];
  readonly unmapped: Unmapped[] = [];
  readonly #free: Set<ColumnProfile>;

  constructor(profiles: readonly ColumnProfile[]) {
    this.#free = new Set(profiles);
  }

  /** Unused columns, in the order of the table. */
  get free(): readonly ColumnProfile[] {
    return [...this.#free];
  }

  /** Unused columns with an unknown header: only for these the values decide. */
  get unnamed(): readonly ColumnProfile[] {
    return this.free.filter(({ isOpen }) => isOpen);
  }

  /** Unused columns of a role, those with the clearest headers and most values first. */
  ofRole(role: ColumnProfile['role']): readonly ColumnProfile[] {
    const weigh = ({ strength, filledShare }: ColumnProfile): number => strength + 4 * Math.min(filledShare, 0.5);
    return this.free.filter((profile) => profile.role === role).toSorted((one, other) => weigh(other) - weigh(one));
  }

  byRole(role: ColumnProfile['role']): ColumnProfile | undefined {
    return this.ofRole(role)[0];
  }

  take(key: keyof GuessedColumns, why: string, ...profiles: readonly ColumnProfile[]): void {
    for (const profile of profiles) this.#free.delete(profile);
    this.because[key] = why;
  }
}

/** Gives one header as a text, several as a list. */
export function toHeaders(profiles: readonly ColumnProfile[]): string | readonly string[] {
  const headers = profiles.map(({ header }) => header);
  return headers.length === 1 ? (headers[0] ?? '') : headers;
}
