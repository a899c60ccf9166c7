import { expect, test } from 'vitest';
import { onlyRejected, readText, readWithTally, summarise, textsOf } from './read-text.js';

const header = 'customer_id,type,name,birth_date,countries,risk_tier';

test('a row with every column becomes a customer with itself as its first party', async () => {
  const rows = await readText(`${header}\n 007 ,Person, Ana  Šimić ,1980-02-29,"Croatia; DEU;hr;",HIGH\n`);
  expect(rows).toEqual([
    {
      kind: 'customer',
      line: 2,
      file: null,
      fields: [' 007 ', 'Person', ' Ana  Šimić ', '1980-02-29', 'Croatia; DEU;hr;', 'HIGH'].map((field) =>
        expect.stringContaining(field.trim()),
      ),
      customer: {
        reference: '007',
        riskTier: 'high',
        isActive: true,
        endDate: null,
        attributes: {},
        readings: { doubts: [], said: { countries: 'Croatia; DEU;hr;' } },
        parties: [
          { role: 'customer', type: 'person', name: 'Ana  Šimić', birthDate: '1980-02-29', countries: ['hr', 'de'] },
        ],
      },
    },
  ]);
});

test('birth date, countries and risk tier may be absent as columns and empty as fields', async () => {
  const [short] = await readText('name,customer_id,type\nOrsted AS,9,entity\n');
  const [empty] = await readText(`${header}\n9,entity,Orsted AS,,,\n`);
  expect(short).toMatchObject({ customer: empty?.kind === 'customer' ? empty.customer : null });
  expect(short).toMatchObject({ customer: { riskTier: null, parties: [{ birthDate: null, countries: [] }] } });
});

const rejections: readonly (readonly [row: string, reason: string, reference: string | null])[] = [
  [',person,Ann Lee,,,', 'missing_id customer_id', null],
  ['1,person,  ,,,', 'missing_name name', '1'],
  ['1,,Ann Lee,,,', 'missing_type type', '1'],
  ['1,robot,Ann Lee,,,', 'unknown_type type', '1'],
  ['1,person,Ann\u0000Lee,,,', 'control_character name', '1'],
  ['1,person,Ann\tLee,,,', 'control_character name', '1'],
  ['1,person,Ann \ufffd Lee,,,', 'replacement_character name', '1'],
  ['1,person,"Ann\nLee",,,', 'line_break_in_name name', '1'],
  ['1,person,Ann\u2028Lee,,,', 'line_break_in_name name', '1'],
  [`1,person,Ann Lee,,${'DK;'.repeat(3400)},`, 'field_too_long countries', '1'],
  ['1\u0007,person,Ann Lee,,,', 'control_character customer_id', null],
  [`1,person,${'a'.repeat(501)},,,`, 'name_too_long name', '1'],
  ['1,person,- . ?,,,', 'name_without_letters name', '1'],
  ['1,person,Ann Lee,,', 'wrong_column_count', '1'],
  ['1,person,Lee, Ann,,,', 'wrong_column_count', '1'],
  ['1,person,"Ann" Lee,,,', 'malformed_csv', '1'],
  ['1,person,Ann "Lee",,,', 'malformed_csv', '1'],
  ['1,person,"Ann Lee,,,', 'malformed_csv', '1'],
  [`${'7'.repeat(201)},person,Ann Lee,,,`, 'id_too_long customer_id', null],
];

test.each(rejections)('the row %j is rejected as %s and its neighbours are kept', async (row, reason, reference) => {
  const rows = await readText(`${header}\n0,person,Before,,,\n${row}\n2,person,After,,,\n`);
  expect(summarise(rows)).toEqual(['2 0', `3 ${reason}`, `${row.includes('\n') ? 5 : 4} 2`]);
  expect(onlyRejected(rows)[0]?.reference).toBe(reference);
});

