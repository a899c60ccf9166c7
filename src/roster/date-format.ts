const tokens = /yyyy|yy|MM?|dd?/g;
const patterns: Readonly<Record<string, string>> = {
  yyyy: '(?<year>\\d{4})',
  yy: '(?<short>\\d{2})',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  dd: '(?<day>\\d{2})',
  d: '(?<day>\\d{1,2})',
};

/** Tells whether a text is a date format: `yyyy` or `yy` once, then at most one month, and a day only beside a month; no other letters or digits. */
export function isDateFormat(format: string): boolean {
  const found = (format.match(tokens) ?? []).map((token) => token.charAt(0)).sort();
  const rest = format.replace(tokens, '');
  return ['y', 'My', 'Mdy'].includes(found.join('')) && !/[\p{L}\p{N}]/u.test(rest);
}

/** Tells whether a format gives a whole day. */
export function hasDay(format: string): boolean {
  return /d/.test(format);
}

/** Gives the expression that a text in the format matches whole, with the groups `year` or `short`, `month` and `day`. */
export function compileDateFormat(format: string): RegExp {
  const source = format.replace(/yyyy|yy|MM?|dd?|[^\p{L}\p{N}]/gu, (part) => patterns[part] ?? escapeLiteral(part));
  return new RegExp(`^${source}$`, 'u');
}

/** In which order day (`d`) and month stand behind a year, and before one; null where formats do not say, or not alike. */
export interface DateOrder {
  before: 'md' | 'dm' | null;
  behind: 'md' | 'dm' | null;
}

/** Finds the order of day and month that declared formats have in common: `before` where the year comes first, `behind` where it comes last. */
export function findOrder(formats: readonly string[]): DateOrder {
  const orders = new Set(
    formats.map((format) => (format.match(tokens) ?? []).map((token) => token.charAt(0)).join('')),
  );
  const pick = (monthFirst: string, dayFirst: string): 'md' | 'dm' | null => {
    if (orders.has(monthFirst) === orders.has(dayFirst)) return null;
    return orders.has(monthFirst) ? 'md' : 'dm';
  };
  return { before: pick('yMd', 'ydM'), behind: pick('Mdy', 'dMy') };
}

/**
 * Gives the reader of texts in any of the formats, or written `yyyy`, `yyyy-mm` or `yyyy-mm-dd`, and of no others; the first format that fits
 * decides. A year of two digits is one of the 20th century.
 */
export function createDateReader(formats: readonly string[]): (text: string) => string | null {
  if (formats.length === 0) return parseIsoDate;
  const compiled = formats.map(compileDateFormat);
  return rememberWords((text) => parseDate(text, compiled, (short) => `19${short}`));
}

/** Finds two formats that read the same text as different days; null when there are none. */
export function findFormatClash(formats: readonly string[]): readonly [string, string] | null {
  const valid = formats.filter(isDateFormat);
  for (const format of valid) {
    const read = createDateReader([format]);
    for (const other of valid.slice(valid.indexOf(format) + 1)) {
      const expression = compileDateFormat(other);
      const samples = [...listSamples(format), ...listSamples(other)];
      const isClash = samples.some((text) => {
        if (!expression.test(text) || !compileDateFormat(format).test(text)) return false;
        return createDateReader([other])(text) !== read(text);
      });
      if (isClash) return [format, other];
    }
  }
  return null;
}

/** Days whose month, day and year cannot be told apart from each other by their digits alone, written in the format. */
function listSamples(format: string): readonly string[] {
  const days = [
    [2, 3],
    [10, 11],
    [2, 11],
    [11, 2],
  ] as const;
  return days.map(([month, day]) =>
    format.replace(tokens, (token) => {
      if (token.startsWith('y')) return '1102'.slice(0, token.length);
      return String(token.startsWith('M') ? month : day).padStart(token.length, '0');
    }),
  );
}

function escapeLiteral(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

const isoDate = /^(?<year>\d{4})(?:-(?<month>\d{2})(?:-(?<day>\d{2}))?)?$/;

/**
 * Reads a date as `yyyy`, `yyyy-mm` or `yyyy-mm-dd`; null when the text is no such date or names a day that does not exist.
 * A text that fits a declared format is read by the first that it fits alone; a date whose century `toCentury` guesses ends in `?`.
 */
export function parseDate(
  text: string,
  declared: readonly RegExp[],
  toCentury?: (short: string) => string,
): string | null {
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

/** Reads a date as `yyyy`, `yyyy-mm` or `yyyy-mm-dd`; as it decides for nearly every row, whole days without an expression. */
export function parseIsoDate(text: string): string | null {
  if (text.length !== 10 || text[4] !== '-' || text[7] !== '-') return parseDate(text, []);
  const year = readDigits(text, 0, 4);
  const month = readDigits(text, 5, 7);
  const day = readDigits(text, 8, 10);
  return year > 0 && month >= 1 && month <= 12 && isDay(year, month, day) ? text : null;
}

/** Gives -1 where there is anything but digits. */
function readDigits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

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

/** More than there are days of birth among the living. */
const maxRemembered = 45_000;
const maxLength = 40;

/** Gives a reader that looks up what it has read before; it must give the same value for the same text, and never undefined. */
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

/** A text cut out of a chunk of a file would keep the whole chunk in memory. */
function copyText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
