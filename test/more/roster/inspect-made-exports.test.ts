import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { presentInspection } from '../../../src/cli/commands/roster.js';
import { type FileInspection, inspectFile } from '../../../src/roster/inspect/inspect-file.js';
import { exportSpecs, laterSpecs } from '../../helpers/export-specs.js';
import { isFullSize, printFigure } from '../../helpers/figures.js';
import { assessInspection, makeExport } from '../../helpers/made-exports.js';

const folder = await mkdtemp(join(tmpdir(), 'nightscreen-exports-'));

async function inspect(content: string | Buffer, name = 'export.csv'): Promise<FileInspection> {
  const path = join(folder, name);
  await writeFile(path, content);
  return inspectFile({ path, name: 'made' });
}

it.each([
  ['99 made exports', exportSpecs, 2],
  ['60 exports made later', laterSpecs, 3],
])('the mapping that is printed reads a file as meant, for %s', async (what, specs, mostWrong) => {
  const wrong: string[] = [];
  // Each takes 45 ms of processor time.
  const tried = specs.filter((_, at) => isFullSize || at % 3 === 0);
  for (const spec of tried) {
    const made = makeExport(spec);
    const faults = await assessInspection(made, await inspect(made.bytes));
    if (faults.length > 0) wrong.push(`${made.title}: ${faults.join('; ')}`);
  }
  printFigure(`${tried.length - wrong.length} of ${tried.length} right, of ${what}`);
  for (const line of wrong) printFigure(`  ${line}`);
  expect(wrong.length).toBeLessThanOrEqual(isFullSize ? mostWrong : 0);
});

const makeRows = (count: number, write: (row: number) => string): string =>
  Array.from({ length: count }, (_, row) => `${write(row)}\n`).join('');

const countCpuMs = (since: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000;
};

// Twenty columns, for one of them took a second: the time of a cell grew with the square of its length.
const manyNotes = (note: string): string => Array.from({ length: 20 }, () => note).join(',');

it.each([
  ['200 rows with notes of 2,000 letters and no blank', 200, () => manyNotes('callback'.repeat(250))],
  ['200 rows with notes of 2,000 points and letters', 200, () => manyNotes('a.'.repeat(1_000))],
  ['20 rows, one of them of 900 KB', 20, (row: number) => manyNotes(row === 10 ? 'a'.repeat(45_000) : '')],
])('%s are inspected within 5 s of a processor', async (_, count, write) => {
  const begun = process.cpuUsage();
  const headers = Array.from({ length: 20 }, (_, at) => `note${at}`);
  const rows = makeRows(count, (row) => `${row + 100},Ann Lee,${write(row)}`);
  const { guess } = await inspect(`id,name,${headers.join(',')}\n${rows}`);
  expect(countCpuMs(begun)).toBeLessThan(5_000);
  expect(guess.columns).toMatchObject({ id: 'id', name: 'name' });
});

it('a row with one cell of 900 KB is inspected within 5 s of a processor', async () => {
  const begun = process.cpuUsage();
  const { guess } = await inspect(`id,name,note\n1,Ann Lee,${'a'.repeat(900_000)}\n2,Bob Ray,x\n`);
  expect(countCpuMs(begun)).toBeLessThan(5_000);
  expect(guess.columns).toMatchObject({ id: 'id', name: 'name' });
});

it('no mapping is printed under which over half of the rows would be rejected', async () => {
  const rows = makeRows(30, (row) => `${row % 3},Ann ${row},person`);
  const inspection = await inspect(`customer_id,name,type\n${rows}`);
  const { text, exitCode } = presentInspection(inspection);
  expect({ exitCode, settings: inspection.settings }).toEqual({ exitCode: 3, settings: null });
  expect(text).toContain('No configuration is printed, because more than half of the rows would be rejected');
  expect(text).not.toContain('rosters:');
});

it('what would reject over half of the rows is left out of the mapping, with a word about it', async () => {
  const rows = makeRows(30, (row) => `${row},Ann ${row},${row % 3 === 0 ? 'private' : ''}`);
  const { settings, guess } = await inspect(`customer_no,name,customer type\n${rows}`);
  expect(settings?.columns).toEqual({ id: 'customer_no', name: 'name', type: { value: 'person' } });
  expect(guess.doubts).toContain('type is not mapped: it would reject 20 of 30 rows, so all count as persons');
});

it('garbled letters and a file in two encodings are doubted, with a line and a remedy', async () => {
  const garbled = await inspect('id,name\n1,Ann Lee\n2,JÃ¶rg MÃ¼ller\n');
  expect(garbled.guess.doubts[0]).toMatch(
    /letters of name are garbled in 1 of 2 rows, such as "JÃ¶rg MÃ¼ller" for "Jörg Müller"/,
  );
  const half = Buffer.concat([
    Buffer.from('id,name\n1,Jörg Weiß\n2,Ann Lee\n'),
    Buffer.from('3,Jörg Weiß\n', 'latin1'),
  ]);
  const mixed = await inspect(half);
  expect(mixed.guess.doubts[0]).toMatch(/in two encodings: line 2 is UTF-8, line 4 is windows-1252/);
});

const data = process.env['NIGHTSCREEN_TEST_DATA'];
const skipped = data === undefined ? ' (skipped: NIGHTSCREEN_TEST_DATA names no folder)' : '';

/** What a person would write for each file that is a list of customers, or can be read as one. */
const real = {
  'rosters/negatives_us.csv': {
    columns: {
      id: ['full_name', 'date_of_birth'],
      name: 'full_name',
      birthDate: 'date_of_birth',
      countries: 'nationality',
    },
    customers: 50_000,
  },
  'rosters/positives_un_untreated.csv': {
    columns: { id: 'full_name', name: 'full_name', birthDate: 'date_of_birth', countries: 'nationality' },
    customers: 682,
  },
  'watchlists/ofac/sdn.csv': {
    columns: {
      id: '1',
      name: '2',
      type: { column: '3', values: { '-0-': 'entity', individual: 'person', vessel: 'entity', aircraft: 'entity' } },
    },
    customers: 7_379,
  },
  'watchlists/ofac/alt.csv': { columns: { id: '2', name: '4' }, customers: 9_682 },
  'names/ofac_alias_retrieval.csv': {
    columns: {
      id: 'ent_num',
      name: 'primary_name',
      type: { column: 'type', values: { entity: 'entity', person: 'person' } },
    },
    customers: 2_290,
  },
  'csv/node-csv/411.csv': { columns: { id: 'id', name: ['first_name', 'last_name'] }, customers: 2 },
  'csv/csv-spectrum/csvs/comma_in_quotes.csv': { columns: { name: ['first', 'last'] }, customers: 1 },
} as const;

it.skipIf(data === undefined).each(Object.entries(real))(
  `%s is mapped as a person would map it${skipped}`,
  async (file, { columns, customers }) => {
    const { guess, counts, settings } = await inspectFile({ path: join(data ?? '', file), name: 'real' });
    expect(settings).not.toBeNull();
    expect(guess.columns).toMatchObject(columns);
    expect(counts.customers).toBeGreaterThanOrEqual(customers);
  },
);

it
  .skipIf(data === undefined)
  .each([
    'watchlists/ofac/add.csv',
    'watchlists/ofac/sdn_comments.csv',
    'names/name_pairs.csv',
    'csv/node-csv/265.tubs.csv',
  ])(`%s is no list of customers, and no mapping is printed for it${skipped}`, async (file) => {
  expect(await inspectFile({ path: join(data ?? '', file), name: 'real' })).toMatchObject({ settings: null });
});
