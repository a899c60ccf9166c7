import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../src/store/database/database.js';
import { migrate, pendingMigrations } from '../../../src/store/database/migrate.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';

const tableRow = z.object({ name: z.string() });

describeOnEachDatabase('migrating', (open, databases) => {
  let folder: string;
  let database: Database;

  beforeAll(async () => {
    database = await open(await databases.locateEmpty());
  });

  beforeEach(async () => {
    await database.runScript('drop schema public cascade; create schema public');
    folder = await mkdtemp(join(tmpdir(), 'nightscreen-migrations-'));
    await write('0001_first.sql', 'create table one (n int);\ncreate table two (n int);\n');
    await write('0002_second.sql', 'create table three (n int);\n');
    await write('find-customers.sql', 'this is no migration');
  });

  const write = (name: string, sql: string) => writeFile(join(folder, name), sql);

  async function listTables(): Promise<string[]> {
    const rows = await database.query(
      tableRow,
      `select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
    );
    return rows.map((row) => row.name).sort();
  }

  it('applies what is missing in order, once, and says what', async () => {
    expect(await pendingMigrations(database, folder)).toEqual(['0001_first.sql', '0002_second.sql']);
    expect(await listTables()).toEqual([]);
    expect(await migrate(database, folder)).toEqual(['0001_first.sql', '0002_second.sql']);
    expect(await listTables()).toEqual(['one', 'schema_migration', 'three', 'two']);
    expect(await migrate(database, folder)).toEqual([]);
    await write('0003_third.sql', 'create table four (n int)');
    expect(await pendingMigrations(database, folder)).toEqual(['0003_third.sql']);
    expect(await migrate(database, folder)).toEqual(['0003_third.sql']);
  });

  it('leaves nothing of a migration that fails, keeps those before it, and goes on once it is mended', async () => {
    await write('0002_second.sql', 'create table three (n int);\nselect broken;\n');
    await expect(migrate(database, folder)).rejects.toMatchObject({ sqlState: '42703' });
    expect(await listTables()).toEqual(['one', 'schema_migration', 'two']);
    await write('0002_second.sql', 'create table three (n int);\n');
    expect(await migrate(database, folder)).toEqual(['0002_second.sql']);
  });

  it('refuses a landed migration that was edited, and says what to do', async () => {
    await migrate(database, folder);
    await write('0001_first.sql', 'create table other (n int);\n');
    for (const attempt of [migrate, pendingMigrations]) {
      await expect(attempt(database, folder)).rejects.toMatchObject({
        code: 'migration_edited',
        message: expect.stringContaining('Restore the file'),
      });
    }
  });

  it('takes a checkout with other line ends for the same migration', async () => {
    await migrate(database, folder);
    await write('0001_first.sql', 'create table one (n int);\r\ncreate table two (n int);\r\n');
    expect(await migrate(database, folder)).toEqual([]);
  });

  it('refuses a database that is newer than the code', async () => {
    await migrate(database, folder);
    await rm(join(folder, '0002_second.sql'));
    await expect(migrate(database, folder)).rejects.toMatchObject({
      code: 'schema_newer',
      message: expect.stringContaining('0002_second.sql'),
    });
  });

  it('refuses numbers with a gap or twice the same', async () => {
    await write('0004_fourth.sql', 'select 1');
    await expect(migrate(database, folder)).rejects.toMatchObject({ code: 'migrations_invalid' });
    await rm(join(folder, '0004_fourth.sql'));
    await write('0002_again.sql', 'select 1');
    await expect(migrate(database, folder)).rejects.toMatchObject({ code: 'migrations_invalid' });
    expect(await listTables()).toEqual([]);
  });

  it('applies each migration once when many start at the same time', async () => {
    const location = await databases.locateEmpty();
    // The embedded database has one opener; its starts share it.
    const first = await open(location);
    const others = await Promise.all(
      Array.from({ length: 3 }, () => (databases.dialect === 'postgres' ? open(location) : first)),
    );
    const applied = await Promise.all([first, ...others].map((each) => migrate(each, folder)));
    expect(applied.flat().sort()).toEqual(['0001_first.sql', '0002_second.sql']);
    for (const each of [first, ...others]) await each.close();
  });
});
