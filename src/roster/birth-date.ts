const isoDate = /^(?<year>\d{4})(?:-(?<month>\d{2})(?:-(?<day>\d{2}))?)?$/;

/** Reads a date as `yyyy`, `yyyy-mm` or `yyyy-mm-dd`; null when the text is none, or names a day that does not exist. */
export type DateReader = (text: string) => string | null;

/**
 * Reads a date as `yyyy`, `yyyy-mm` or `yyyy-mm-dd`; null when the text is no such date or names a day that does not exist.
 * A text that fits a declared format is read by the first that it fits alone.
 */
export function parseDate(text: string, declared: readonly RegExp[]): string | null {
  const groups = matchFirst(text, declared)?.groups;
  const year = groups?.['year'];
  if (year === undefined || year === '0000') return null;
  const month = groups?.['month']?.padStart(2, '0');
  if (month === undefined) return year;
  if (month < '01' || month > '12') return null;
  const day = groups?.['day']?.padStart(2, '0');
  if (day === undefined) return `${year}-${month}`;
  return isDay(Number(year), Number(month), Number(day)) ? `${year}-${month}-${day}` : null;
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
  const days = month === 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day >= 1 && day <= days;
}
