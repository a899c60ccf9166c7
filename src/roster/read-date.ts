import type { DoubtReason } from '../vocabulary.js';
import { saysUnknown } from './doubts.js';

/** How dates of a column are read. */
export interface DateSettings {
  /** Declared formats; they also define the order of day and month. */
  formats: readonly string[];
  language: string | null;
  /** Two-digit years from this one on belong to the 20th century, lower ones to the 21st. */
  pivot: number;
  today: string;
}

/** A date in doubt, with the certain part of it and the reason. */
export interface DoubtfulDate {
  value: string | null;
  why: DoubtReason;
  /** The date as read, when its year is out of bounds. */
  reads?: string;
}

/** The earliest year that is read from eight digits. */
const firstYear = 1850;

const timeOfDay =
  /(?<![T\s])[T\s]+\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:[.,]\d+)?)?(?:\s*[ap]\.?m\.?)?\s*(?<zone>Z|UTC|[+-]\d{2}(?::?\d{2}(?::\d{2})?)?)?$/i;
const midnight = /[T\s]0{1,2}[:.]00(?:[:.]00(?:[.,]0+)?)?\s*(?:Z|UTC|[+-]\d{2}(?::?\d{2}(?::\d{2})?)?)?$/i;
const roughly =
  /^(?:circa|ca\.?|c\.|approx(?:imately|\.)?|about|around|abt\.?|um|vers|env\.?|environ|hacia|~|≈)\s*(?=\d)/i;

/**
 * Creates the reader of a date: whole, a year and month, or a year, with `?` after an uncertain date, such as one whose
 * century follows from the pivot. Declared formats come first, then ISO 8601 with an optional time, then day, month and
 * year by their positions, values and names.
 */
export function createLooseDateReader({
  formats,
  language,
  pivot,
  today,
}: DateSettings): (text: string) => string | DoubtfulDate {
  const declared = formats.map(compileDateFormat);
  const order = findOrder(formats);
  const thisYear = Number(today.slice(0, 4));
  const toCentury = (short: string): string => {
    const year = Number(short) + (Number(short) < pivot ? 2_000 : 1_900);
    return String(year > thisYear ? year - 100 : year);
  };
  const readDay = (text: string): string | DoubtfulDate => {
    const strict = parseDate(text, declared, toCentury);
    if (strict !== null) return strict;
    const groups = matchFirst(text, declared)?.groups;
    if (groups !== undefined) return readUnknownParts(groups, toCentury);
    return readLoosely(text, { order, language, toCentury });
  };
  return (given) => {
    const strict = parseDate(given, declared, toCentury);
    if (strict !== null) return strict;
    const text = toPlainDigits(given.normalize('NFKC'));
    if (saysUnknown(text) || /^[0\s./-]+$/.test(text)) return { value: null, why: 'says_unknown' };
    if (noEnd.test(text)) return { value: null, why: 'substitute_date' };
    const time = timeOfDay.exec(text);
    const day = time === null ? text : text.slice(0, time.index);
    // The day in another time zone may be the one before or after, unless the time is midnight.
    const isVague = roughly.test(day) || (time?.groups?.['zone'] !== undefined && !midnight.test(text));
    const found = readDay(day.replace(roughly, '').trim());
    return isVague && typeof found === 'string' && !found.endsWith('?') ? `${found}?` : found;
  };
}

/** What Postgres writes for a date without an end. */
const noEnd = /^[+-]?infinity$/i;

/** Zeros of scripts with own digits. */
const zeros = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50];

function toPlainDigits(text: string): string {
  return text.replace(/[^\P{Nd}0-9]/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    const zero = zeros.find((first) => code >= first && code < first + 10);
    return zero === undefined ? digit : String(code - zero);
  });
}

interface LooseSettings {
  order: DateOrder;
  language: string | null;
  toCentury: (short: string) => string;
}

const unreadable: DoubtfulDate = { value: null, why: 'invalid_birth_date' };
const noSuchDay: DoubtfulDate = { value: null, why: 'no_such_day' };
const ambiguous: DoubtfulDate = { value: null, why: 'ambiguous_date' };

const eastAsian = /^(\d{4})\s*[年년]\s*(?:(\d{1,2})\s*[月월]\s*(?:(\d{1,2})\s*[日일])?)?$/u;
const numeric = /^(\d{1,4})(\s*[./-]\s*|\s+)(\d{1,2})(\s*[./-]\s*|\s+)(\d{1,4})\.?$/;
const monthAndYear = /^(\d{1,2})\s*[./-]\s*(\d{4})$|^(\d{4})\s*[./-]\s*(\d{1,2})$/;
const digitsAlone = /^\d{8}$/;

