import type { DoubtReason } from '../vocabulary.js';
import type { Party } from './customer.js';
import { type ColumnDoubts, mostReported } from './doubts.js';
import { createLooseDateReader, type DateSettings, type DoubtfulDate, rememberWords } from './read-date.js';

/** Reads a date of a party; the party is as far as it is known before the date. */
export type FactDateReader = (text: string, party: Pick<Party, 'type' | 'birthDate'>) => string | DoubtfulDate;

interface FactDateSettings extends DateSettings {
  /** Dates (`yyyy-mm-dd`) that look like substitutes and are real in this roster. */
  realDates: ReadonlySet<string>;
}

/**
 * Dates that systems write for an unknown or unlimited one: first and last days of calendars, databases and
 * spreadsheets, and days that are easy to type. A year or a month alone is what remains of a date with a day 0.
 */
const substitutes: ReadonlySet<string> = new Set(
  `0001-01-01 1111-11-11 1234-12-12 1582-10-15 1601-01-01 1753-01-01 1800-01-01 1858-11-17 1899-12-30 1899-12-31 1900 1900-01 1900-01-01
  1901-01-01 1901-12-13 1904-01-01 2038-01-19 2079-06-06 2099-12-31 2999-12-31 9999-12-31`.split(/\s+/),
);
/** The last of them that is past. */
const lastPastSubstitute = '1904-01-01';

/** Days on which a relationship may have ended, and that are more often the first days of clocks. */
const unlikelyEnds = ['1969-12-31', '1970-01-01', '1980-01-01', '1980-01-06', '1990-01-01', '1999-12-31', '2000-01-01'];

/** The earliest birth year, also of a firm. */
const firstYear = 1850;
/** No person is older, in years. */
const oldestAge = 116;
/** A relationship that ended before was recorded on paper. */
const firstEnd = '1970-01-02';
/** An end so many years ahead means that there is none. */
const openEndYears = 50;
const dayLength = 10;
const buddhistYears = 543;
/** Years of the lunar and Persian Hijri calendars that are plausible birth years. */
const hijriYears = { from: 1229, to: 1460 } as const;

const withoutMark = (date: string): string => (date.endsWith('?') ? date.slice(0, -1) : date);

/**
 * Creates the reader of birth dates; of a firm the date is that of its incorporation. A substitute, a date of somebody
 * who would be over 116, and one in the future are unknown. 1 January and the first days of clocks are uncertain: they
 * are written for unknown days.
 */
export function createBirthDateReader({ realDates, ...settings }: FactDateSettings): FactDateReader {
  const { today } = settings;
  const read = createLooseDateReader(settings);
  const oldest = `${Number(today.slice(0, 4)) - oldestAge}${today.slice(4)}`;
  const readBirth = rememberWords((text): string | DoubtfulDate => {
    const found = read(text);
    const date = typeof found === 'string' ? found : found.value;
    const why = date === null ? null : assessYear(withoutMark(date), today);
    return date !== null && why !== null ? { value: null, why, reads: date } : found;
  });
  const assess = (date: string, type: Party['type']): string | DoubtfulDate => {
    const day = withoutMark(date);
    if (realDates.has(day)) return date;
    if (day <= lastPastSubstitute && substitutes.has(day)) return { value: null, why: 'substitute_date', reads: date };
    // A year or a month is too early as a whole.
    if (type === 'person' && day < oldest.slice(0, day.length))
      return { value: null, why: 'year_too_early', reads: date };
    return isOftenSubstitute(day) ? `${day}?` : date;
  };
  return (text, { type }) => {
    const found = readBirth(text);
    if (typeof found === 'string') return assess(found, type);
    // The certain part of a date can be impossible as well.
    if (found.value !== null && typeof assess(found.value, type) !== 'string') return { ...found, value: null };
    return substitutes.has(withoutMark(found.reads ?? '')) ? { ...found, why: 'substitute_date' } : found;
  };
}

/** Whether a day is written for unknown ones although people are born on it. */
export const isOftenSubstitute = (day: string): boolean =>
  day.length === dayLength && (day.endsWith('-01-01') || day === '1969-12-31');

