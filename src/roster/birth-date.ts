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
