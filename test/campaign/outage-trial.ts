import { setTimeout as delay } from 'node:timers/promises';
import type { Weather } from '../../src/sandbox/trouble.js';
import { countLedger, type LedgerFigures } from './count-ledger.js';
import { compareStates, dumpState } from './dump-state.js';
import { countCustomerCalls, expectComplete, finish, type Locate, makeSite } from './site.js';
import type { Life, Nursery } from './start-life.js';

/** What came of a night with several outages, and kills between and within them. */
export interface OutageFigures {
  outages: number;
  kills: number;
  /** Searches beyond one for each customer, the refused ones and those cut off included. */
  surplus: number;
  ledger: LedgerFigures;
  differences: readonly string[];
}

const outages: readonly NonNullable<Weather['outage']>[] = [
  { status: 503 },
  { status: 'cut' },
  { status: 502 },
  { status: 'hang' },
];

/** Plays a night with one outage after the other: the process is killed in the middle of every second one, and started again in it. */
export async function runOutageTrial(nursery: Nursery, locate: Locate, customers: number): Promise<OutageFigures> {
  const size = { customers, rate: { perSecond: 400, concurrency: 8 } };
  const calm = await makeSite(nursery, locate, size);
  const site = await makeSite(nursery, locate, size);
  let kills = 0;
  try {
    await finish(nursery.begin(calm.toOrder()));
    // Waiting for the service is most of an outage: it passes twenty times as fast.
    const order = site.toOrder({ haste: 20 });
    let life: Life = await nursery.begin(order);
    for (const [index, outage] of outages.entries()) {
      const wanted = site.calls().length + Math.floor(customers / (outages.length + 1));
      while (site.calls().length < wanted && life.process.exitCode === null) await delay(2);
      site.sandbox.setWeather({ outage });
      await delay(300);
      if (index % 2 === 1) {
        life.process.kill('SIGKILL');
        await life.death;
        kills += 1;
        life = await nursery.begin(order);
        await delay(500);
      }
      site.sandbox.setWeather({});
    }
    expectComplete(await life.death);
    const expected = await calm.withDatabase(dumpState);
    return await site.withDatabase(async (database) => ({
      outages: outages.length,
      kills,
      surplus: countCustomerCalls(site) - customers,
      ledger: await countLedger(database, site.since, site.calls()),
      differences: compareStates(expected, await dumpState(database)),
    }));
  } finally {
    await calm.close();
    await site.close();
  }
}