function readLoosely(text: string, settings: LooseSettings): string | DoubtfulDate {
  const [, eastYear, eastMonth, eastDay] = eastAsian.exec(text) ?? [];
  if (eastYear !== undefined) return toDate(eastYear, eastMonth ?? '0', eastDay ?? '0');
  const [, first, sign, second, otherSign, third] = numeric.exec(text) ?? [];
  if (first !== undefined && second !== undefined && third !== undefined && sign?.trim() === otherSign?.trim()) {
    return readThree(first, second, third, settings);
  }
  const [, month, year, yearBefore, monthBehind] = monthAndYear.exec(text) ?? [];
  if (month !== undefined) return toDate(year ?? '', month, '0');
  if (yearBefore !== undefined) return toDate(yearBefore, monthBehind ?? '', '0');
  if (digitsAlone.test(text)) return readEightDigits(text, settings);
  return readWithMonthName(text, settings);
}

/** Reads three numbers. The digits or the declared order give the year; the order or a value over 12 gives the day. */
function readThree(first: string, second: string, third: string, settings: LooseSettings): string | DoubtfulDate {
  const { order, toCentury } = settings;
  const [before, behind] = [first.length > 2, third.length > 2];
  if ((before && behind) || first.length === 3 || third.length === 3) return unreadable;
  const isYearFirst =
    before || (!behind && (order.behind === null ? order.before !== null || Number(first) > 31 : false));
  if (isYearFirst) {
    const year = before ? first : toCentury(first);
    const date = order.before === 'dm' ? toDate(year, third, second) : toDate(year, second, third);
    return before ? date : markGuess(date);
  }
  if (behind) return readDayAndMonth(first, second, third, order);
  if (order.behind === null && Number(third) <= 31) return ambiguous;
  return markGuess(readDayAndMonth(first, second, toCentury(third), order));
}

function readDayAndMonth(first: string, second: string, year: string, { behind }: DateOrder): string | DoubtfulDate {
  if (behind === 'md') return toDate(year, first, second);
  const isDayFirst = behind === 'dm' || first === second || Number(first) === 0 || Number(first) > 12;
  if (isDayFirst) return toDate(year, second, first);
  if (Number(second) > 12) return toDate(year, first, second);
  const date = toDate(year, second, first);
  // Only the year of an ambiguous date is known.
  return typeof date === 'string' ? { value: `${year}?`, why: 'ambiguous_date' } : date;
}

/** The year is never possible at both ends: the 18 to 20 that begins a year is no month. */
function readEightDigits(text: string, { order }: LooseSettings): string | DoubtfulDate {
  const inFront = toDate(text.slice(0, 4), text.slice(4, 6), text.slice(6));
  if (typeof inFront === 'string' && Number(text.slice(0, 4)) >= firstYear) return inFront;
  const behind = readDayAndMonth(text.slice(0, 2), text.slice(2, 4), text.slice(4), order);
  const isYear = Number(text.slice(4)) >= firstYear;
  return isYear ? behind : unreadable;
}

const filler = /^(?:de|del|d|of|the|den|der|dne|г|года|год|р|року|an|a)$/u;

function readWithMonthName(text: string, { language, toCentury }: LooseSettings): string | DoubtfulDate {
  const words = text
    .toLowerCase()
    .split(/[\s.,/\-_]+/u)
    .filter((word) => word !== '' && !filler.test(word))
    .flatMap((word) => word.match(/^\d+|[^\d]+$|^[^\d]+/gu) ?? [])
    .filter((word) => !/^(?:st|nd|rd|th|er|º|ª|°)$/u.test(word));
  const numbers = words.filter((word) => /^\d{1,4}$/.test(word));
  const named = words.filter((word) => !/^\d+$/.test(word));
  const [one, other] = numbers;
  if (named.length !== 1 || one === undefined || numbers.length + named.length !== words.length) return unreadable;
  const month = readMonth(named[0] ?? '', language);
  if (month === null) return unreadable;
  if (month === 'ambiguous') {
    const year = numbers.find((word) => word.length === 4);
    return year === undefined ? ambiguous : { value: `${year}?`, why: 'ambiguous_date' };
  }
  if (other === undefined) return one.length === 4 ? toDate(one, String(month), '0') : unreadable;
  if (numbers.length > 2) return unreadable;
  if (one.length === 4) return toDate(one, String(month), other);
  if (other.length === 4) return toDate(other, String(month), one);
  return other.length === 2 ? markGuess(toDate(toCentury(other), String(month), one)) : unreadable;
}

