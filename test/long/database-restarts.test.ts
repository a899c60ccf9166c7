import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { migrate } from '../../src/store/migrate.js';
import { openDatabase } from '../../src/store/open-database.js';
import { runDisturbedTrial } from '../campaign/disturbed-trial.js';
import { makeSeededRandom } from '../campaign/seeded-random.js';
import { expectComplete, makeSite } from '../campaign/site.js';
import { Nursery } from '../campaign/start-life.js';
import { testDatabases } from '../helpers/databases.js';
import { printFigure } from '../helpers/print-figure.js';
import { startPostgres } from '../helpers/start-postgres.js';

const databases = testDatabases('postgres');
const nursery = new Nursery();
afterAll(() => nursery.close());
const rate = { perSecond: 400, concurrency: 8 };

it('a night whose connections the server ends at random loses nothing, repeats nothing and comes to its end', async () => {
  const figures = await runDisturbedTrial(nursery, {
    locate: databases.locate,
    customers: 1_500,
    rate,
    disturbance: 'terminate',
    times: 8,
    random: makeSeededRandom(7),
    tell: () => undefined,
  });
  printFigure(
    `${figures.disturbances} ended connections in a night: ${figures.exits.length} exits, ${figures.repeated} repeated`,
  );
  expect(figures).toMatchObject({ lost: 0, twice: 0, repeated: 0, exits: [], ledger: { wrong: [] } });
  expect(figures.disturbances).toBeGreaterThan(3);
});

it('a night continues after the server was stopped at once for 10 s', async () => {
  const server = await startPostgres();
  const admin = await openDatabase({ url: server.url }, 'tests');
  // What the server has confirmed is to survive its crash.
  await admin.execute('alter role nightscreen set synchronous_commit = on');
  await migrate(admin);
  await admin.close();
  const customers = 1_500;
  const site = await makeSite(nursery, async () => ({ url: server.url }), { customers, rate });
  try {
    const life = await nursery.begin(site.toOrder());
    while (site.calls().length < customers / 3) await delay(5);
    const start = await server.crash();
    await delay(10_000);
    await start();
    expectComplete(await life.death);
    const names = site.calls().map(({ searchName }) => searchName);
    // Two control searches at the beginning and two at the end.
    expect(names).toHaveLength(customers + 4);
  } finally {
    await site.close();
    await server.stop();
  }
});