function assessYear(date: string, today: string): DoubtReason | null {
  const year = Number(date.slice(0, 4));
  const thisYear = Number(today.slice(0, 4));
  if (year >= firstYear && date <= today) return null;
  if (year - buddhistYears >= firstYear && year - buddhistYears <= thisYear) return 'buddhist_year';
  if (year > firstYear) return 'year_in_future';
  return year >= hijriYears.from && year <= hijriYears.to ? 'hijri_year' : 'year_too_early';
}

/**
 * Creates the reader of end dates: certain whole days only, because a date in doubt never offboards a customer. A
 * substitute, a day before 1970 and one before the birth date are in doubt. A day far ahead, such as 9999-12-31 or
 * `infinity`, means that no end is known.
 */
export function createEndDateReader({ realDates, ...settings }: FactDateSettings): FactDateReader {
  const openYear = Number(settings.today.slice(0, 4)) + openEndYears;
  const read = createLooseDateReader(settings);
  const readEnd = rememberWords((text): string | DoubtfulDate => {
    if (/^\+?infinity$/i.test(text)) return '9999-12-31';
    const found = read(text);
    if (typeof found !== 'string') {
      const why = found.why === 'says_unknown' || found.why === 'substitute_date' ? found.why : 'invalid_end_date';
      return { value: null, why };
    }
    const day = withoutMark(found);
    if (Number(day.slice(0, 4)) >= openYear && day.length === dayLength) return day;
    if (!realDates.has(day)) {
      const isSubstitute = day <= lastPastSubstitute && substitutes.has(day);
      if (isSubstitute || unlikelyEnds.includes(day)) return { value: null, why: 'substitute_date' };
      if (day < firstEnd) return { value: null, why: 'end_date_too_early' };
    }
    return found.length === dayLength ? found : { value: null, why: 'invalid_end_date' };
  });
  return (text, { birthDate }) => {
    const found = readEnd(text);
    const isBeforeBirth = typeof found === 'string' && birthDate !== null && found < withoutMark(birthDate);
    return isBeforeBirth ? { value: null, why: 'end_date_too_early' } : found;
  };
}

/** A date that many rows of a source have. */
export interface SharedDate {
  date: string;
  rows: number;
}

/** A day that more rows share, by their number and their share, is not the day on which they all were born, or left. */
export const sharing = { rows: 5, share: 0.05 } as const;
/** More than the days on which living people were born; further days are not counted. */
const mostDays = 60_000;

/** Counts the rows of a column of dates by date. */
export class DateTally {
  /** Rows with a date. */
  read = 0;
  readonly #days = new Map<string, SharedDate>();

  /** `column` is its header; `realDates` are not counted. */
  constructor(
    readonly column: string,
    readonly realDates: readonly string[] = [],
  ) {}

  add(date: string | null): void {
    if (date === null) return;
    this.read += 1;
    const day = withoutMark(date);
    if (day.length !== dayLength) return;
    const known = this.#days.get(day);
    if (known !== undefined) known.rows += 1;
    else if (this.#days.size < mostDays) this.#days.set(day, { date: day, rows: 1 });
  }

  /** The days that too many rows share; half the share suffices for one of `former`, shared before. */
  listShared(former: readonly string[] = []): readonly SharedDate[] {
    return [...this.#days.values()].filter(({ date, rows }) => {
      const share = former.includes(date) ? sharing.share / 2 : sharing.share;
      return rows > sharing.rows && rows > share * this.read && !this.realDates.includes(date);
    });
  }

  /** Adds days that too many rows share to the doubts of the column. */
  addTo(
    doubts: readonly ColumnDoubts[],
    field: 'birthDate' | 'endDate',
    shared: readonly SharedDate[],
  ): readonly ColumnDoubts[] {
    if (shared.length === 0) return doubts;
    const { column, read } = this;
    const none: ColumnDoubts = { column, field, read, doubts: 0, unknown: 0, values: [] };
    const own = doubts.find((each) => each.column === column) ?? none;
    const rows = shared.reduce((sum, each) => sum + each.rows, 0);
    const named = shared.map((each) => ({ value: each.date, why: 'frequent_date' as const, rows: each.rows }));
    const values = [...named, ...own.values].slice(0, mostReported);
    const all = { ...own, read: Math.max(0, own.read - rows), doubts: own.doubts + rows, values };
    return [all, ...doubts.filter((each) => each.column !== column)].toSorted(
      (one, other) => other.doubts - one.doubts,
    );
  }
}
