import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markFormula, neutraliseFormula, restoreFormula } from '../../../src/formulas.js';
import { toReport } from '../../../src/reports/report.js';
import { isOfParties } from '../../../src/reports/run-facts.js';
import { toVisibleJson } from '../../../src/reports/text.js';
import { markHidden, renderPartyRejectsCsv, renderRejectsCsv } from '../../../src/reports/write-report.js';
import type { RejectedRow, RosterRow } from '../../../src/roster/customer.js';
import { readRoster } from '../../../src/roster/read-roster.js';
import { restoreHidden } from '../../../src/roster/rejects.js';
import { rosterSettingsSchema } from '../../../src/roster/settings.js';
import { isFullSize } from '../../helpers/figures.js';
import { buildCounts, buildRunFacts } from '../../helpers/run-facts.js';
import { withFiles } from './open-csv.js';
import { onlyRejected, summarise } from './read-text.js';

interface Source {
  csv?: Record<string, unknown>;
  columns?: unknown;
}

const readFileText = (text: string | Buffer, { csv = {}, columns = {} }: Source) =>
  withFiles({ 'rejects.csv': text }, async (folder) => {
    const path = join(folder, 'rejects.csv');
    const settings = rosterSettingsSchema.parse({ name: 'retail', csv: { path, ...csv }, columns });
    const reading = await readRoster(settings, () => undefined);
    const rows: RosterRow[] = [];
    for await (const batch of reading.rows) rows.push(...batch);
    return { headers: reading.headers, rows };
  });

function toReportOf(rejects: readonly RejectedRow[]) {
  const partyRejected = rejects.filter(isOfParties).length;
  const rejected = rejects.length - partyRejected;
  const counts = buildCounts({ rejected });
  const all = { ...counts, rows: counts.customers + counts.duplicates + rejected };
  const facts = buildRunFacts();
  const rosterSource = facts.rosterSource && { ...facts.rosterSource, partyRejected };
  return toReport({ ...facts, counts: all, rosterSource, rejects });
}

const toRejectsCsv = (rejects: readonly RejectedRow[]): string => [...renderRejectsCsv(toReportOf(rejects))].join('');

type Cells = Record<string, string>;

/** What a person does to `rejects.csv` in a spreadsheet. */
function mend(csv: string, change: (row: Cells) => void, options: { delimiter?: string; bom?: boolean } = {}): string {
  const rows: Cells[] = parse(csv, { bom: true, columns: true });
  for (const row of rows) change(row);
  return stringify(rows, { header: true, delimiter: ',', bom: true, ...options });
}

const columns = { id: 'id', name: 'name', type: { value: 'person' }, countries: 'land', attributes: ['note'] };
const text = [
  'id;name;land;note',
  '1;;SE;=SUM(A1)',
  '2;"Bo";DK;-\'- x',
  '3;Bo "Ek";DK;x',
  '4;Cy;Cz;DK;x;y',
  '5;Di;DK',
  "6;;DK;'t Hooft; -x",
  '7;Ed\u0000;DK;',
  "8;--;DK;'=1",
].join('\n');
const source = { csv: { delimiter: ';' }, columns };

test('rejects.csv read again without a change gives the same rejects, with the mapping and the settings of the roster', async () => {
  const first = onlyRejected((await readFileText(text, source)).rows);
  expect(first.map((row) => row.reason)).toEqual([
    'missing_name',
    'malformed_csv',
    'wrong_column_count',
    'wrong_column_count',
    'wrong_column_count',
    'control_character',
    'name_without_letters',
  ]);
  const again = await readFileText(toRejectsCsv(first), source);
  expect(again.headers).toEqual(['id', 'name', 'land', 'note']);
  const reported = ({ column, reason, reference, fields }: RejectedRow) => ({ column, reason, reference, fields });
  expect(onlyRejected(again.rows).map(reported)).toEqual(first.map(reported));
  expect(toRejectsCsv(onlyRejected(again.rows)).length).toBeGreaterThan(0);
});

