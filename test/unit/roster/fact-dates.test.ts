import { expect, test } from 'vitest';
import { createBirthDateReader, createEndDateReader, DateTally } from '../../../src/roster/fact-dates.js';
import type { PartyType } from '../../../src/vocabulary.js';

const settings = { formats: [], language: null, pivot: 30, today: '2026-11-27', realDates: new Set(['1990-01-01']) };
const readBirthDate = createBirthDateReader(settings);
const readEndDate = createEndDateReader(settings);
const born = (text: string, type: PartyType = 'person') => {
  const found = readBirthDate(text, { type, birthDate: null });
  return typeof found === 'string' ? found : [found.value, found.why];
};
const ended = (text: string, birthDate: string | null = null) => {
  const found = readEndDate(text, { type: 'person', birthDate });
  return typeof found === 'string' ? found : [found.value, found.why];
};

const ofExcel =
  '1900-01-00 1899-12-30 1899-12-31 1904-01-01 00/01/1900 01.01.1900 00.01.1900 19000101 01-JAN-1900 1900';
const ofDatabases =
  '0001-01-01 1753-01-01 1800-01-01 1901-01-01 9999-12-31 31.12.9999 2999-12-31 2099-12-31 -infinity infinity';
const typed = ['1111-11-11', '1234-12-12', '1900-01-01 00:00:00', '1900-01-01T00:00:00Z'];

test.each([...ofExcel.split(' '), ...ofDatabases.split(' '), ...typed])(
  'nobody is born on the substitute %j',
  (text) => {
    expect([born(text), born(text, 'entity')]).toEqual(Array(2).fill([null, 'substitute_date']));
  },
);

test.each([
  ['00000000', 'says_unknown'],
  ['0', 'says_unknown'],
  ['1', 'invalid_birth_date'],
  ['-1', 'invalid_birth_date'],
])('%j is no birth date', (text, why) => {
  expect(born(text)).toEqual([null, why]);
});

test('no person is older than 116 on the day of the import, and a firm may be', () => {
  expect([born('1910-11-26'), born('1909'), born('1902-07-08')]).toEqual(Array(3).fill([null, 'year_too_early']));
  expect(born('03/04/1909')).toEqual([null, 'ambiguous_date']);
  expect([born('1910-11-27'), born('1910'), born('1902-07-08', 'entity')]).toEqual([
    '1910-11-27',
    '1910',
    '1902-07-08',
  ]);
});

test('1 January and the last day before Unix time are uncertain, unless they are real in the roster', () => {
  expect([born('1970-01-01'), born('1.1.1983'), born('2000-01-01'), born('1969-12-31')]).toEqual([
    '1970-01-01?',
    '1983-01-01?',
    '2000-01-01?',
    '1969-12-31?',
  ]);
  expect([born('1990-01-01'), born('1969-12-30'), born('1970-01-02')]).toEqual([
    '1990-01-01',
    '1969-12-30',
    '1970-01-02',
  ]);
});

test.each([
  '1900-01-01',
  '0001-01-01',
  '1970-01-01',
  '1899-12-30',
  '1969-12-31',
  '01-JAN-1900',
  '-infinity',
  '2000-01-01',
  '1999-12-31',
  '1900-01-01 00:00:00',
])('the substitute %j ends no relationship', (text) => {
  expect(ended(text)).toEqual([null, 'substitute_date']);
});

test('a relationship ends neither before 1970 nor before the birth of the customer, and two digits are no certain year', () => {
  expect([ended('1911-05-06'), ended('1985-05-06', '1990?'), ended('1989-12-31', '1990-01-01')]).toEqual(
    Array(3).fill([null, 'end_date_too_early']),
  );
  expect([ended('31.12.98'), ended('1')]).toEqual(Array(2).fill([null, 'invalid_end_date']));
  expect([ended('31.12.99'), ended('1900')]).toEqual(Array(2).fill([null, 'substitute_date']));
  expect([ended('0000-00-00'), ended('00000000'), ended('N/A')]).toEqual(Array(3).fill([null, 'says_unknown']));
  expect([ended('2026-05-31', '1961-04-09'), ended('1990-01-01')]).toEqual(['2026-05-31', '1990-01-01']);
});

test.each([
  ['9999-12-31', '9999-12-31'],
  ['31.12.2999', '2999-12-31'],
  ['9999-12-31T23:59:59Z', '9999-12-31'],
  ['infinity', '9999-12-31'],
  ['2027-03-31', '2027-03-31'],
])('the end %j is yet to come', (text, date) => {
  expect(ended(text)).toBe(date);
});

test('a day is shared when more than 5 rows have it, and more than 5 % of all; one that was shared stays so from half of that', () => {
  const fill = (rows: number, realDates: readonly string[] = []) => {
    const tally = new DateTally('birth_date', realDates);
    for (let row = 0; row < rows; row += 1) {
      tally.add(row < 6 ? '1975-06-15' : `${1950 + (row % 50)}-0${1 + (row % 9)}-${10 + Math.floor(row / 450)}`);
    }
    tally.add(null);
    return tally;
  };
  expect(fill(119).listShared()).toEqual([{ date: '1975-06-15', rows: 6 }]);
  expect([fill(120).listShared(), fill(119, ['1975-06-15']).listShared()]).toEqual([[], []]);
  expect(fill(120).listShared(['1975-06-15'])).toHaveLength(1);
});
