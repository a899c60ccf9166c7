import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Conditions } from '../../src/sandbox/trouble.js';
import { collect, startCli } from '../helpers/cli-process.js';
import { compareStates, countLedger, dumpState, type LedgerFigures } from './end-state.js';
import {
  campaignControls,
  countCustomerCalls,
  expectComplete,
  finish,
  type Life,
  type Locate,
  makeSite,
  type Nursery,
  type Site,
  toMemberName,
} from './site.js';

/** What came of a night with several outages, and kills between and within them. */
interface OutageFigures {
  outages: number;
  kills: number;
  /** Searches beyond one for each customer, the refused ones and those cut off included. */
  surplus: number;
  ledger: LedgerFigures;
  differences: readonly string[];
}

const outages: readonly NonNullable<Conditions['outage']>[] = [
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
      site.sandbox.setConditions({ outage });
      await delay(300);
      if (index % 2 === 1) {
        life.process.kill('SIGKILL');
        await life.death;
        kills += 1;
        life = await nursery.begin(order);
        await delay(500);
      }
      site.sandbox.setConditions({});
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

/** What came of an owner that was stopped past its lease and woke up again. */
interface PauseFigures {
  /** From the stop of the first owner to the next one's taking the run over. */
  takeoverMs: number;
  /** What the first owner ended with. */
  sleeperSaid: string;
  /** Batches that the first owner saved after the next one had begun. */
  lateBatches: number;
  /** Searches that were made more than once. */
  repeated: number;
  ledger: LedgerFigures;
  differences: readonly string[];
}

const size = { customers: 200, rate: { perSecond: 40, concurrency: 8 } };

/** Stops the owner of a run (SIGSTOP), lets another take it over, and wakes the first while the other is at work. */
export async function runPauseTrial(nursery: Nursery, locate: Locate): Promise<PauseFigures> {
  const calm = await makeSite(nursery, locate, { ...size, rate: { perSecond: 2_000, concurrency: 8 } });
  const site = await makeSite(nursery, locate, size);
  try {
    await finish(nursery.begin(calm.toOrder()));
    const sleeper = await nursery.begin(site.toOrder());
    await sleeper.reach('screen');
    await awaitCalls(site, 40);
    sleeper.process.kill('SIGSTOP');
    const stoppedMs = performance.now();
    const next = await nursery.begin(site.toOrder());
    if ((await next.reach('run_started')) === null) expectComplete(await next.death);
    const takeoverMs = performance.now() - stoppedMs;
    await awaitCalls(site, site.calls().length + 40);
    sleeper.process.kill('SIGCONT');
    const { reported, signal } = await sleeper.death;
    expectComplete(await next.death);
    const expected = await calm.withDatabase(dumpState);
    return await site.withDatabase(async (database) => ({
      takeoverMs,
      sleeperSaid: reported?.kind === 'failed' ? `${reported.error}: ${reported.message}` : (signal ?? 'nothing'),
      lateBatches: await countLateBatches(database),
      repeated: countCustomerCalls(site) - site.customers,
      ledger: await countLedger(database, site.since, site.calls()),
      differences: compareStates(expected, await dumpState(database)),
    }));
  } finally {
    await calm.close();
    await site.close();
  }
}

async function awaitCalls(site: Site, wanted: number): Promise<void> {
  while (site.calls().length < wanted) await delay(5);
}

async function countLateBatches(database: Parameters<typeof dumpState>[0]): Promise<number> {
  const [row] = await database.query(
    z.object({ late: z.number() }),
    `select count(*)::integer as late from search_batch batch
     where exists (
       select from search_batch newer
       where newer.run_id = batch.run_id and newer.batch_id >> 32 > batch.batch_id >> 32 and newer.committed_at < batch.committed_at
     )`,
  );
  return row?.late ?? Number.NaN;
}

/** What came of many starts of the same job at once. */
interface StartsFigures {
  starts: number;
  /** How many ran to the end. */
  ran: number;
  /** How many said that another holds the job, and named the one that ran. */
  refused: number;
  /** How long the slowest of them took to say so, from its being told to start. */
  slowestMs: number;
  /** What any other said. */
  others: readonly string[];
  /** Searches beyond one for each customer. */
  surplus: number;
}

/** Starts so many processes of one job at the same moment. */
export async function runStartsTrial(nursery: Nursery, locate: Locate, starts: number): Promise<StartsFigures> {
  // So slow that the one is still running when the last of the others asks.
  const site = await makeSite(nursery, locate, { customers: 120, rate: { perSecond: 12, concurrency: 4 } });
  try {
    const lives = await nursery.beginAll(Array.from({ length: starts }, () => site.toOrder()));
    const ends = await Promise.all(
      lives.map(async ({ process: { pid }, death }) => ({ pid, reported: (await death).reported })),
    );
    const winner = ends.find(({ reported }) => reported?.kind === 'ended');
    const isRefusal = (message: string): boolean => new RegExp(`\\b${winner?.pid}\\b`).test(message);
    let refused = 0;
    let slowestMs = 0;
    const others: string[] = [];
    for (const { reported } of ends) {
      if (reported?.kind === 'ended') continue;
      if (reported?.error === 'RunLockedError' && isRefusal(reported.message)) {
        refused += 1;
        slowestMs = Math.max(slowestMs, reported.afterMs);
      } else others.push(reported === null ? 'died' : `${reported.error}: ${reported.message}`);
    }
    const ran = ends.filter(
      ({ reported }) => reported?.kind === 'ended' && reported.summary?.state === 'complete',
    ).length;
    return { starts, ran, refused, slowestMs, others, surplus: countCustomerCalls(site) - site.customers };
  } finally {
    await site.close();
  }
}

/** What came of SIGTERM at random times. */
interface StopFigures {
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
      slow.map((number) => ({ name: toMemberName(number), delayMs: 1_000 + Math.floor(random() * 6_000) })),
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
    controls: campaignControls,
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