test('one mended cell makes the row a customer, formulas and all', async () => {
  const first = onlyRejected((await readFileText(text, source)).rows);
  const mended = mend(toRejectsCsv(first), (row) => {
    if (row['id'] === '1') row['name'] = 'Ann Lee';
  });
  const { rows } = await readFileText(mended, source);
  expect(rows[0]).toMatchObject({
    kind: 'customer',
    customer: { reference: '1', parties: [{ name: 'Ann Lee', countries: ['se'] }], attributes: { note: '=SUM(A1)' } },
  });
  expect(summarise(rows.slice(1)).every((each) => !/ \d$/.test(each))).toBe(true);
});

test('a broken record stays rejected until its reason is emptied too, and then is read as it stands', async () => {
  const first = onlyRejected((await readFileText(text, source)).rows);
  const change = (row: Cells): void => {
    if (row['id'] === '3') row['name'] = 'Bo Ek';
    if (row['id'] === '4') Object.assign(row, { name: 'Cy Cz', land: 'DK', note: 'x', rejected_surplus: '' });
    if (row['id'] === '5') row['note'] = 'none';
  };
  const onlyCells = await readFileText(mend(toRejectsCsv(first), change), source);
  const reasons = onlyRejected(onlyCells.rows).map((row) => `${row.reference} ${row.reason}`);
  expect(reasons).toEqual(expect.arrayContaining(['3 malformed_csv', '4 wrong_column_count', '5 wrong_column_count']));
  const withReason = (row: Cells): void => {
    change(row);
    if (/[345]/.test(row['id'] ?? '')) row['rejected_reason'] = '';
  };
  const { rows } = await readFileText(mend(toRejectsCsv(first), withReason), source);
  const mended = rows.flatMap((row) => (row.kind === 'customer' ? [row.customer] : []));
  expect(mended.map((customer) => [customer.reference, customer.parties[0].name])).toEqual([
    ['3', 'Bo Ek'],
    ['4', 'Cy Cz'],
    ['5', 'Di'],
  ]);
});

test('a NUL that the database has kept as its symbol is still a control character', async () => {
  const first = onlyRejected((await readFileText(text, source)).rows);
  const kept = JSON.stringify(first).replaceAll('\\u0000', '\u2400');
  const stored: RejectedRow[] = JSON.parse(kept);
  const again = onlyRejected((await readFileText(toRejectsCsv(stored), source)).rows);
  expect(again.map((row) => row.reason)).toEqual(first.map((row) => row.reason));
  expect(again.find((row) => row.reference === '7')?.valueClass).toBe('control character U+0000');
});

test('surplus fields that are left in their column keep the row rejected', async () => {
  const first = onlyRejected((await readFileText(text, source)).rows);
  const mended = mend(toRejectsCsv(first), (row) => {
    if (row['id'] === '4') row['rejected_reason'] = '';
  });
  expect(summarise((await readFileText(mended, source)).rows)).toContain('4 wrong_column_count');
});

test.each([
  ['semicolons', { delimiter: ';', bom: true }],
  ['tabs and no mark', { delimiter: '\t', bom: false }],
])('a spreadsheet may save rejects.csv with %s', async (_, options) => {
  const first = onlyRejected((await readFileText(text, source)).rows);
  const saved = mend(
    toRejectsCsv(first),
    (row) => {
      if (row['id'] === '1') Object.assign(row, { land: 'DK', name: 'Åse Ørsted' });
    },
    options,
  );
  const { rows } = await readFileText(saved, { ...source, csv: { delimiter: '|', encoding: 'windows-1252' } });
  expect(rows[0]).toMatchObject({ customer: { parties: [{ name: 'Åse Ørsted' }] } });
});

test('the rejects of a file without a header are read again by number', async () => {
  const byNumber = { csv: { header: false }, columns: { id: 1, name: 2, type: { value: 'person' }, countries: 11 } };
  const cells = (id: string, name: string) => [id, name, ...Array(8).fill('x'), 'DK'].join(',');
  const first = onlyRejected((await readFileText(`${cells('1', '-')}\n${cells('2', 'Ann')},y\n`, byNumber)).rows);
  const csv = toRejectsCsv(first);
  expect(csv.split('\r\n')[0]).toMatch(/^\ufeff1,2,3,4,5,6,7,8,9,10,11,rejected_line,/);
  expect(summarise((await readFileText(csv, byNumber)).rows)).toEqual([
    '2 name_without_letters 2',
    '3 wrong_column_count',
  ]);
  const mended = mend(csv, (row) => Object.assign(row, { 2: 'Bo', rejected_reason: '', rejected_surplus: '' }));
  expect(summarise((await readFileText(mended, byNumber)).rows)).toEqual(['2 1', '3 2']);
});