test.each([
  ['1981-02-29,,', 'no_such_day birth_date', null],
  ['1900-02-29,,', 'no_such_day birth_date', null],
  ['1980-13,,', 'no_such_day birth_date', null],
  ['2023-04-31,,', 'no_such_day birth_date', null],
  ['31.02.1980,,', 'no_such_day birth_date', null],
  ['0000,,', 'says_unknown birth_date', null],
  ['soon after,,', 'invalid_birth_date birth_date', null],
  ['29417,,', 'invalid_birth_date birth_date', null],
  ['03/04/1980,,', 'ambiguous_date birth_date', '1980?'],
  ['1849-12-31,,', 'year_too_early birth_date', null],
  ['0001-01-01,,', 'substitute_date birth_date', null],
  ['1405,,', 'hijri_year birth_date', null],
  ['2099-01-01,,', 'year_in_future birth_date', null],
  ['2513-05-01,,', 'buddhist_year birth_date', null],
  [',Germany;Atlantis,', 'unknown_country countries', ['de', 'zz']],
  [',Stateless,', 'stateless countries', []],
  [',unknown,', 'says_unknown countries', []],
  [',Kongo,', 'ambiguous_country countries', []],
  [',Korean,', 'ambiguous_country countries', []],
  [',D\u0000K,', 'control_character countries', []],
  [',Åland\ufffd,', 'replacement_character countries', []],
  [',,extreme', 'unknown_risk_tier risk_tier', null],
])('the facts %j are in doubt as %s, and the row is a customer all the same', async (facts, doubt, kept) => {
  const [row] = await readText(`${header}\n1,person,Ann Lee,${facts}\n`);
  if (row?.kind !== 'customer') throw new Error('expected a customer');
  const { parties, riskTier, readings } = row.customer;
  expect(readings.doubts.map(({ why, column }) => `${why} ${column}`)).toEqual([doubt]);
  expect(facts).toContain(readings.doubts[0]?.value);
  const read = { birth_date: parties[0].birthDate, countries: parties[0].countries, risk_tier: riskTier };
  expect(read).toMatchObject({ [doubt.split(' ')[1] ?? '']: kept });
});

test('a date that may be another one is marked, and kept beside what the source says', async () => {
  const columns = { type: { value: 'person' }, birthDate: { column: 'born', format: 'dd.MM.yyyy', pivot: 25 } };
  const rows = await readText(
    'customer_id,name,born\n1,A,31.12.80\n2,B,1.2.24\n3,C,c. 1960\n4,D,31.12.1980\n5,E,1980-12-31T22:00:00Z\n',
    { columns },
  );
  expect(
    rows.map((row) => row.kind === 'customer' && [row.customer.parties[0].birthDate, row.customer.readings.said]),
  ).toEqual([
    ['1980-12-31?', { birthDate: '31.12.80' }],
    ['2024-02-01?', { birthDate: '1.2.24' }],
    ['1960?', { birthDate: 'c. 1960' }],
    ['1980-12-31', { birthDate: '31.12.1980' }],
    ['1980-12-31?', { birthDate: '1980-12-31T22:00:00Z' }],
  ]);
});

test('a rejected row keeps its fields under the headers, and those without a header together in one more', async () => {
  const [long, short] = onlyRejected(await readText('customer_id,type,name\n1,person,"Lee, A",x,y\n2,person\n'));
  expect(long?.fields).toEqual({ customer_id: '1', type: 'person', name: 'Lee, A', rejected_surplus: 'x | y' });
  expect(long?.valueClass).toBe('5 fields for 3 columns');
  expect(short?.fields).toEqual({ customer_id: '2', type: 'person', name: '' });
});

test('what stands in a column that nobody reads never rejects a row, and of a long text as much is kept as a field may hold', async () => {
  const long = '𐐷'.repeat(5_250);
  const rows = await readText(
    `${header},note\n1,person,A,,,,"two\nlines\twith \u0007 and \ufffd"\n2,person,B,,,,${long}\n3,person,,,,,${'x'.repeat(900_000)}\n4,person,C,,,,${'x'.repeat(10_000)}\n`,
  );
  expect(summarise(rows)).toEqual(['2 1', '4 2', '5 missing_name name', '6 4']);
  const kept = rows.map((row) => (row.kind === 'customer' ? row.fields[6] : row.rejected.fields['note']));
  expect(kept[1]).toBe(`${'𐐷'.repeat(4_999)}…`);
  expect(kept[2]).toBe(`${'x'.repeat(9_999)}…`);
  expect(kept[3]).toBe('x'.repeat(10_000));
});

test.each([
  ['1,person,,,,', 'empty'],
  ['1,31121980,Ann,,,', 'digits, 8 characters'],
  ['1,31.12.1980,Ann,,,', 'digits and punctuation, 10 characters'],
  ['1,soon after,Ann,,,', 'letters, 10 characters'],
  ['1,person,A\u0000nn,,,', 'control character U+0000'],
  ['1,person,"A\nnn",,,', 'line break U+000A'],
  ['1,person,A\ufffdnn,,,', 'replacement character U+FFFD'],
  ['1,person,-,,,', 'punctuation, 1 character'],
  [`1,person,${'a1-'.repeat(167)},,,`, 'mixed, 501 characters'],
])('the value at fault in %j is told by its kind alone: %s', async (row, valueClass) => {
  expect(onlyRejected(await readText(`${header}\n${row}\n`))[0]?.valueClass).toBe(valueClass);
});

