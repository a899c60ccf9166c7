import { expect, test } from 'vitest';
import type { PartyRow, RosterRow } from '../../../src/roster/customer.js';
import { guessPartySeparator } from '../../../src/roster/name-lists.js';
import { splitParties } from '../../../src/roster/row-parties.js';
import { readText as readRosterText } from './read-text.js';

const readText = (content: string, mapped: unknown) => readRosterText(content, { columns: mapped });

const describeRow = (row: RosterRow): readonly string[] =>
  row.kind === 'rejected'
    ? [`REJECTED ${row.rejected.reason}`]
    : (row.related ?? []).map((party) => {
        if (party.kind === 'rejected') return `REJECTED ${party.rejected.reason} ${party.rejected.column}`;
        const { role, type, name, birthDate, countries } = party.related.party;
        return [role, type, name, birthDate, ...countries].filter((part) => part !== null).join(', ');
      });

const describeParty = (party: PartyRow): string => {
  if (party.kind === 'rejected') return party.rejected.reason;
  const { related } = party;
  return [related.party.name, ...related.readings.doubts.map(({ why }) => why)].join(': ');
};

test.each([
  [
    'Jan Kowalski (50%); Anna Nowak (25%); HOLDMAR Sp. z o.o. (25%)',
    ['Jan Kowalski', 'Anna Nowak', 'HOLDMAR Sp. z o.o.'],
  ],
  ['Jan Kowalski 50 %\nAnna Nowak 25,5%', ['Jan Kowalski', 'Anna Nowak']],
  ['Jan Kowalski - 25%', ['Jan Kowalski']],
  ['Kowalski, Jan (50%), Nowak, Anna (50 %)', ['Kowalski, Jan', 'Nowak, Anna']],
  ['50% Jan Kowalski; 50% Anna Nowak', ['Jan Kowalski', 'Anna Nowak']],
  ['Jan Kowalski (33 pct.) og Anna Nowak (33 pct.)', ['Jan Kowalski', 'Anna Nowak']],
  ['Jan Kowalski (50 udziałów); Anna Nowak [1/2]', ['Jan Kowalski', 'Anna Nowak']],
  ['Jan Kowalski (50%; bezpośrednio) | Anna Nowak (25%)', ['Jan Kowalski', 'Anna Nowak']],
  ['1. Jan Kowalski\r\n2. Anna Nowak', ['Jan Kowalski', 'Anna Nowak']],
  ['Иван Петров（50％）；王小明（50％）', ['Иван Петров', '王小明']],
  ['Berg, Ada', ['Berg, Ada']],
  ['ABC (Holdings) Ltd; Fund (2010) LP', ['ABC (Holdings) Ltd', 'Fund (2010) LP']],
  ['Jan Kowalski; -; brak; N/A', ['Jan Kowalski']],
  // Without a readable name it is given as it is, and rejected.
  ['(50%)', ['(50%)']],
  ['Jan Nowak (50 udziałów), Anna Nowak (50 udziałów)', ['Jan Nowak', 'Anna Nowak']],
  ['Jan Nowak 1/3, Anna Nowak 2/3', ['Jan Nowak', 'Anna Nowak']],
  ['محمد علي (50٪)، علي حسن (50٪)', ['محمد علي', 'علي حسن']],
  ['王伟，李四', ['王伟', '李四']],
  ['{"Jan Nowak","Ewa Lis"}', ['Jan Nowak', 'Ewa Lis']],
  ['I Wayan Sudiarta (50%); En Zhang (50%)', ['I Wayan Sudiarta', 'En Zhang']],
  ['Jan Nowak 50% shares', ['Jan Nowak']],
  ['none (50%)', []],
  ['???', ['???']],
])('the cell %j names %j', (cell, names) => {
  expect(splitParties(cell)).toEqual(names);
});

test('a separator of the mapping divides a cell, and a share and a line break do as well', () => {
  expect(splitParties('Jan Kowalski / Anna Nowak / Acme A/S', ' / ')).toEqual([
    'Jan Kowalski',
    'Anna Nowak',
    'Acme A/S',
  ]);
  expect(splitParties('Jan Kowalski, Anna Nowak (50%)\nEwa Mazur', ',')).toEqual([
    'Jan Kowalski',
    'Anna Nowak',
    'Ewa Mazur',
  ]);
});

const header = 'customer_id,type,name,Medsökande 1 namn,Medsökande 1 född,Medsökande 2 namn,co_first,co_last,Wspólnicy';
const columns = {
  parties: [
    { name: 'Medsökande 1 namn', birthDate: 'Medsökande 1 född', role: { value: 'joint_holder' } },
    {
      name: 'Medsökande 2 namn',
      role: { value: 'joint_holder' },
      type: { value: 'person' },
      countries: { value: 'se' },
    },
    { name: ['co_first', 'co_last'] },
    { name: 'Wspólnicy', role: { value: 'beneficial_owner' } },
  ],
};

