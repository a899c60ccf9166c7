import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { StoreError } from '../../../src/errors.js';
import { type Database, readColumn, readValue } from '../../../src/store/database/database.js';
import { migrate } from '../../../src/store/database/migrate.js';
import { openDatabase } from '../../../src/store/database/open-database.js';
import { withOwnSchema } from '../../../src/store/database/own-schema.js';
import { createLogin } from '../../helpers/database-servers.js';
import { testDatabases } from '../../helpers/databases.js';

const listSchemas = (database: Database): Promise<readonly string[]> =>
  readColumn(database, z.string(), `select nspname::text from pg_namespace where nspname !~ '^pg_' order by 1`);

const ordinary = ['information_schema', 'public'];

describe('a schema of the self-test', () => {
  const databases = testDatabases('postgres');

  test('has our tables, is the only one that its sessions see, and is dropped', async () => {
    const location = await databases.locateEmpty();
    const outside = await databases.open(location);
    const found = await withOwnSchema(location.url ?? '', async (own) => {
      const database = await openDatabase(own, 'tests');
      try {
        await migrate(database);
        const names: string[] = [];
        const path = database.cursor(
          z.object({ path: z.string() }),
          `select current_setting('search_path') as path`,
          1,
        );
        for await (const [row] of path) names.push(row?.path ?? '');
        return [names, await readColumn(database, z.string(), 'select current_schema()::text'), [own.schema]];
      } finally {
        await database.close();
      }
    });
    expect(new Set(found.flat())).toEqual(new Set([expect.stringMatching(/^nightscreen_selftest_[0-9a-f]{12}$/)]));
    expect(await listSchemas(outside)).toEqual(ordinary);
    expect(await readValue(outside, z.boolean(), `select to_regclass('public.run') is null`)).toBe(true);
  });

  test('is dropped after a failure, which is thrown', async () => {
    const location = await databases.locateEmpty();
    const work = withOwnSchema(location.url ?? '', () => Promise.reject(new Error('the night failed')));
    await expect(work).rejects.toThrow('the night failed');
    expect(await listSchemas(await databases.open(location))).toEqual(ordinary);
  });

  test('that a killed process left over is dropped by the next self-test; one in use and foreign ones stay', async () => {
    const location = await databases.locateEmpty();
    const outside = await databases.open(location);
    const [left, likewise] = ['nightscreen_selftest_0123456789ab', 'nightscreen_selftest_ffffffffffff'];
    const foreign = ['nightscreen_selftest_mine', 'selftest'];
    for (const name of [left, ...foreign]) {
      await outside.runScript(`create schema ${name}; create table ${name}.in_use (); create table ${name}.run ()`);
    }
    // Without the marker it may be anything.
    await outside.runScript(`create schema ${likewise}; create table ${likewise}.run ()`);
    const stay = [...ordinary, likewise, ...foreign].toSorted();
    const during = await withOwnSchema(location.url ?? '', async (first) => {
      const both = await withOwnSchema(location.url ?? '', async (second) => [first.schema, second.schema]);
      expect(await listSchemas(outside)).toEqual([...stay, first.schema].toSorted());
      return both;
    });
    expect(new Set(during).size).toBe(2);
    expect(await listSchemas(outside)).toEqual(stay);
  });

  test('of another login stays, and a login without the right to create one is refused with the next step', async () => {
    const location = await databases.locateEmpty();
    const owner = await databases.open(location);
    await owner.runScript(
      'create schema nightscreen_selftest_0123456789ab; create table nightscreen_selftest_0123456789ab.in_use ()',
    );
    const { url } = await createLogin(owner, 'lesser');
    const refused = await withOwnSchema(url, () => Promise.resolve()).then(
      () => null,
      (error: StoreError) => error,
    );
    expect(refused).toMatchObject({
      code: 'schema_refused',
      message: expect.stringContaining('grant create on database'),
    });
    expect(await listSchemas(owner)).toEqual([...ordinary, 'nightscreen_selftest_0123456789ab'].toSorted());
  });
});
