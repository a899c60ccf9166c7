import { expect, test } from 'vitest';
import { rosterSettingsSchema, toFileRoster } from '../../../src/roster/settings.js';

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
    csv: { path: 'r.csv', delimiter: 'auto', encoding: 'auto' },
    columns,
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
  ['a year of two digits', { csv: { path: 'r.csv' }, columns: { birthDate: { column: 'b', format: 'dd.MM.yy' } } }],
])('%s is refused', (_, roster) => {
  expect(rosterSettingsSchema.safeParse({ name: 'x', ...roster }).success).toBe(false);
});
