import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBirthDateReader, createEndDateReader } from '../../../src/roster/fact-dates.js';
import { isFullSize } from '../../helpers/figures.js';

const today = '2026-11-23';
const plain = { formats: [], language: null, pivot: 30, today, realDates: new Set<string>() };
const person = { type: 'person', birthDate: null } as const;
const read = (text: string, formats: readonly string[] = [], language: string | null = null) =>
  createBirthDateReader({ ...plain, formats, language })(text, person);
const toValue = (found: ReturnType<typeof read>): string | null => (typeof found === 'string' ? found : found.value);

test.each([
  ['1969-7-16', '1969-07-16'],
  ['16.7.1969', '1969-07-16'],
  ['7/16/1969', '1969-07-16'],
  ['04/04/1980', '1980-04-04'],
  ['1980/12/31', '1980-12-31'],
  ['31/12/1980 12:00:00 AM', '1980-12-31'],
  ['1980-12-31T00:00:00Z', '1980-12-31'],
  ['1980-12-31T22:00:00.000Z', '1980-12-31?'],
  ['1980-05-05 00:00:00+00', '1980-05-05'],
  ['1980-05-05 00:00:00-02', '1980-05-05'],
  ['1980-05-05 00:00:00+00:19:32', '1980-05-05'],
  ['1980-05-05 23:30:00+00', '1980-05-05?'],
  ['1980-05-05 23:30:00.123456+00', '1980-05-05?'],
  ['1980-05-05 22:00-02', '1980-05-05?'],
  ['1980-05-05T22:30:00+05:30', '1980-05-05?'],
  ['1921-05-05 00:19:32+00:19:32', '1921-05-05?'],
  ['31.12.80', '1980-12-31?'],
  ['80-12-31', '1980-12-31?'],
  ['c. 1960', '1960?'],
  ['16 July 1969', '1969-07-16'],
  ['July 16, 1969', '1969-07-16'],
  ['16. Juli 1969', '1969-07-16'],
  ['16 lipca 1969', '1969-07-16'],
  ['2 января 1970 г.', '1970-01-02'],
  ['1er mai 1970', '1970-05-01'],
  ['16-Jul-69', '1969-07-16?'],
  ['1969年7月16日', '1969-07-16'],
  ['١٩٦٩-٠٧-١٦', '1969-07-16'],
  ['19690716', '1969-07-16'],
  ['16071969', '1969-07-16'],
  ['12/1965', '1965-12'],
  ['1965-00-00', '1965'],
])('%j is read as %s', (text, date) => {
  expect(read(text)).toBe(date);
});

test.each([
  ['16 listopad 1969', '1969?'],
  ['01.02.03', null],
  ['05.04.62', '1962?'],
])('%j may be two dates', (text, value) => {
  expect(read(text)).toEqual({ value, why: 'ambiguous_date' });
});

test.each([
  ['00.00.1956', 'dd.MM.yyyy', '1956'],
  ['00.05.1956', 'dd.MM.yyyy', '1956-05'],
  ['1956-05-00', 'yyyy-MM-dd', '1956-05'],
  ['05/00/1956', 'MM/dd/yyyy', '1956-05'],
  ['00.05.56', 'dd.MM.yy', '1956-05?'],
])('%j has unknown parts in the format %s and is read as %s', (text, format, date) => {
  expect(read(text, [format])).toBe(date);
});

test('a day without a month, and a month or day that does not exist, is no date in its format', () => {
  for (const text of ['15.00.1956', '00.13.1956', '31.02.1956', '00.05.0000'])
    expect(toValue(read(text, ['dd.MM.yyyy']))).toBeNull();
  const readEnd = createEndDateReader({ ...plain, formats: ['dd.MM.yyyy'] });
  expect(readEnd('00.05.2026', person)).toEqual({ value: null, why: 'invalid_end_date' });
});

test('an end at a time of day with a zone is no certain day, so the customer stays', () => {
  const readEnd = createEndDateReader(plain);
  expect(readEnd('2026-03-31 22:00:00+00', person)).toEqual({ value: null, why: 'invalid_end_date' });
  expect(readEnd('2026-03-31 00:00:00+00', person)).toBe('2026-03-31');
  expect(readEnd('infinity', person)).toBe('9999-12-31');
});

test('a year before the common era is no date', () => {
  expect(read('0044-03-15 00:00:00+00 BC')).toEqual({ value: null, why: 'invalid_birth_date' });
});

test('a language and a format decide, and no text is read against the order that a format declares', () => {
  expect([read('16 listopad 1969', [], 'hr'), read('16 listopad 1969', [], 'cs')]).toEqual([
    '1969-10-16',
    '1969-11-16',
  ]);
  expect([read('03/04/1980', ['dd.MM.yyyy']), read('03/04/1980', ['MM-dd-yyyy'])]).toEqual([
    '1980-04-03',
    '1980-03-04',
  ]);
  expect(read('12/31/1980', ['dd.MM.yyyy'])).toEqual({ value: null, why: 'no_such_day' });
  expect(read('01.01.28', ['dd.MM.yyyy'])).toBe('1928-01-01?');
});

const days = fc
  .date({ min: new Date('1850-01-01'), max: new Date(today), noInvalidDate: true })
  .map((day) => day.toISOString().slice(0, 10));

test('whatever form a day is written in, it is read as that day, as less of it, or not at all', () => {
  const forms: readonly ((year: string, month: string, day: string) => string)[] = [
    (year, month, day) => `${year}-${month}-${day}`,
    (year, month, day) => `${Number(day)}.${Number(month)}.${year}`,
    (year, month, day) => `${month}/${day}/${year}`,
    (year, month, day) => `${day}${month}${year}`,
    (year, month, day) => `${year}${month}${day}`,
    (year, month, day) => `${year}/${Number(month)}/${Number(day)} 00:00:00`,
    (year, month, day) => new Date(`${year}-${month}-${day}T00:00:00Z`).toUTCString().slice(5, 16),
  ];
  fc.assert(
    fc.property(days, fc.constantFrom(...forms), (date, write) => {
      const [year = '', month = '', day = ''] = date.split('-');
      const value = toValue(read(write(year, month, day)));
      if (value !== null) expect(date.startsWith(value.replace('?', ''))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('no text is read as a day that nobody alive was born on', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9]{1,4}[-./ ]?[0-9]{0,2}[-./ ]?[0-9]{0,4}$/)), (text) => {
      const value = toValue(read(text));
      if (value === null) return;
      expect(value).toMatch(/^\d{4}(-\d\d(-\d\d)?)?\??$/);
      expect(value >= '1910' && value.replace('?', '') <= today).toBe(true);
    }),
    { numRuns: isFullSize ? 2_000 : 200 },
  );
});