test('values stay text', async () => {
  const rows = await readText('customer_id,type,name,note\n007,person,1e5,0.10\n1e5,person,TRUE,\n', {
    columns: { attributes: 'all' },
  });
  expect(rows).toMatchObject([
    { customer: { reference: '007', parties: [{ name: '1e5' }], attributes: { note: '0.10' } } },
    { customer: { reference: '1e5', parties: [{ name: 'TRUE' }], attributes: {} } },
  ]);
});

const placeholders = textsOf(`
  NULL  n/a  N.A.  #N/A  <null>  \\N  none  (unknown)  Test  123  ＮＵＬＬ
`);

test('a name that is a placeholder as a whole is rejected as missing, and one that only begins with it is kept', async () => {
  const objects = ['{"first":"Ann","last":"Lee"}', '[object Object]'];
  const named = textsOf(`
    None Smith  Nullmeyer  Testa  Ann Test  Na Na  Nil  N A Palm  {Ann} Lee  3M  Mx 123
    Unknown Pleasures Ltd
  `);
  const rows = [...placeholders, 'NONE ', ...objects, ...named].map(
    (name, at) => `${at},person,"${name.replaceAll('"', '""')}"`,
  );
  const read = await readText(`customer_id,type,name\n${rows.join('\n')}\n`);
  expect(read.flatMap((row) => (row.kind === 'customer' ? [row.customer.parties[0].name] : []))).toEqual(named);
  expect(new Set(onlyRejected(read).map(({ reason, column }) => `${reason} ${column}`))).toEqual(
    new Set(['missing_name name']),
  );
});

test('the name of an entity may be a number, unless it is one that is typed at random', async () => {
  const rows = 'customer_id,type,name\n1,entity,555\n2,entity,1234\n3,entity,000\n4,person,555\n';
  expect(summarise(await readText(rows))).toEqual([
    '2 1',
    '3 missing_name name',
    '4 missing_name name',
    '5 missing_name name',
  ]);
});

test('a malformed line is shown as it stands, quotes included', async () => {
  const [row] = onlyRejected(await readText('customer_id,type,name\n"1",person,"Lee\n'));
  expect(row).toMatchObject({ reference: '1', fields: { customer_id: '"1"', type: 'person', name: '"Lee' } });
});

test('a name of 500 characters beyond the basic plane is not too long', async () => {
  expect(summarise(await readText(`customer_id,type,name\n1,person,${'𐐷'.repeat(500)}\n`))).toEqual(['2 1']);
});

test('own headers, words and dates are read by the mapping', async () => {
  const columns = {
    id: ['branch', 'number'],
    name: ['first', 'last'],
    type: { column: 'kind', values: { 1: 'person', Firma: 'entity' } },
    birthDate: { column: 'born', format: 'd.M.yyyy' },
    countries: 'land',
    riskTier: { column: 'class', values: { A: 'low' } },
  };
  const rows = await readText(
    'branch;number;first;last;kind;born;land;class\nN;1;Bo;Ek;1;3.4.1970;SWE;a\nN;2;;Acme;firma;1970-04-03;UK;\nN;3;x;y;1;30.2.1970;;\nN;;x;y;1;;;\n',
    { columns },
  );
  expect(summarise(rows)).toEqual(['2 N 1', '3 N 2', '4 N 3', '5 missing_id number']);
  expect(rows[2]).toMatchObject({ customer: { parties: [{ birthDate: null }] } });
  expect(rows[0]).toMatchObject({
    customer: {
      riskTier: 'low',
      parties: [{ type: 'person', name: 'Bo Ek', birthDate: '1970-04-03', countries: ['se'] }],
    },
  });
  expect(rows[1]).toMatchObject({
    customer: { parties: [{ type: 'entity', name: 'Acme', birthDate: '1970-04-03', countries: ['gb'] }] },
  });
});

test('a text that fits the declared date format is never read by another one', async () => {
  const columns = { type: { value: 'person' }, birthDate: { column: 'born', format: 'yyyy-dd-MM' } };
  const rows = await readText('customer_id,name,born\n1,A,1970-25-12\n2,B,1970-12-25\n3,C,1970\n', { columns });
  const dates = rows.map((row) => row.kind === 'customer' && row.customer.parties[0].birthDate);
  expect(dates).toEqual(['1970-12-25', null, '1970']);
});

