import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, expect, it } from 'vitest';
import { checkRosters } from '../../../src/cli/doctor/check-all.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { testDatabases } from '../../helpers/databases.js';

const databases = testDatabases('postgres');
let url = '';
let folder = '';

beforeAll(async () => {
  url = (await databases.locateEmpty()).url ?? '';
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-doctor-'));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("create table people as select 1 as customer_id, 'Ada' as name, 'person' as type");
  await client.end();
  await writeFile(join(folder, 'sound.csv'), 'customer_id,name,type\n1,Ada,person\n');
  await writeFile(join(folder, 'other.csv'), 'number,name,type\n1,Ada,person\n');
  await writeFile(join(folder, 'book.csv'), 'PK\x03\x04');
});

async function examine(roster: Record<string, unknown>, connection = url, waitPolicy = '30s') {
  const file = join(folder, 'nightscreen.config.yaml');
  await writeFile(file, JSON.stringify({ rosters: [{ name: 'core', ...roster }] }));
  return checkRosters(loadConfig({ environment: { CORE_URL: connection }, folder, file, flags: [] }), [], waitPolicy);
}
const people = { urlEnv: 'CORE_URL', query: 'select * from people' };

it('a roster that can be opened and bound is well, its parties too', async () => {
  const parties = [{ postgres: people, columns: { role: { value: 'director' } } }];
  const findings = await examine({ csv: { path: 'sound.csv' }, parties });
  expect(findings.map(({ check, state }) => [check, state])).toEqual([
    ['roster core', 'ok'],
    ['parties of roster core', 'ok'],
  ]);
  expect(await examine({ postgres: people })).toMatchObject([{ state: 'ok', message: 'Postgres query by CORE_URL' }]);
});

it.each([
  [
    'a table that is not there',
    { postgres: { ...people, query: 'select * from nobody' } },
    'relation "nobody" does not exist',
  ],
  ['a column that is not there', { postgres: people, columns: { id: 'number' } }, 'no column "number"'],
  ['a header without the mapped columns', { csv: { path: 'other.csv' } }, 'no column "customer_id"'],
  ['a file that is no CSV', { csv: { path: 'book.csv' } }, 'book.csv is damaged or incomplete'],
])('%s is found before the night', async (_, roster, message) => {
  expect(await examine(roster)).toMatchObject([{ state: 'fail', message: expect.stringContaining(message) }]);
});

it('a file without a header is found, and its first customer is not told', async () => {
  const rows = 'C-10001,person,Ada Wilma\nC-10002,person,Tamsin\n';
  await writeFile(join(folder, 'rows.csv'), rows);
  await writeFile(join(folder, 'sound-rows.csv'), rows);
  const found = [await examine({ csv: { path: 'rows.csv' } }), await examine({ csv: { path: 'sound*.csv' } })];
  expect(found).toMatchObject([[{ state: 'fail' }], [{ state: 'fail' }]]);
  expect(JSON.stringify(found)).not.toMatch(/C-1000|Wilma|Tamsin/);
});

it('a login that is refused is found, and the connection string is not told', async () => {
  const stranger = new URL(url);
  [stranger.username, stranger.password] = ['stranger', 'planted-secret'];
  const findings = await examine({ postgres: people }, stranger.href);
  expect(findings).toMatchObject([{ state: 'fail', message: expect.stringContaining('the login failed') }]);
  expect(JSON.stringify(findings)).not.toMatch(/stranger|planted-secret/);
});

it('parties that lack a column are found under their own name', async () => {
  const findings = await examine({ csv: { path: 'sound.csv' }, parties: [{ csv: { path: 'sound.csv' } }] });
  expect(findings).toMatchObject([{ state: 'ok' }, { state: 'fail', check: 'parties of roster core' }]);
});

it('of several files each is opened as far as its header, at most a hundred, and more are said', async () => {
  const parts = await mkdtemp(join(folder, 'parts-'));
  const write = (name: string, text: string) => writeFile(join(parts, name), text);
  for (let part = 0; part < 101; part += 1) {
    await write(`p-${String(part).padStart(3, '0')}.csv`, `customer_id,name,type\n${part},Ada,person\n`);
  }
  const csv = { path: join(parts, 'p-*.csv') };
  expect(await examine({ csv })).toMatchObject([
    {
      state: 'ok',
      message: expect.stringMatching(/^101 files, .*p-000\.csv first; only the headers of the first 100 were/),
    },
  ]);
  await write('p-099.csv', 'customer_id,type,name\n9,person,Ada\n');
  expect(await examine({ csv })).toMatchObject([
    {
      state: 'fail',
      message: expect.stringMatching(/same columns in the same order: column 2 is .*"type" in .*p-099\.csv/),
    },
  ]);
  await write('p-050.csv', 'PK\x03\x04');
  expect(await examine({ csv })).toMatchObject([
    { state: 'fail', message: expect.stringMatching(/p-050\.csv is damaged or incomplete/) },
  ]);
});

it('standard input is left to the run that reads it', async () => {
  expect(await examine({ csv: { path: '-' } })).toMatchObject([{ state: 'ok', message: '-' }]);
});

it('a query that takes longer than the doctor waits is doubtful', async () => {
  const query = "select pg_sleep(2)::text as slept, 1 as customer_id, 'Ada' as name, 'person' as type";
  const slow = { urlEnv: 'CORE_URL', query };
  expect(await examine({ postgres: slow }, url, '1s')).toMatchObject([
    { state: 'warn', message: expect.stringContaining('no rows within 1 s'), next: expect.stringContaining('an hour') },
  ]);
});
