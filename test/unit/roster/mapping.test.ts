import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RosterError } from '../../../src/errors.js';
import { createDateReader, parseIsoDate } from '../../../src/roster/read-date.js';
import { isFullSize } from '../../helpers/figures.js';
import { readText, summarise } from './read-text.js';

const basic = { id: 'id', name: 'name', type: { value: 'person' } };

async function customers(text: string, columns: unknown, roster: { header?: boolean } = {}) {
  const rows = await readText(text, { columns, ...roster });
  return rows.flatMap((row) => (row.kind === 'customer' ? [row.customer] : []));
}

test('a name is joined from several columns by the separator that is declared', async () => {
  const columns = { ...basic, name: { columns: ['last', 'first'], separator: ', ' } };
  const [both, one] = await customers('id,first,last\n1,Ann,Lee\n2,,Cher\n', columns);
  expect([both?.parties[0].name, one?.parties[0].name]).toEqual(['Lee, Ann', 'Cher']);
});

test('a file without a header is mapped by number', async () => {
  const columns = { id: 1, name: [3, 2], type: { column: 4, values: { P: 'person' } } };
  expect(await customers('7,Lee,Ann,p\n8,Ek,Bo,P\n', columns, { header: false })).toMatchObject([
    { reference: '7', parties: [{ name: 'Ann Lee' }] },
    { reference: '8', parties: [{ name: 'Bo Ek' }] },
  ]);
});

test('a number that no column has is refused with the numbers there are', async () => {
  const error: unknown = await readText('7,Lee\n', { columns: { ...basic, id: 1, name: 3 }, header: false }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RosterError);
  expect(error).toMatchObject({
    code: 'column_missing',
    message: expect.stringMatching(
      /no column "3"\. The source is read without a header and has columns 1 to 2\..*by number/s,
    ),
  });
});

test('dates are read by the first format that fits, and days that do not exist by none', async () => {
  const columns = { ...basic, birthDate: { column: 'born', formats: ['dd.MM.yyyy', 'yyyyMMdd', 'd/M/yyyy'] } };
  const rows = await readText(
    'id,name,born\n1,A,31.12.1980\n2,B,19801231\n3,C,1/2/1980\n4,D,1980-12-31\n5,E,31.11.1980\n6,F,19801331\n',
    { columns },
  );
  const dates = rows.flatMap((row) => (row.kind === 'customer' ? [row.customer.parties[0].birthDate] : []));
  expect(dates).toEqual(['1980-12-31', '1980-12-31', '1980-02-01', '1980-12-31', null, null]);
});

test.each([
  ['names and codes of two and three letters', 'land', 'Denmark;no;SWE', ['dk', 'no', 'se']],
  ['a separator of its own', { column: 'land', separator: '|' }, 'DK|SE', ['dk', 'se']],
  ['a comma that belongs to a name', { column: 'land', separator: ',' }, '"Korea, Republic of"', ['kr']],
  ['own words beside the ISO ones', { column: 'land', values: { Inland: 'Denmark' } }, 'INLAND;se', ['dk', 'se']],
  ['several columns', ['land', 'also'], 'DK', ['dk', 'fr']],
  ['a constant', { value: 'Denmark' }, 'nowhere', ['dk']],
])('countries may be given as %s', async (_, countries, text, expected) => {
  const [customer] = await customers(`id,name,land,also\n1,A,${text},FRA\n`, { ...basic, countries });
  expect(customer?.parties[0].countries).toEqual(expected);
});

test('each alias becomes a party like its customer, and one that is the same search does not', async () => {
  const columns = {
    ...basic,
    type: 'kind',
    birthDate: 'born',
    countries: 'land',
    aliases: ['aka', 'native'],
  };
  const [customer] = await customers(
    'id,name,kind,born,land,aka,native\n1,José  Ek,entity,1980,DK,"Joe Ek; Jose\u0301 Ek;; Joe  Ek",Хосе Эк\n',
    columns,
  );
  const shared = { type: 'entity', birthDate: '1980', countries: ['dk'] };
  expect(customer?.parties).toEqual([
    { role: 'customer', name: 'José  Ek', ...shared },
    { role: 'alias', name: 'Joe Ek', ...shared },
    { role: 'alias', name: 'Хосе Эк', ...shared },
  ]);
});

test('aliases are read only when they are mapped, and one that cannot be a name is left out in doubt', async () => {
  const text = 'id,name,aliases\n1,A,B\n2,C,D|-|E\n3,F,"G\nH"\n';
  expect((await customers(text, basic)).map((customer) => customer.parties.length)).toEqual([1, 1, 1]);
  const rows = await readText(text, { columns: { ...basic, aliases: { column: 'aliases', separator: '|' } } });
  expect(summarise(rows)).toEqual(['2 1', '3 2', '4 3']);
  expect(rows[1]).toMatchObject({
    customer: {
      parties: [{ name: 'C' }, { name: 'D' }, { name: 'E' }],
      readings: { doubts: [{ field: 'aliases', column: 'aliases', value: '-', why: 'unreadable_alias' }] },
    },
  });
  const doubt = { field: 'name', column: 'aliases', value: 'G H', why: 'list_of_names' };
  expect(rows[2]).toMatchObject({
    customer: { parties: [{ name: 'F' }, { name: 'G H' }], readings: { doubts: [doubt] } },
  });
});

