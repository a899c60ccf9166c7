import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DatabaseLocation, openDatabase } from '../../src/store/database/open-database.js';
import { assertLease, tryAcquireLease } from '../../src/store/leases.js';
import { findProgram } from '../helpers/cli-process.js';
import { startPgbouncer } from '../helpers/database-servers.js';
import { readRows, testDatabases } from '../helpers/databases.js';
import { startCuttingProxy } from '../helpers/proxies.js';

const isPoolerHere = findProgram('pgbouncer') !== null;
const isRequired = process.env['NIGHTSCREEN_TEST_PGBOUNCER'] === 'required';
const databases = testDatabases('postgres');
const ways: readonly ('directly' | 'through pgbouncer in transaction mode')[] = [
  'directly',
  'through pgbouncer in transaction mode',
];

it.runIf(isRequired)('has pgbouncer for the tests behind a pooler (Debian: apt-get install pgbouncer)', () => {
  expect(isPoolerHere).toBe(true);
});

for (const way of ways) {
  describe.skipIf(way !== 'directly' && !isPoolerHere)(`${way} (pgbouncer: skipped where it is not installed)`, () => {
    let direct: DatabaseLocation;
    let location: DatabaseLocation;
    let stop: () => Promise<void> = async () => undefined;

    beforeAll(async () => {
      direct = await databases.locate();
      location = direct;
      if (way === 'directly') return;
      const { port, pathname } = new URL(direct.url ?? '');
      const pooler = await startPgbouncer(port);
      if (!pooler) return;
      location = { url: pooler.url.replace(/\/postgres$/, pathname) };
      stop = () => pooler.stop();
    });
    afterAll(() => stop());

    it('a killed client keeps its statement and its lease for a second or two, not as long as the statement takes', async () => {
      const proxy = await startCuttingProxy(location.url ?? '');
      const dying = await openDatabase({ url: proxy.url }, 'tests');
      const heir = await databases.open(direct);
      const answer = await tryAcquireLease(dying, 'night', 'dying', 500);
      if (!('acquired' in answer)) throw new Error('the lease is not free');
      const work = dying.transaction(async (transaction) => {
        await assertLease(transaction, answer.acquired);
        await transaction.execute('select pg_sleep(25)');
      });
      work.catch(() => undefined);
      await delay(600);
      await proxy.close();
      const diedMs = performance.now();
      const next = await tryAcquireLease(heir, 'night', 'heir', 60_000);
      expect(next).toMatchObject({ acquired: { owner: 'heir' } });
      expect(performance.now() - diedMs).toBeLessThan(6_000);
      await expect(work).rejects.toMatchObject({ code: 'database_error' });
      await dying.close();
    });

    it('a statement that takes longer than its limit is ended in the server', async () => {
      const witness = await databases.open(direct);
      const hasty = await openDatabase({ ...location, queryTimeoutMs: 400 }, 'tests');
      await expect(hasty.execute('select pg_sleep(31)')).rejects.toMatchObject({ sqlState: '57014' });
      await expect(
        hasty.transaction((transaction) => transaction.execute('select pg_sleep(31)')),
      ).rejects.toMatchObject({
        sqlState: '57014',
      });
      const running = await readRows(
        witness,
        `select count(*)::integer as n from pg_stat_activity where state = 'active' and query like '%pg_sleep(31)%' and pid <> pg_backend_pid()`,
      );
      expect(running).toEqual([{ n: 0 }]);
      await hasty.close();
    });
  });
}