test('the rejects of several files come back as one file, which says where each row stood', async () => {
  const files = Object.fromEntries(
    ['a.csv', 'b.csv'].map((name, at) => [name, `customer_id,type,name\n${at},person,\n${at + 5},entity,B\n`]),
  );
  await withFiles(files, async (folder) => {
    const paths = Object.keys(files).map((name) => join(folder, name));
    const settings = rosterSettingsSchema.parse({ name: 'retail', csv: { path: paths } });
    const rows: RosterRow[] = [];
    for await (const batch of (await readRoster(settings, () => undefined)).rows) rows.push(...batch);
    const csv = toRejectsCsv(onlyRejected(rows));
    const cells: Cells[] = parse(csv, { bom: true, columns: true });
    expect(cells.map((row) => [row['rejected_file'], row['rejected_line'], row['rejected_value']])).toEqual(
      paths.map((path) => [path, '2', 'empty']),
    );
    const mended = mend(csv, (row) => Object.assign(row, { name: 'A' }));
    expect(summarise((await readFileText(mended, {})).rows)).toEqual(['2 0', '3 1']);
  });
});

test('rejected parties have a file of their own, and no director is fed back as a customer', async () => {
  const row: RejectedRow = {
    line: 2,
    file: 'parties: owners.csv',
    column: 'role',
    reason: 'unknown_type',
    valueClass: 'empty',
    reference: 'C1',
    fields: { customer_id: 'C1', role: '', name: 'A Director' },
  };
  const report = toReportOf([row, { ...row, file: null, fields: { customer_id: 'C2', name: '' } }]);
  expect([...renderRejectsCsv(report)].join('')).not.toContain('A Director');
  const parties = [...(renderPartyRejectsCsv(report) ?? [])].join('');
  expect(parties).toContain('A Director');
  await expect(readFileText(parties, { columns: { type: { value: 'person' } } })).rejects.toMatchObject({
    code: 'parties_as_customers',
  });
});

const pieces = fc.constantFrom("'", '=', '-', '+', '@', ' ', '\n', ';', '\t', '\u200b', 'a', '|', '\uff1d', '\r');
const texts = fc.oneof(
  fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }),
);

test('every text comes back from a rejects file as it went in, and none goes out as a formula', () => {
  fc.assert(
    fc.property(texts, (value) => {
      const marked = markFormula(value);
      expect(restoreFormula(marked)).toBe(value);
      expect(neutraliseFormula(marked)).toBe(marked);
    }),
    { numRuns: isFullSize ? 2_000 : 200 },
  );
});

test.each(["'t Hooft", "O'Neil-Smith", "'s-Gravenhage", "D'Arcy; 'x'"])('the apostrophe of %s stays', (value) => {
  expect(markFormula(value)).toBe(value);
  expect(restoreFormula(value)).toBe(value);
});

test('no control or direction character is left in a file, and all come back when it is read again', () => {
  const part = fc.constantFrom(
    'a',
    '[U+',
    '[U+001B]',
    '[U+005B]',
    '\u001b]0;x\u0007',
    '\u009b',
    '\u202e',
    '\ud800',
    '\u0301',
    'شع',
    '\n',
    "'=",
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 14 }).map((parts) => parts.join('')),
      (text) => {
        const shown = markFormula(markHidden(text));
        expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
        expect(restoreHidden(restoreFormula(shown))).toBe(text);
        const json = toVisibleJson(JSON.stringify({ text }));
        expect(json).not.toMatch(/[\p{Cc}\u202e]/u);
        expect(JSON.parse(json)).toEqual({ text });
      },
    ),
  );
});
