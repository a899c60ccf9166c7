import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { expect, test } from 'vitest';
import type { RosterRow } from '../../../src/roster/customer.js';
import { readRoster } from '../../../src/roster/read-roster.js';
import { rosterSettingsSchema } from '../../../src/roster/settings.js';

const folder = process.env['NIGHTSCREEN_TEST_DATA'];
const title = folder === undefined ? ' (skipped: NIGHTSCREEN_TEST_DATA names no folder)' : '';

// The files have no id column; name and birth date together are one.
const columns = {
  id: ['full_name', 'date_of_birth'],
  name: 'full_name',
  type: { value: 'person' },
  birthDate: 'date_of_birth',
  countries: 'nationality',
};

async function readReal(file: string, id: unknown = columns.id): Promise<RosterRow[]> {
  const csv = { path: join(folder ?? '', 'rosters', file) };
  const settings = rosterSettingsSchema.parse({ name: 'real', csv, columns: { ...columns, id } });
  const rows: RosterRow[] = [];
  for await (const batch of (await readRoster(settings, () => undefined)).rows) rows.push(...batch);
  return rows;
}

test.skipIf(folder === undefined)(`50,000 synthetic people are read without a reject${title}`, async () => {
  const rows = await readReal('negatives_us.csv');
  expect(rows).toHaveLength(50_000);
  expect(rows.filter((row) => row.kind === 'rejected')).toEqual([]);
  const ids = new Set(rows.flatMap((row) => (row.kind === 'customer' ? [row.customer.reference] : [])));
  expect(ids.size).toBe(50_000);
  const countries = rows.flatMap((row) => (row.kind === 'customer' ? row.customer.parties[0].countries : []));
  expect(countries).toHaveLength(50_000);
});

test.skipIf(folder === undefined)(`683 listed people are read without a reject${title}`, async () => {
  const rows = await readReal('positives_un_untreated.csv', 'full_name');
  expect(rows).toHaveLength(683);
  expect(rows.filter((row) => row.kind === 'rejected')).toEqual([]);
});

test.skipIf(folder === undefined)(`no fact keeps a listed person from being searched for${title}`, async () => {
  const text = await readFile(join(folder ?? '', 'rosters', 'positives_un_untreated.csv'), 'utf8');
  const people: Record<string, string>[] = parse(text, { columns: true });
  const dates = ['31.02.1980', '1969-7-16', '0001-01-01', '2099', '2513-01-01', '03/04/1980', 'unknown', '29417', '\t'];
  const countries = [
    'Stateless',
    'Yugoslavia',
    'SU',
    'Deutschland',
    'unknown',
    'Kongo',
    'Atlantis;de',
    '\ufffd',
    '276',
  ];
  const odd = people.map((person, index) => ({
    ...person,
    date_of_birth: dates[index % dates.length] ?? '',
    nationality: countries[(index + 4) % countries.length] ?? '',
  }));
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-odd-')), 'odd.csv');
  await writeFile(path, stringify(odd, { header: true }));
  const settings = rosterSettingsSchema.parse({ name: 'odd', csv: { path }, columns: { ...columns, id: 'full_name' } });
  const rows: RosterRow[] = [];
  for await (const batch of (await readRoster(settings, () => undefined)).rows) rows.push(...batch);
  const names = rows.flatMap((row) => (row.kind === 'customer' ? [row.customer.parties[0].name] : []));
  expect(names).toEqual(people.map((person) => person['full_name']?.trim()));
});