test.each([
  ['yes', true],
  ['TRUE', true],
  ['1', true],
  ['Active', true],
  ['', true],
  ['no', false],
  ['f', false],
  ['0', false],
  ['inactive', false],
  ['Closed', false],
])('the standing %j is read as %s', async (word, isActive) => {
  expect(await customers(`id,name,active\n1,A,${word}\n`, { ...basic, active: 'active' })).toMatchObject([
    { isActive },
  ]);
});

test('own words for the standing take the place of ours', async () => {
  const columns = { ...basic, active: { column: 'stand', values: { lebt: true, gesperrt: false } } };
  const rows = await readText('id,name,stand\n1,A,Gesperrt\n2,B,yes\n', { columns });
  expect(rows).toMatchObject([
    { customer: { isActive: false } },
    // Nobody leaves by a word that cannot be read.
    { customer: { isActive: true, readings: { doubts: [{ why: 'unknown_standing', value: 'yes' }] } } },
  ]);
});

test('an end date is a whole day that exists, and nobody leaves by any other', async () => {
  const columns = { ...basic, endDate: { column: 'until', formats: ['dd.MM.yyyy'] } };
  const rows = await readText('id,name,until\n1,A,31.12.2025\n2,B,\n3,C,2025\n4,D,31.02.2025\n5,E,2025-02-01\n', {
    columns,
  });
  expect(rows.map((row) => row.kind === 'customer' && row.customer.endDate)).toEqual([
    '2025-12-31',
    null,
    null,
    null,
    '2025-02-01',
  ]);
  const doubts = rows.map((row) => row.kind === 'customer' && row.customer.readings.doubts.length);
  expect(doubts).toEqual([0, 0, 1, 1, 0]);
});

test('unmapped columns are kept on request, each as text and within limits', async () => {
  const text = `id,name,branch,note\n1,A,007,"two\nlines"\n2,B,,${'x'.repeat(1_001)}\n3,C,\u0000,\n4,D,,\ufffd\n`;
  const rows = await readText(text, { columns: { ...basic, attributes: 'all' } });
  expect(summarise(rows)).toEqual(['2 1', '4 2', '5 control_character branch', '6 replacement_character note']);
  expect(rows[0]).toMatchObject({ customer: { attributes: { branch: '007', note: 'two\nlines' } } });
  // A long field is cut, unless a setting names its column.
  expect(rows[1]).toMatchObject({ customer: { attributes: { note: `${'x'.repeat(999)}…` } } });
  const named = await readText(text, { columns: { ...basic, attributes: ['note'] } });
  expect(summarise(named)[1]).toBe('4 field_too_long note');
  const [listed] = await customers(text, { ...basic, attributes: ['branch'] });
  expect(listed?.attributes).toEqual({ branch: '007' });
});

test('more unmapped columns than are kept are refused before a row is read', async () => {
  const many = Array.from({ length: 51 }, (_, index) => `c${index}`);
  await expect(
    readText(`id,name,${many.join(',')}\n1,A,${many.join(',')}\n`, { columns: { ...basic, attributes: 'all' } }),
  ).rejects.toMatchObject({ code: 'too_many_attributes', message: expect.stringContaining('51 columns') });
});

test('the days that exist are those of the calendar, whichever way they are read', () => {
  const declared = createDateReader('yyyy-MM-dd');
  fc.assert(
    fc.property(fc.nat(9999), fc.nat(13), fc.nat(32), (year, month, day) => {
      const text = [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')].join(
        '-',
      );
      const moment = new Date(`${text}T00:00:00Z`);
      const exists = year > 0 && !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text);
      expect(parseIsoDate(text)).toBe(exists ? text : null);
      expect(declared(text)).toBe(exists ? text : null);
    }),
    { numRuns: isFullSize ? 2_000 : 200 },
  );
  for (const text of ['1980-1-01', '198 -01-01', '1980-0a-01', '+980-01-01', '1980/01/01', '1980-01-011']) {
    expect(parseIsoDate(text)).toBeNull();
  }
});

test('a row with more aliases than a customer may have parties is rejected, and its id is shown', async () => {
  // No field holds so many, and several of them do.
  const cells = Array.from({ length: 5 }, (_, cell) =>
    Array.from({ length: 2_200 }, (_, at) => (466_560 + cell * 2_200 + at).toString(36)).join('|'),
  );
  const columns = { ...basic, aliases: ['a0', 'a1', 'a2', 'a3', 'a4'] };
  const text = (count: number) =>
    `id,name,a0,a1,a2,a3,a4\n7,Ann Lee,${cells.map((cell, at) => (at < count ? cell.replaceAll('|', ';').slice(0, 9_999) : '')).join(',')}\n`;
  expect(await readText(text(5), { columns, delimiter: ',' })).toMatchObject([
    { kind: 'rejected', rejected: { reason: 'too_many_parties', reference: '7', column: 'a0' } },
  ]);
  const [row] = await customers(text(4), columns);
  expect(row?.parties.length).toBeGreaterThan(7_000);
});