test('a row gives a party for each filled column and for each name in a cell, with their own facts and types', async () => {
  const rows = await readText(
    [
      header,
      'C1,person,Ann Lee,Åsa Berg,1980-01-02,Bo Ek,Eva,Lind,Jan Nowak (50%); HOLDMAR Sp. z o.o. (50%)',
      'C2,person,Bo Lee,,,,,,',
      'C3,person,Cy Lee,-,1980-01-02,N/A,,Lind,brak',
    ].join('\n'),
    columns,
  );
  expect(rows.map(describeRow)).toEqual([
    [
      'joint_holder, person, Åsa Berg, 1980-01-02',
      'joint_holder, person, Bo Ek, se',
      'other, person, Eva Lind',
      'beneficial_owner, person, Jan Nowak',
      'beneficial_owner, entity, HOLDMAR Sp. z o.o.',
    ],
    [],
    ['other, person, Lind'],
  ]);
});

test('a party that cannot be read is rejected alone, with its column and only the columns of its entry', async () => {
  const rows = await readText([header, 'C1,person,Ann Lee,??,,Bo\ufffd Ek,,,Jan Nowak; ???'].join('\n'), columns);
  expect(rows.map(describeRow)).toEqual([
    [
      'REJECTED name_without_letters Medsökande 1 namn',
      'REJECTED replacement_character Medsökande 2 namn',
      'beneficial_owner, person, Jan Nowak',
      'REJECTED name_without_letters Wspólnicy',
    ],
  ]);
  const [row] = rows;
  const last = row?.kind === 'customer' ? row.related?.at(-1) : undefined;
  expect(last).toMatchObject({
    rejected: {
      reference: 'C1',
      line: 2,
      fields: { customer_id: 'C1', Wspólnicy: '???' },
      file: expect.stringMatching(/^parties: /),
    },
  });
});

test('several parties of one cell do not share a birth date, and a rejected row gives no parties', async () => {
  const entry = { name: 'owners', birthDate: 'born' };
  const rows = await readText(
    'customer_id,type,name,owners,born\nC1,person,Ann,Bo Ek;Cy Ek,1980-01-02\nC2,,Ann,Bo Ek,\n',
    {
      parties: [entry],
    },
  );
  expect(rows.map(describeRow)).toEqual([['other, person, Bo Ek', 'other, person, Cy Ek'], ['REJECTED missing_type']]);
});

test('a column of parties that the source lacks refuses the roster like any other', async () => {
  await expect(
    readText('customer_id,type,name\nC1,person,Ann\n', { parties: [{ name: 'ubo' }] }),
  ).rejects.toMatchObject({
    code: 'column_missing',
    message: expect.stringContaining('no column "ubo"'),
  });
});

const severalPersons = [
  'MARINO CHIARA, FERRARA LUCA',
  'Mazur Jan, Ćwikła Eudora',
  'TEMBOLINI TEOFILO e BIANCHI ANNA',
  'ROSSI PIERO E GALLO ANNA',
  'Ana Gil Ruiz y Luis Vera',
  'Jordi Puig i Marta Soler',
  'Alfa Impianti S.r.l., Beta Trasporti S.p.A.',
  'Mario Rossi, Alfa Impianti S.r.l.',
];
const oneParty = [
  'Lindhøj Vestergaard-Holt, Søren',
  'José Ortega y Gasset',
  'Studio Legale Costa E Barbieri S.r.l.',
  'Smith Sons Ltd, Inc.',
];

test('a cell of several parties without a known separator is in doubt, never one search without a word', async () => {
  const read = async (cells: readonly string[], separator?: string) => {
    const rows = cells.map((cell, at) => `C${at},person,Ann Lee,"${cell}"`);
    const text = ['customer_id,type,name,owners', ...rows].join('\n');
    const found = await readText(text, { parties: [{ name: 'owners', separator }] });
    return found.map((row) => (row.kind === 'customer' ? row.related : [])?.map((one) => describeParty(one)));
  };
  expect(await read(severalPersons)).toEqual(severalPersons.map((cell) => [`${cell}: list_of_names`]));
  expect(await read(oneParty)).toEqual(oneParty.map((cell) => [cell]));
  expect(await read(['Ana Gil, Luis Vera', 'Ada Berg e Bo Ek'], ',')).toEqual([
    ['Ana Gil', 'Luis Vera'],
    ['Ada Berg e Bo Ek: list_of_names'],
  ]);
  expect(await read(['Lund Berg, Ada Maria'], ';')).toEqual([['Lund Berg, Ada Maria']]);
});

test.each([
  [['MARINO CHIARA, FERRARA LUCA', 'GRECO ANNA'], ','],
  [['Lund Berg, Ada Maria', 'Ek, Bo'], null],
  [['ROSSI CARLO / GALLO ANNA', 'GRECO ANNA'], ' / '],
  [['Ada Berg; Bo Ek', 'Cy Lund, Di Lund', 'Di Lund'], null],
])('the parties of %j are divided by %j', (cells, separator) => {
  expect(guessPartySeparator(cells)).toBe(separator);
});
