import { toCountryCode } from '../country-code.js';
import { createDateReader } from '../date-format.js';

/** What the values of a column look like; shares are of the values that are not empty. */
export interface ColumnProfile {
  header: string;
  filled: number;
  /** Share of the rows that have a value. */
  filledShare: number;
  /** How many different values, counted up to `mostWords` and a little beyond. */
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
  /** Each date format with the share of values that it reads, the best first; only those that read any. */
  dateFormats: readonly { format: string; share: number }[];
}

const mostWords = 20;
const isoFormat = 'yyyy-MM-dd';
const dateFormats = [
  isoFormat,
  'dd.MM.yyyy',
  'd.M.yyyy',
  'dd/MM/yyyy',
  'MM/dd/yyyy',
  'd/M/yyyy',
  'M/d/yyyy',
  'dd-MM-yyyy',
  'MM-dd-yyyy',
  'yyyy/MM/dd',
  'yyyy.MM.dd',
  'yyyyMMdd',
  'ddMMyyyy',
];
const readers = dateFormats.map((format) => ({ format, read: createDateReader([format]) }));
const latestYear = new Date().getFullYear();

/** Looks at a column's values, one for each row that was read. */
export function profileColumn(header: string, values: readonly string[]): ColumnProfile {
  const filled = values.map((value) => value.trim()).filter((value) => value !== '');
  const share = (isMeant: (value: string) => boolean): number =>
    filled.length === 0 ? 0 : filled.filter(isMeant).length / filled.length;
  const distinct = new Set(filled.map((value) => value.toLowerCase()));
  return {
    header,
    filled: filled.length,
    filledShare: values.length === 0 ? 0 : filled.length / values.length,
    distinctShare: filled.length === 0 ? 0 : distinct.size / filled.length,
    words: distinct.size > 0 && distinct.size <= mostWords ? [...distinct] : null,
    letterShare: share((value) => /\p{L}/u.test(value) && !/\p{N}/u.test(value)),
    severalWordsShare: share((value) => /\p{L}[\p{L}\p{M}.'’-]*\s+[\p{L}]/u.test(value) && !/\d/.test(value)),
    codeShare: share(isCode),
    meanLength: filled.reduce((sum, { length }) => sum + length, 0) / Math.max(filled.length, 1),
    countryShare: share(isCountryList),
    dateFormats: findDateFormats(filled),
  };
}

const decimal = /^[-+]?\d+([.,]\d+)+$/;

function isCode(value: string): boolean {
  return /^[\p{L}\p{N}][\p{L}\p{N}._/:#-]*$/u.test(value) && /\d/.test(value) && !decimal.test(value);
}

function isCountryList(value: string): boolean {
  return value.length <= 200 && value.split(/[;|,/]/).every((part) => toCountryCode(part) !== null);
}

function findDateFormats(filled: readonly string[]): ColumnProfile['dateFormats'] {
  const fits = readers.map(({ format, read }) => ({
    format,
    share: filled.length === 0 ? 0 : filled.filter((value) => isDate(value, format, read)).length / filled.length,
  }));
  return fits.filter(({ share }) => share > 0).toSorted((one, other) => other.share - one.share);
}

/** A number of eight digits is a date only in a year in which somebody may have been born; ISO dates are read whatever the format. */
function isDate(value: string, format: string, read: (text: string) => string | null): boolean {
  if (/^\d{4}(-\d\d(-\d\d)?)?$/.test(value) && format !== isoFormat) return false;
  const year = Number(read(value)?.slice(0, 4));
  return year >= 1850 && year <= latestYear + 50;
}
