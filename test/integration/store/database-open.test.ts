import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { StoreError } from '../../../src/errors.js';
import { openDatabase } from '../../../src/store/database/open-database.js';
import { readRows, testDatabases } from '../../helpers/databases.js';
import { findFreePort } from '../../helpers/loopback.js';

const numberRow = z.object({ n: z.number() });

describe('opening Postgres', () => {
  const databases = testDatabases('postgres');

  it('says which server cannot be reached and why, without the password', async () => {
    const port = await findFreePort();
    const url = `postgres://someone:s3cret-word@127.0.0.1:${port}/screening`;
    const error = await openDatabase({ url }, 'test').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: 'database_unreachable', message: expect.stringContaining('ECONNREFUSED') });
    expect(String(error)).toContain(`127.0.0.1:${port}/screening`);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cret');
  });

  it('refuses a URL it cannot read, without quoting it', async () => {
    for (const url of ['postgres://someone:s3cret-word@host:port/x', 'postgres://a:s3cret-word@[/']) {
      const error = await openDatabase({ url }, 'test').catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'database_unreachable' });
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cret');
    }
  });

  it('names the session after its owner, in UTC and without a time limit for statements', async () => {
    const { url = '' } = await databases.locate();
    const database = await databases.open({
      url: `${url}?options=-c%20timezone%3DAsia/Tokyo%20-c%20statement_timeout%3D50`,
    });
    const settings = `select current_setting('application_name') as name, current_setting('timezone') as zone,
      current_setting('statement_timeout') as timeout`;
    expect(await readRows(database, settings)).toEqual([{ name: 'nightscreen tests', zone: 'UTC', timeout: '0' }]);
  });

  it('goes on with new connections after the server has cut the old ones', async () => {
    const location = await databases.locate();
    const database = await databases.open(location);
    const other = await databases.open(location);
    const cutOthers = `select count(pg_terminate_backend(pid)) as n from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    const cut = database.transaction(async (transaction) => {
      await transaction.execute('create table kept (n int)');
      await other.query(numberRow, cutOthers);
      await transaction.execute('insert into kept values (1)');
    });
    await expect(cut).rejects.toMatchObject({ code: 'database_error' });
    expect(await database.query(numberRow, `select count(*) as n from pg_tables where tablename = 'kept'`)).toEqual([
      { n: 0 },
    ]);
  });
});
