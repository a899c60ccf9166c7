import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { collect, startCli } from '../helpers/cli-process.js';
import { countLedger, type LedgerFigures } from './count-ledger.js';
import { campaignCanaries, toCrowdName } from './crowd.js';
import { compareStates, dumpState } from './dump-state.js';
import { countCustomerCalls, finish, type Locate, makeSite, type Site } from './site.js';
import type { Nursery } from './start-life.js';

/** What came of SIGTERM at random times. */
export interface StopFigures {
  stops: number;
  /** From the signal to the end of the process, at most. */
  slowestMs: number;
  /** Exit codes other than 4. */
  otherExits: readonly (number | null)[];
  /** Searches that reached the service more than a fifth of a second after the signal. */
  lateCalls: number;
  /** Searches made again, and attempts whose outcome stayed unknown. */
  repeated: number;
  ledger: LedgerFigures;
  differences: readonly string[];
}

// What a signal needs to be delivered, and what was handed to the socket before.
const deliveryMs = 200;
/** The latest that a signal comes: so many searches after the start, and then so long. */
const mostSearches = 30;
const mostDelayMs = 1_500;

/** Ends the command by SIGTERM at random times while some answers take up to seven seconds, and starts it again. */
export async function runStopTrial(
  nursery: Nursery,
  locate: Locate,
  { stops, random }: { stops: number; random: () => number },
): Promise<StopFigures> {
  const perSecond = 60;
  // More than can be asked about before the last signal, however late the random times make it.
  const customers = stops * Math.ceil(mostSearches + 2 + (mostDelayMs / 1_000) * perSecond);
  const size = { customers, rate: { perSecond, concurrency: 8 } };
  const calm = await makeSite(nursery, locate, size);
  const site = await makeSite(nursery, locate, size);
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-stops-'));
  try {
    await finish(nursery.begin({ ...calm.toOrder(), rate: { perSecond: 2_000, concurrency: 8 } }));
    await writeFile(join(folder, 'nightscreen.config.yaml'), JSON.stringify(toConfig(site)));
    const slow = Array.from({ length: size.customers / 10 }, (_, index) => index * 10 + 7);
    site.sandbox.setFaults(
      slow.map((number) => ({ name: toCrowdName(number), delayMs: 1_000 + Math.floor(random() * 6_000) })),
    );
    const seen: Pick<StopFigures, 'slowestMs' | 'lateCalls'> & { otherExits: (number | null)[] } = {
      slowestMs: 0,
      lateCalls: 0,
      otherExits: [],
    };
    for (let stop = 0; stop < stops; stop += 1) {
      const { exitCode, tookMs, lateCalls } = await stopOnce(
        site,
        folder,
        Math.ceil(random() * mostSearches),
        random() * mostDelayMs,
      );
      seen.slowestMs = Math.max(seen.slowestMs, tookMs);
      seen.lateCalls += lateCalls;
      if (exitCode !== 4) seen.otherExits.push(exitCode);
    }
    const last = startCommand(site, folder);
    const [exitCode]: (number | null)[] = await once(last, 'close');
    if (exitCode !== 0) seen.otherExits.push(exitCode ?? null);
    const expected = await calm.withDatabase(dumpState);
    return await site.withDatabase(async (database) => ({
      stops,
      ...seen,
      repeated: countCustomerCalls(site) - size.customers,
      ledger: await countLedger(database, site.since, site.calls()),
      differences: compareStates(expected, await dumpState(database)),
    }));
  } finally {
    await rm(folder, { recursive: true, force: true });
    await calm.close();
    await site.close();
  }
}

const toConfig = (site: Site): object => {
  const { roster, rate, reports } = site.toOrder();
  return {
    service: { baseUrl: site.sandbox.url, rate },
    canaries: campaignCanaries,
    reports: { dir: reports },
    rosters: [{ name: 'crowd', csv: { path: roster } }],
    ...(site.location.folder === undefined ? {} : { database: { folder: site.location.folder } }),
  };
};

function startCommand(site: Site, folder: string): ReturnType<typeof startCli> {
  const child = startCli(['rescreen', '--json'], {
    folder,
    environment: {
      NIGHTSCREEN_API_KEY: site.sandbox.privateKey,
      ...(site.location.url === undefined ? {} : { DATABASE_URL: site.location.url }),
    },
  });
  child.stdout?.resume();
  collect(child.stderr);
  return child;
}

async function stopOnce(
  site: Site,
  folder: string,
  searches: number,
  delayMs: number,
): Promise<{ exitCode: number | null; tookMs: number; lateCalls: number }> {
  const before = site.calls().length;
  const child = startCommand(site, folder);
  const closed = once(child, 'close');
  while (site.calls().length < before + 2 + searches && child.exitCode === null) await delay(5);
  await delay(delayMs);
  const sentMs = performance.now();
  child.kill('SIGTERM');
  const [exitCode]: (number | null)[] = await closed;
  const lateCalls = site.calls().filter(({ atMs }) => atMs > sentMs + deliveryMs).length;
  return { exitCode: exitCode ?? null, tookMs: performance.now() - sentMs, lateCalls };
}