const markGuess = (found: string | DoubtfulDate): string | DoubtfulDate =>
  typeof found === 'string' ? `${found}?` : found;

/** A month or day 0 is unknown. */
function toDate(year: string, month: string, day: string): string | DoubtfulDate {
  if (year === '0000') return unreadable;
  if (Number(month) === 0) return Number(day) === 0 ? year : noSuchDay;
  const parts = Number(day) === 0 ? [year, month] : [year, month, day];
  return parseDate(parts.map((part) => part.padStart(2, '0')).join('-'), []) ?? noSuchDay;
}

/** Reads a day that is not in the calendar: a month or day 0 of a declared format is unknown, as in `00.05.1956`. */
function readUnknownParts(
  { year, short, month = '1', day = '1' }: Readonly<Record<string, string>>,
  toCentury: (short: string) => string,
): string | DoubtfulDate {
  if (Number(month) > 0 && Number(day) > 0) return noSuchDay;
  return short === undefined ? toDate(year ?? '', month, day) : markGuess(toDate(toCentury(short), month, day));
}

const monthsByLanguage = new Map<string, ReadonlyMap<string, number>>();
let monthsOfAll: ReadonlyMap<string, number | 'ambiguous'> | undefined;

/** Languages whose month names are read when no language is configured. */
const languages =
  'af am ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu hy id is it ja ka kk ko ky lt lv mk mn ms mt nb nl nn pl pt ro ru sk sl sq sr sv sw ta th tr uk ur uz vi zh';

/** The number of a month by its name; ambiguous where languages differ. English is always read. */
function readMonth(word: string, language: string | null): number | 'ambiguous' | null {
  const folded = foldMonth(word);
  if (language !== null) return listMonths(language).get(folded) ?? listMonths('en').get(folded) ?? null;
  monthsOfAll ??= collectMonths();
  return monthsOfAll.get(folded) ?? null;
}

function collectMonths(): ReadonlyMap<string, number | 'ambiguous'> {
  const all = new Map<string, number | 'ambiguous'>();
  for (const language of languages.split(' ')) {
    for (const [name, month] of listMonths(language)) {
      all.set(name, (all.get(name) ?? month) === month ? month : 'ambiguous');
    }
  }
  return all;
}

function listMonths(language: string): ReadonlyMap<string, number> {
  const known = monthsByLanguage.get(language);
  if (known !== undefined) return known;
  const found = new Map<string, number>();
  const calendar = { calendar: 'gregory', timeZone: 'UTC' } as const;
  for (const month of ['long', 'short'] as const) {
    // Many languages have different forms of a month's name alone and with a day.
    for (const options of [{ month }, { month, day: 'numeric', year: 'numeric' }] as const) {
      const format = new Intl.DateTimeFormat(language, { ...calendar, ...options });
      for (let at = 0; at < 12; at += 1) {
        const parts = format.formatToParts(Date.UTC(2001, at, 15));
        const name = foldMonth(parts.find(({ type }) => type === 'month')?.value ?? '');
        if (/\p{L}/u.test(name)) found.set(name, at + 1);
      }
    }
  }
  if (language === 'en') found.set('sept', 9);
  monthsByLanguage.set(language, found);
  return found;
}

const foldMonth = (word: string): string =>
  word
    .normalize('NFKD')
    .replace(/\p{Script=Inherited}/gu, '')
    .toLowerCase()
    .replace(/[.\s]/g, '');

const tokens = /yyyy|yy|MM?|dd?/g;
const patterns: Readonly<Record<string, string>> = {
  yyyy: '(?<year>\\d{4})',
  yy: '(?<short>\\d{2})',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  dd: '(?<day>\\d{2})',
  d: '(?<day>\\d{1,2})',
};

/** Whether a text is a date format: a year, at most one month, a day only with a month, and separators. */
export function isDateFormat(format: string): boolean {
  const parts = [...listParts(format)].sort().join('');
  const rest = format.replace(tokens, '');
  return ['y', 'My', 'Mdy'].includes(parts) && !/[\p{L}\p{N}]/u.test(rest);
}

