const isoDate = /^(?<year>\d{4})(?:-(?<month>\d{2})(?:-(?<day>\d{2}))?)?$/;

/**
 * Reads a birth date as `yyyy`, `yyyy-mm` or `yyyy-mm-dd`; null when the text is no such date or names a day that does not exist.
 * A text that fits the declared format is read by it alone.
 */
export function parseBirthDate(text: string, declared: RegExp | null): string | null {
  const groups = (declared?.exec(text) ?? isoDate.exec(text))?.groups;
  const year = groups?.['year'];
  if (year === undefined || year === '0000') return null;
  const month = groups?.['month']?.padStart(2, '0');
  if (month === undefined) return year;
  if (month < '01' || month > '12') return null;
  const day = groups?.['day']?.padStart(2, '0');
  if (day === undefined) return `${year}-${month}`;
  return isDay(Number(year), Number(month), Number(day)) ? `${year}-${month}-${day}` : null;
}

function isDay(year: number, month: number, day: number): boolean {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day >= 1 && day <= days;
}
