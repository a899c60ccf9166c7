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

const columns = {
  id: 'full_name',
  name: 'full_name',
  type: { value: 'person' },
  birthDate: 'date_of_birth',
  countries: 'nationality',
};

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
  const settings = rosterSettingsSchema.parse({ name: 'odd', csv: { path }, columns });
  const rows: RosterRow[] = [];
  for await (const batch of (await readRoster(settings, () => undefined)).rows) rows.push(...batch);
  const names = rows.flatMap((row) => (row.kind === 'customer' ? [row.customer.parties[0].name] : []));
  expect(names).toEqual(people.map((person) => person['full_name']?.trim()));
});
