import { expect, test } from 'vitest';
import { listPartySources, rosterSettingsSchema, toFileRoster } from '../../../src/roster/settings.js';

test('the roster with a full mapping is accepted', () => {
  const columns = {
    id: 'customer_no',
    name: ['first_name', 'last_name'],
    type: { value: 'person' },
    birthDate: { column: 'dob', format: 'dd.MM.yyyy' },
    countries: 'nationality',
    riskTier: 'risk',
  };
  expect(rosterSettingsSchema.parse({ name: 'retail', csv: { path: 'r.csv' }, columns })).toEqual({
    name: 'retail',
    csv: { path: 'r.csv', delimiter: 'auto', encoding: 'auto', header: true },
    columns,
    parties: [],
  });
});

test('a file with the standard headers has the settings that an entry without a mapping gives', () => {
  expect(rosterSettingsSchema.parse({ name: 'x', csv: { path: 'r.csv' } })).toEqual(toFileRoster('x', 'r.csv'));
});

test.each([
  ['neither source', {}],
  ['both sources', { csv: { path: 'r.csv' }, postgres: { urlEnv: 'URL', query: 'select 1' } }],
  ['an unknown key', { csv: { path: 'r.csv' }, colums: {} }],
  ['an unknown column', { csv: { path: 'r.csv' }, columns: { surname: 'x' } }],
  ['a delimiter of two characters', { csv: { path: 'r.csv', delimiter: '||' } }],
  ['a quote as delimiter', { csv: { path: 'r.csv', delimiter: '"' } }],
  ['an encoding that is not read', { csv: { path: 'r.csv', encoding: 'latin1' } }],
  ['a connection string in place of its variable', { postgres: { urlEnv: 'postgres://u:p@h/d', query: 'select 1' } }],
  ['a type that is none', { csv: { path: 'r.csv' }, columns: { type: { value: 'robot' } } }],
  ['a format without a year', { csv: { path: 'r.csv' }, columns: { birthDate: { column: 'b', format: 'dd.MM' } } }],
  ['a day without a month', { csv: { path: 'r.csv' }, columns: { birthDate: { column: 'b', format: 'dd.yyyy' } } }],
  ['an empty value map', { csv: { path: 'r.csv' }, columns: { type: { column: 'k', values: {} } } }],
  [
    'own words that fold alike',
    { csv: { path: 'r.csv' }, columns: { active: { column: 'a', values: { Y: true, y: false } } } },
  ],
  [
    'formats that read one text as two days',
    { csv: { path: 'r.csv' }, columns: { birthDate: { column: 'b', formats: ['d/M/yyyy', 'MM/dd/yyyy'] } } },
  ],
  ['an end date without a day', { csv: { path: 'r.csv' }, columns: { endDate: { column: 'e', format: 'MM.yyyy' } } }],
  ['a country that is none', { csv: { path: 'r.csv' }, columns: { countries: { value: 'Atlantis' } } }],
  [
    'a country map to no country',
    { csv: { path: 'r.csv' }, columns: { countries: { column: 'c', values: { x: 'Atlantis' } } } },
  ],
  ['column number nought', { csv: { path: 'r.csv', header: false }, columns: { id: 0 } }],
  [
    'more attributes than are kept',
    { csv: { path: 'r.csv' }, columns: { attributes: Array.from({ length: 51 }, (_, index) => `c${index}`) } },
  ],
  ['no query', { postgres: { urlEnv: 'URL' } }],
  ['standard input beside a file', { csv: { path: ['-', 'a.csv'] } }],
  ['no file at all', { csv: { path: [] } }],
  [
    'parties in the role of the customer',
    { csv: { path: 'r.csv' }, parties: [{ csv: { path: 'p' }, columns: { role: { value: 'customer' } } }] },
  ],
  ['parties without a source', { csv: { path: 'r.csv' }, parties: [{ columns: {} }] }],
  [
    'a year of two digits on which somebody leaves',
    { csv: { path: 'r.csv' }, columns: { endDate: { column: 'e', format: 'dd.MM.yy' } } },
  ],
  ['a language that names no country', { csv: { path: 'r.csv' }, columns: { language: 'tlh' } }],
])('%s is refused', (_, roster) => {
  expect(rosterSettingsSchema.safeParse({ name: 'x', ...roster }).success).toBe(false);
});

test('every form of a mapping is accepted, numbers as headers and countries as codes', () => {
  const settings = rosterSettingsSchema.parse({
    name: 'x',
    csv: { path: ['a.csv', 'more/*.csv'], delimiter: 'tab', encoding: 'utf-8', header: false },
    columns: {
      id: 1,
      name: { columns: [3, 2], separator: ' ' },
      countries: { column: 4, values: { inland: 'Denmark' } },
      riskTier: { value: 'low' },
      aliases: { column: 5 },
      active: { column: 6, values: { ja: true, nej: false } },
      endDate: { column: 7, formats: ['dd.MM.yyyy', 'yyyyMMdd', 'd.M.yyyy'] },
      attributes: 'all',
    },
    parties: [
      {
        postgres: { urlEnv: 'URL', query: 'select * from core.owners' },
        columns: { role: { column: 'r', values: { X: 'director' } } },
      },
    ],
  });
  expect(settings.csv).toEqual({ path: ['a.csv', 'more/*.csv'], delimiter: '\t', encoding: 'utf-8', header: false });
  expect(settings.columns).toMatchObject({
    id: '1',
    name: { columns: ['3', '2'] },
    countries: { column: '4', values: { inland: 'dk' }, separator: ';' },
    aliases: { column: '5' },
  });
  expect(settings.parties[0]?.postgres).toEqual({ urlEnv: 'URL', query: 'select * from core.owners' });
});

test('a source of parties has the form, language and exceptions of its roster', () => {
  const roster = rosterSettingsSchema.parse({
    name: 'retail',
    csv: { path: 'a.csv', delimiter: ';', encoding: 'iso-8859-1', skipRows: ['[Total]'] },
    columns: { language: 'de', realNames: ['Test'] },
    parties: [{ csv: { path: 'b.csv' }, columns: { role: 'r' } }, { csv: { path: 'c.csv', encoding: 'utf-8' } }],
  });
  const [first, second] = listPartySources(roster);
  expect(first?.csv).toEqual({ ...roster.csv, path: 'b.csv' });
  expect(first?.columns).toMatchObject({ language: 'de', realNames: ['Test'], role: 'r' });
  expect(second?.csv).toMatchObject({ path: 'c.csv', delimiter: ';', encoding: 'utf-8' });
});