/** The parts of a format in their order, such as `dMy`. */
const listParts = (format: string): string => (format.match(tokens) ?? []).map((token) => token.charAt(0)).join('');

/** Compiles a format to an expression with the groups `year` or `short`, `month` and `day`. */
function compileDateFormat(format: string): RegExp {
  const source = format.replace(/yyyy|yy|MM?|dd?|[^\p{L}\p{N}]/gu, (part) => patterns[part] ?? escapeLiteral(part));
  return new RegExp(`^${source}$`, 'u');
}

/** The order of day (`d`) and month after a year, and before one; null when formats do not define it or disagree. */
interface DateOrder {
  before: 'md' | 'dm' | null;
  behind: 'md' | 'dm' | null;
}

function findOrder(formats: readonly string[]): DateOrder {
  const orders = new Set(formats.map(listParts));
  const pick = (monthFirst: string, dayFirst: string): 'md' | 'dm' | null => {
    if (orders.has(monthFirst) === orders.has(dayFirst)) return null;
    return orders.has(monthFirst) ? 'md' : 'dm';
  };
  return { before: pick('yMd', 'ydM'), behind: pick('Mdy', 'dMy') };
}

/**
 * Creates the reader of texts in a format, or in the forms `yyyy`, `yyyy-mm` and `yyyy-mm-dd`. A two-digit year belongs
 * to the 20th century.
 */
export function createDateReader(format: string): (text: string) => string | null {
  const declared = [compileDateFormat(format)];
  return rememberWords((text) => parseDate(text, declared, (short) => `19${short}`));
}

/** Finds two formats that read the same text as different days; null when there are none. */
export function findFormatClash(formats: readonly string[]): readonly [string, string] | null {
  const valid = formats.filter(isDateFormat);
  for (const [at, format] of valid.entries()) {
    const isClash = (other: string): boolean =>
      toShape(other) === toShape(format) && listParts(other) !== listParts(format);
    const other = valid.slice(at + 1).find(isClash);
    if (other !== undefined) return [format, other];
  }
  return null;
}

/** A format with its digits as 9; a month or day of one digit may have two. */
const toShape = (format: string): string => format.replace(tokens, (token) => '9'.repeat(Math.max(2, token.length)));

function escapeLiteral(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

const isoDate = /^(?<year>\d{4})(?:-(?<month>\d{2})(?:-(?<day>\d{2}))?)?$/;

/**
 * Reads a date as `yyyy`, `yyyy-mm` or `yyyy-mm-dd`; null for another text or a day that does not exist. The first
 * matching declared format decides alone. A date whose century `toCentury` guesses ends in `?`.
 */
function parseDate(text: string, declared: readonly RegExp[], toCentury?: (short: string) => string): string | null {
  const groups = matchFirst(text, declared)?.groups;
  const short = groups?.['short'];
  const year = short === undefined ? groups?.['year'] : toCentury?.(short);
  if (year === undefined || year === '0000') return null;
  const mark = short === undefined ? '' : '?';
  const month = groups?.['month']?.padStart(2, '0');
  if (month === undefined) return year + mark;
  if (month < '01' || month > '12') return null;
  const day = groups?.['day']?.padStart(2, '0');
  if (day === undefined) return `${year}-${month}${mark}`;
  return isDay(Number(year), Number(month), Number(day)) ? `${year}-${month}-${day}${mark}` : null;
}

/** Reads `yyyy`, `yyyy-mm` or `yyyy-mm-dd`; null for another text or a day that does not exist. */
export const parseIsoDate = (text: string): string | null => parseDate(text, []);

function matchFirst(text: string, declared: readonly RegExp[]): RegExpExecArray | null {
  for (const format of declared) {
    const match = format.exec(text);
    if (match !== null) return match;
  }
  return isoDate.exec(text);
}

function isDay(year: number, month: number, day: number): boolean {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const isShort = month === 4 || month === 6 || month === 9 || month === 11;
  const days = month === 2 ? (isLeapYear ? 29 : 28) : isShort ? 30 : 31;
  return day >= 1 && day <= days;
}

/** More than the number of days on which living people were born. */
const maxRemembered = 45_000;
const maxLength = 40;

/** Caches a reader, which must give the same value for the same text, and never undefined. */
export function rememberWords<Value>(read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const value = read(text);
    if (text.length <= maxLength) {
      if (known.size >= maxRemembered) known.clear();
      known.set(copyText(text), value);
    }
    return value;
  };
}

/** A substring of a chunk would keep the whole chunk in memory. */
function copyText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
