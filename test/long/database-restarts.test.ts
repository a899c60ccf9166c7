import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { batchLimits } from '../../src/runs/screening/search-many.js';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { runDisturbedTrial } from '../campaign/crash-trials.js';
import { countCustomerCalls, expectComplete, isControl, makeSite, Nursery } from '../campaign/site.js';
import { startPostgres } from '../helpers/database-servers.js';
import { testDatabases } from '../helpers/databases.js';
import { makeSeededRandom, printFigure } from '../helpers/figures.js';
import { startCuttingProxy } from '../helpers/proxies.js';

const databases = testDatabases('postgres');
const nursery = new Nursery();
afterAll(() => nursery.close());
const crashes = 4;
const rate = { perSecond: 400, concurrency: 8 };

it('a night whose connections the server ends at random loses nothing, repeats nothing and comes to its end', async () => {
  const figures = await runDisturbedTrial(nursery, {
    locate: databases.locate,
    customers: 800,
    rate,
    times: 8,
    random: makeSeededRandom(7),
    emit: () => undefined,
  });
  printFigure(
    `${figures.disturbances} ended connections in a night: ${figures.exits.length} exits, ${figures.repeated} repeated`,
  );
  expect(figures).toMatchObject({ lost: 0, twice: 0, repeated: 0, exits: [], ledger: { wrong: [] } });
  expect(figures.disturbances).toBeGreaterThan(3);
});

it('a night continues after the server crashed, for 10 s and in the middle of its commits', async () => {
  const server = await startPostgres();
  const admin = await openDatabase({ url: server.url }, 'tests');
  // What the server has confirmed is to survive its crash.
  await admin.execute('alter role nightscreen set synchronous_commit = on');
  await migrate(admin);
  await admin.close();
  const customers = 800;
  const proxy = await startCuttingProxy(server.url);
  const site = await makeSite(nursery, async () => ({ url: proxy.url }), { customers, rate });
  const restartAfter = async (down: Promise<() => Promise<void>>, downMs: number): Promise<void> => {
    const start = await down;
    await delay(downMs);
    await start();
  };
  try {
    const life = await nursery.begin(site.toOrder());
    while (site.calls().length < customers / 5) await delay(5);
    await restartAfter(server.crash(), 10_000);
    for (let crash = 1; crash < crashes; crash += 1) {
      while (site.calls().length < ((crash + 1) * customers) / (crashes + 2)) await delay(5);
      await new Promise<void>((resolve, reject) => {
        proxy.cutAtCommit('after', () => restartAfter(server.crash(), 200).then(resolve, reject));
      });
    }
    expectComplete(await life.death);
    const searched = new Set(
      site
        .calls()
        .filter((call) => !isControl(call))
        .map(({ searchName }) => searchName),
    );
    const repeated = countCustomerCalls(site) - customers;
    printFigure(`${crashes} crashes of the server in a night: ${repeated} calls repeated`);
    expect(searched.size).toBe(customers);
    // A run that continues searches again for what was in flight or waited for the next commit.
    expect(repeated).toBeLessThanOrEqual(crashes * (site.concurrency + batchLimits.maxItems));
  } finally {
    await site.close();
    await proxy.close();
    await server.stop();
  }
});
