import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PartyRow } from '../../../src/roster/customer.js';
import { readParties } from '../../../src/roster/read-roster.js';
import { listPartySources, rosterSettingsSchema } from '../../../src/roster/settings.js';
import { makeWorkbook, toRows } from '../../helpers/make-workbook.js';
import { withFiles } from './open-csv.js';

const readPartyText = (content: string, columns: unknown = {}): Promise<PartyRow[]> =>
  readPartyFile('parties.csv', content, { columns });

const readPartyFile = (
  name: string,
  content: string | Buffer,
  { sheet, columns }: { sheet?: string; columns?: unknown },
) =>
  withFiles({ [name]: content }, async (folder) => {
    const parties = [{ csv: { path: join(folder, name), sheet }, columns }];
    // A sheet of the roster is none of its related parties.
    const roster = { name: 'retail', csv: { path: 'roster.csv', sheet: 'Customers' }, parties };
    const [settings] = listPartySources(rosterSettingsSchema.parse(roster));
    if (settings === undefined) throw new Error('expected one source of parties');
    const rows: PartyRow[] = [];
    for await (const batch of (await readParties(settings, () => undefined)).rows) rows.push(...batch);
    return rows;
  });

const summarise = (row: PartyRow): string =>
  row.kind === 'party'
    ? `${row.related.reference} ${row.related.party.role} ${row.related.party.name}`
    : `${row.rejected.reference} ${row.rejected.reason} ${row.rejected.column}`;

test('a row becomes a party of its customer with its own type, birth date and countries', async () => {
  const [row] = await readPartyText(
    'customer_id,role,name,type,birth_date,countries\nC1,Beneficial Owner,Ann Lee,entity,1980-01-02,DK;SE\n',
  );
  expect(row).toMatchObject({
    kind: 'party',
    line: 2,
    related: {
      reference: 'C1',
      party: {
        role: 'beneficial_owner',
        type: 'entity',
        name: 'Ann Lee',
        birthDate: '1980-01-02',
        countries: ['dk', 'se'],
      },
    },
  });
});

test('a party is a person unless its row says otherwise', async () => {
  const rows = await readPartyText('customer_id,role,name,type\nC1,ubo,Ann,\nC1,director,Acme,ENTITY\n');
  const without = await readPartyText('customer_id,role,name\nC1,ubo,Ann\n');
  const types = [...rows, ...without].map((row) =>
    row.kind === 'party' ? row.related.party.type : row.rejected.reason,
  );
  expect(types).toEqual(['person', 'entity', 'person']);
});

test('roles are read by our words and by own ones beside them, and a party of any other role is screened as other', async () => {
  const standard =
    'customer_id,role,name\nC1,UBO,A\nC1,joint_holder,B\nC1,Director,C\nC1,alias,D\nC2,chief,E\nC2,,F\nC2,customer,G\n';
  expect((await readPartyText(standard)).map(summarise)).toEqual([
    'C1 beneficial_owner A',
    'C1 joint_holder B',
    'C1 director C',
    'C1 alias D',
    'C2 other E',
    'C2 other F',
    'C2 other G',
  ]);
  const values = { Direktør: 'director', ubo: 'joint_holder' };
  const columns = { customerId: 'kunde', role: { column: 'rolle', values }, name: 'navn', type: 'art' };
  const own = 'kunde,rolle,navn,art\n1,direktør,A,\n2,ubo,B,\n3,joint holder,C,\n4,sønn,D,\n';
  expect((await readPartyText(own, columns)).map(summarise)).toEqual([
    '1 director A',
    '2 joint_holder B',
    '3 joint_holder C',
    '4 other D',
  ]);
  const types = { ...columns, type: { column: 'art', values: { Firma: 'entity' } } };
  const [firm, entity] = await readPartyText('kunde,rolle,navn,art\n1,ubo,A,firma\n2,ubo,B,Entity\n', types);
  expect([firm, entity]).toMatchObject([
    { related: { party: { type: 'entity' } } },
    { related: { party: { type: 'entity' } } },
  ]);
});

test('the same checks hold as for customers, and the source is named as the file', async () => {
  const rows = await readPartyText(
    'customer_id,role,name,birth_date\n,ubo,A,\n1,ubo,"A\nB",\n2,ubo,-,\n3,ubo,A,1980-02-30\n',
  );
  expect(rows.map(summarise)).toEqual([
    'null missing_id customer_id',
    '1 line_break_in_name name',
    '2 name_without_letters name',
    '3 beneficial_owner A',
  ]);
  expect(rows[3]).toMatchObject({
    related: { party: { birthDate: null }, readings: { doubts: [{ why: 'no_such_day' }] } },
  });
  for (const row of rows) {
    expect(row.kind === 'rejected' ? row.rejected.file : row.file).toMatch(/^parties: .*parties\.csv$/);
  }
});

test('parties are read from their own sheet of a workbook, which may be that of the roster', async () => {
  const customers = toRows([
    ['customer_id', 'name'],
    ['C1', 'Acme Ltd'],
  ]);
  const directors = toRows([
    ['customer_id', 'role', 'name'],
    ['C1', 'director', 'Ann Lee'],
  ]);
  const book = await makeWorkbook({ sheets: { Customers: customers, Directors: directors } });
  const read = (sheet?: string) => readPartyFile('book.xlsx', book, sheet === undefined ? {} : { sheet });
  expect((await read('Directors')).map(summarise)).toEqual(['C1 director Ann Lee']);
  await expect(read('Firms')).rejects.toMatchObject({ code: 'sheet_missing' });
  await expect(read()).rejects.toMatchObject({ code: 'sheets_alike' });
  const alone = await makeWorkbook({ sheets: { Directors: directors } });
  expect((await readPartyFile('book.xlsx', alone, {})).map(summarise)).toEqual(['C1 director Ann Lee']);
});
