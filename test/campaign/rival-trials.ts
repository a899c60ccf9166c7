import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Conditions } from '../../src/sandbox/trouble.js';
import { findValue } from '../../src/store/database/database.js';
import { compareStates, countLedger, dumpState, type LedgerFigures } from './end-state.js';
import {
  countCustomerCalls,
  expectComplete,
  finish,
  type Life,
  type Locate,
  makeSite,
  type Nursery,
  type Site,
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
  const late = await findValue(
    database,
    z.number(),
    `select count(*)::integer as late from batch
     where exists (
       select from batch newer
       where newer.run_id = batch.run_id and newer.worker > batch.worker and newer.committed_at < batch.committed_at
     )`,
  );
  return late ?? Number.NaN;
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
