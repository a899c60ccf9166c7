import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { LeaseLostError, RunLockedError } from '../../src/errors.js';
import type { Database } from '../../src/store/database/database.js';
import { EmbeddedDatabase, EmbeddedFiles } from '../../src/store/database/embedded.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { sql } from '../../src/store/database/statement.js';
import { testDatabases } from '../helpers/databases.js';

const numberRow = z.object({ n: z.number() });
const settingRow = z.object({ value: z.string() });
const sizeRow = z.object({ mb: z.number(), seen: z.number() });
const isFsynced = `select current_setting('fsync') as value`;
const databases = testDatabases('embedded');
let folder = '';

// Made without durability.
beforeEach(async () => {
  ({ folder = '' } = await databases.locateEmpty());
});

it('a durable folder brings each commit to the disk, also one that was made without, and stays durable until it must not be', async () => {
  const durable = await openDatabase({ folder, isDurable: true }, 'test');
  await durable.runScript('create table kept (n int)');
  await durable.close();
  const again = await openDatabase({ folder }, 'test');
  expect(await again.query(settingRow, isFsynced)).toEqual([{ value: 'on' }]);
  await again.close();
  const files = new EmbeddedFiles(join(folder, 'pgdata'), () => true);
  const lock = { isHeld: () => true, release: async () => undefined };
  const counted = await EmbeddedDatabase.open(join(folder, 'pgdata'), lock, {
    isDurable: true,
    isHurried: () => false,
    files,
  });
  const before = files.counts.syncs;
  for (let n = 0; n < 20; n += 1) await counted.execute(sql`insert into kept values (${n})`);
  expect(files.counts.syncs - before).toBeGreaterThanOrEqual(20);
  await counted.close();
}, 240_000);

it('what was written is kept, rows that are updated over and over leave neither dead rows nor a log behind, and an owner that lost its folder writes nothing', async () => {
  const first = await openDatabase({ folder }, 'test');
  expect(await first.query(settingRow, isFsynced)).toEqual([{ value: 'off' }]);
  await first.runScript(
    `create table swept (n int primary key, seen int, filler text storage plain); create index on swept (seen);
    insert into swept select n, 0, repeat('x', 3900) from generate_series(1, 1250) n;`,
  );
  const update = async (opened: Database) => {
    for (let round = 0; round < 5; round += 1) await opened.execute('update swept set seen = seen + 1');
  };
  await update(first);
  await first.close();
  const database = await openDatabase({ folder }, 'test');
  await update(database);
  const [size] = await database.query(
    sizeRow,
    `select (pg_total_relation_size('swept') / 1000000)::int as mb, (select sum(seen) from swept)::int as seen`,
  );
  expect(size?.seen).toBe(10 * 1250);
  // 5 MB of rows, five updates of each between two vacuums: 31 MB; without any 57.
  expect(size?.mb).toBeLessThan(45);
  const segments = (await readdir(join(folder, 'pgdata', 'pg_wal'))).filter((name) => /^[0-9A-F]{24}$/.test(name));
  expect(segments.length * 16).toBeLessThanOrEqual(96);
  const [card = ''] = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  await rm(join(folder, card));
  await new Promise((done) => setTimeout(done, 1_100));
  const { mtimeMs } = await stat(join(folder, 'pgdata', 'global', 'pg_control'));
  await expect(database.execute('update swept set seen = 0')).rejects.toBeInstanceOf(LeaseLostError);
  await database.close();
  expect((await stat(join(folder, 'pgdata', 'global', 'pg_control'))).mtimeMs).toBe(mtimeMs);
}, 240_000);

it('a new folder is for its owner alone, and holds nothing but the data', async () => {
  const made = join(await mkdtemp(join(tmpdir(), 'nightscreen-open-')), 'data');
  const database = await openDatabase({ folder: made }, 'first');
  await expect(openDatabase({ folder: made }, 'second')).rejects.toBeInstanceOf(RunLockedError);
  await database.close();
  expect((await stat(made)).mode & 0o777).toBe(0o700);
  expect(await readdir(made)).toEqual(['pgdata']);
});

it('is stopped by nothing that a killed process left', async () => {
  const first = await openDatabase({ folder }, 'test');
  await first.execute('create table kept as select 1 as n');
  await first.close();
  const remains = {
    'postmaster.opts': '',
    'base/pgsql_tmp/pgsql_tmp42.0': 'rows of a sort',
    'pg_wal/xlogtemp.42': 'a log that was never used',
    'global/pg_internal.init.42': 'part of a cache',
  };
  for (const pid of ['', '4', 'no number', `${process.pid}\n/pglite/data\n`]) {
    for (const [name, text] of Object.entries({ ...remains, 'postmaster.pid': pid })) {
      const path = join(folder, 'pgdata', name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    }
    const database = await openDatabase({ folder }, 'test');
    expect([pid, await database.query(numberRow, 'select n from kept')]).toEqual([pid, [{ n: 1 }]]);
    await database.close();
  }
});