const footers = textsOf(`
  3 rows selected.  (3 rows affected)  End of report  -- end --  Page 1 of 3  *** Ende ***  -----
  3 Zeilen ausgewählt.  EOF
`);

test('a repeated header, a total, a footer and a line between rows are no customers, also where their first cell fills the id', async () => {
  const totals = textsOf(`
    Total,,3  TOTALE,,3  Summe:,,  Gesamt,person,3  ,Razem,3  Итого: 3,,  合計,,3
    Grand total,,"1,234"  Total rows: 3,,
  `);
  const headers = [
    'customer_id,type,name',
    'CUSTOMER_ID,Type,Name',
    '"customer_id","type","name"',
    'customer_id,,name',
  ];
  const rows = [
    ...headers,
    ...totals,
    ...footers,
    ...footers.map((text) => `${text},,`),
    '-----,----,-----',
    'Total,3',
  ];
  const read = await readText(['customer_id,type,name', '1,person,Ann', ...rows, ''].join('\n'));
  expect(
    read.slice(1).map((row) => (row.kind === 'rejected' ? [row.rejected.reason, row.rejected.reference] : row)),
  ).toEqual(rows.map(() => ['not_a_customer', null]));
  const firms = 'customer_id,name\nTotal,3\n';
  expect(summarise(await readText(firms, { columns: { type: { value: 'entity' } } }))).toEqual(['2 not_a_customer']);
});

test('a customer whose name or id is a word for a total, a header or an end is one', async () => {
  const names = ['Total SA', 'Total', 'Summe Verlag', 'Name', 'End', 'Page One Ltd', 'EOF', 'Gesamt', 'Sum'];
  const ids = ['TOTAL-17', 'Total', 'customer_id', 'Summe', 'END', 'Count'];
  const rows = [...names.map((name, at) => `C-${at},entity,${name}`), ...ids.map((id) => `${id},entity,Kestrel`)];
  const read = await readText(['customer_id,type,name', ...rows, ''].join('\n'));
  expect(read.map(({ kind }) => kind)).toEqual(rows.map(() => 'customer'));
});

test('rows that csv.skipRows names by the beginning of their first cell are left out and counted', async () => {
  const text = 'customer_id,type,name\n1,person,Ann\nTotale clienti,,1\n\nStampato il,,"1\n2"\n2,person,Totale\n';
  const { rows, tally } = await readWithTally(text, ['Totale', 'Stampato']);
  expect(summarise(rows)).toEqual(['2 1', '7 2']);
  expect(tally).toEqual({ lines: 7, headers: 1, blanks: 1, continuations: 1, records: 2, skipped: 2 });
});

test('an id that a spreadsheet has changed is kept and in doubt, any other one is not', async () => {
  const readIds = async (ids: readonly string[]) => {
    const lines = ids.map((id, at) => `"${id.replaceAll('"', '""')}",person,Ada ${'BCDEFGHIJKLMNOP'[at]}`);
    return (await readText(['customer_id,type,name', ...lines, ''].join('\n'))).map((row) =>
      row.kind === 'customer' ? [row.customer.reference, ...row.customer.readings.doubts.map(({ why }) => why)] : row,
    );
  };
  const changed =
    '1.23457E+11 1,23457e+11 -1.5E+10 1E+11 1.2E-05 #### ## #REF! #N/A #BEZUG! #¡VALOR! #NV =A5 =1+1'.split(' ');
  expect(await readIds(changed)).toEqual(changed.map((id) => [id, 'spreadsheet_id']));
  expect(await readIds(["'000124", "'000124'", '="000"&"123"'])).toEqual([
    ['000124', 'spreadsheet_id'],
    ['000124', 'spreadsheet_id'],
    ['="000"&"123"', 'spreadsheet_id'],
  ]);
  const sound = ['000123', '1E5', '12E+5', '1E-05', '#123', '#A-1', "'s-1", 'C-17'];
  expect(await readIds(sound)).toEqual(sound.map((id) => [id]));
  expect(await readIds(['="000123"'])).toEqual([['000123']]);
});

test('a name that a spreadsheet shows as an error is no name', async () => {
  const text = 'customer_id,type,name\n1,person,#REF!\n2,entity,#N/A\n3,person,#NAME?\n';
  expect(summarise(await readText(text))).toEqual([
    '2 missing_name name',
    '3 missing_name name',
    '4 missing_name name',
  ]);
});
