import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { assertLease, tryAcquireLease } from '../../src/store/database/leases.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { findProgram } from '../helpers/cli-process.js';
import { startPgbouncer } from '../helpers/database-servers.js';
import { readRows, testDatabases } from '../helpers/databases.js';
import { startCuttingProxy } from '../helpers/proxies.js';

const databases = testDatabases('postgres');

it('a killed client keeps its statement and its lease for a second or two, not as long as the statement takes', async () => {
  const location = await databases.locate();
  const proxy = await startCuttingProxy(location.url ?? '');
  const dying = await openDatabase({ url: proxy.url }, 'tests');
  const heir = await databases.open(location);
  const answer = await tryAcquireLease(dying, 'night', 'dying', 500);
  if (!('acquired' in answer)) throw new Error('the lease is not free');
  const work = dying.transaction(async (transaction) => {
    await assertLease(transaction, answer.acquired);
    await transaction.execute('select pg_sleep(25)');
  });
  work.catch(() => undefined);
  const isAtWork = `select 1 from pg_stat_activity where state = 'active' and query = 'select pg_sleep(25)'`;
  await expect.poll(() => readRows(heir, isAtWork)).toHaveLength(1);
  await delay(600);
  await proxy.close();
  const diedMs = performance.now();
  const next = await tryAcquireLease(heir, 'night', 'heir', 60_000);
  expect(next).toMatchObject({ acquired: { owner: 'heir' } });
  expect(performance.now() - diedMs).toBeLessThan(12_000);
  await expect(work).rejects.toMatchObject({ code: 'database_error' });
  await dying.close();
});

it('a statement that takes longer than its limit is ended in the server', async () => {
  const location = await databases.locate();
  const witness = await databases.open(location);
  const hasty = await openDatabase({ ...location, queryTimeoutMs: 400 }, 'tests');
  await expect(hasty.execute('select pg_sleep(31)')).rejects.toMatchObject({ sqlState: '57014' });
  await expect(hasty.transaction((transaction) => transaction.execute('select pg_sleep(31)'))).rejects.toMatchObject({
    sqlState: '57014',
  });
  const running = await readRows(
    witness,
    `select count(*)::integer as n from pg_stat_activity where state = 'active' and query like '%pg_sleep(31)%' and pid <> pg_backend_pid()`,
  );
  expect(running).toEqual([{ n: 0 }]);
  await hasty.close();
});

const isPoolerHere = findProgram('pgbouncer') !== null;
const isRequired = process.env['NIGHTSCREEN_TEST_PGBOUNCER'] === 'required';

describe.skipIf(!isPoolerHere && !isRequired)('a pooler (pgbouncer: skipped where it is not installed)', () => {
  it('is refused in transaction mode before anything is read, and works in session mode', async () => {
    const { url = '' } = await databases.locate();
    const { port, pathname } = new URL(url);
    const open = (address: string) => openDatabase({ url: new URL(pathname, address).href }, 'tests');

    const sharing = await startPgbouncer(port, 'transaction');
    const refusal = await open(sharing.url).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'pooler_in_transaction_mode' });
    await sharing.stop();

    const keeping = await startPgbouncer(port, 'session');
    const database = await open(keeping.url);
    expect(await readRows(database, 'show time zone')).toEqual([{ TimeZone: 'UTC' }]);
    await database.close();
    await keeping.stop();
  });
});
