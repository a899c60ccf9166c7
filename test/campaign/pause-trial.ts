import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { countLedger, type LedgerFigures } from './count-ledger.js';
import { compareStates, dumpState } from './dump-state.js';
import { countCustomerCalls, expectComplete, finish, type Locate, makeSite, type Site } from './site.js';
import type { Nursery } from './start-life.js';

/** What came of an owner that was stopped past its lease and woke up again. */
export interface PauseFigures {
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
    const { told, signal } = await sleeper.death;
    expectComplete(await next.death);
    const expected = await calm.withDatabase(dumpState);
    return await site.withDatabase(async (database) => ({
      takeoverMs,
      sleeperSaid: told?.kind === 'failed' ? `${told.error}: ${told.message}` : (signal ?? 'nothing'),
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
    `select count(*)::integer as late from commit_batch batch
     where exists (select from commit_batch newer where newer.batch_id < batch.batch_id and newer.epoch > batch.epoch)`,
  );
  return row?.late ?? Number.NaN;
}
