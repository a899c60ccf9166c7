import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { readWorkers } from '../../src/store/night/chunks.js';
import { countBusiestSecond } from '../helpers/figures.js';
import { type CuttingProxy, startCuttingProxy } from '../helpers/proxies.js';
import { countAnswered, isThere, toCounter } from './crash-trials.js';
import { compareStates, countLedger, dumpState, type LedgerFigures } from './end-state.js';
import {
  finish,
  type Life,
  type LifeOrder,
  type Locate,
  makeSite,
  type Nursery,
  type Places,
  type Site,
  type SiteSize,
} from './site.js';
import { pointsOfWorker } from './traps.js';

/** Where a night of workers takes place. */
export interface FleetPlace extends SiteSize {
  nursery: Nursery;
  locate: Locate;
  /** How many workers it begins with. */
  workers: number;
}

/** What a night of workers came to. */
interface FleetFigures {
  lost: number;
  twice: number;
  repeated: number;
  /** Chunks that a second process took. */
  takenOver: number;
  seconds: number;
  /** The longest time without a call, in seconds. */
  gap: number;
  /** The most calls that left in any second. */
  busiest: number;
  /** What processes said that ended without being told to. */
  exits: readonly string[];
  /** What was found besides. */
  found: string;
  ledger: LedgerFigures;
  differences: readonly string[];
}

type CalmState = Awaited<ReturnType<typeof dumpState>>;

/** What a night leaves that one process makes and nothing disturbs. */
export async function dumpCalmNight({ nursery, locate, ...size }: FleetPlace): Promise<CalmState> {
  const site = await makeSite(nursery, locate, size);
  try {
    await finish(nursery.begin(site.toOrder({ rate: { perSecond: 5_000, concurrency: 16 } })));
    return await site.withDatabase(dumpState);
  } finally {
    await site.close();
  }
}

/** Plays a night of workers while `disturb` is at work, and compares it with a calm one. */
async function playFleetNight(
  place: FleetPlace,
  calm: CalmState,
  disturb: (night: FleetNight) => Promise<void>,
): Promise<FleetFigures> {
  const site = await makeSite(place.nursery, place.locate, place);
  const proxy = await startCuttingProxy(site.location.url ?? '');
  const night = new FleetNight(place, site, proxy);
  try {
    // What the server has confirmed is to survive its crash; sessions that are open keep their setting.
    await night.execute('alter role nightscreen set synchronous_commit = on');
    const begunMs = performance.now();
    await night.play(disturb);
    const seconds = (performance.now() - begunMs) / 1_000;
    return await site.withDatabase(async (database) => {
      const count = toCounter(database);
      const changesTwice =
        '(select from change_event group by run_id, party_id, match_id, kind having count(*) > 1) doubled';
      return {
        lost: site.customers - (await count(`screening where outcome = 'screened'`)),
        twice: await count(changesTwice),
        repeated: [...countAnswered(site).values()].reduce((sum, times) => sum + times - 1, 0),
        takenOver: await night.countTakenOver(),
        seconds,
        ...night.measureCalls(),
        exits: night.exits,
        found: night.found,
        ledger: await countLedger(database, new Date(0), site.calls()),
        differences: compareStates(calm, await dumpState(database)),
      };
    });
  } finally {
    await night.close();
    await proxy.close();
    await site.close();
  }
}

const mostExits = 20;

/** A night of workers: what ends of its processes is started anew, until the run is complete. */
class FleetNight {
  readonly site: Site;
  /** Before the database of all processes. */
  readonly proxy: CuttingProxy;
  readonly workers: Life[] = [];
  coordinator: Life | undefined;
  /** What the next workers are told that follow dead ones. */
  readonly next: Partial<LifeOrder>[] = [];
  readonly exits: string[] = [];
  /** What a mishap found besides. */
  found = '';
  isOver = false;
  readonly #place: FleetPlace;
  readonly #all: Life[] = [];
  readonly #told = new WeakSet<Life>();

  constructor(place: FleetPlace, site: Site, proxy: CuttingProxy) {
    this.#place = place;
    this.site = site;
    this.proxy = proxy;
  }

  async play(disturb: (night: FleetNight) => Promise<void>): Promise<void> {
    while (this.workers.length < this.#place.workers) await this.beginWorker();
    this.coordinator = await this.#begin({ task: 'screen' });
    const disturbing = disturb(this).finally(() => {
      this.isOver = true;
    });
    // A disturbance that fails ends the trial in the end.
    disturbing.catch(() => undefined);
    while (!(await this.#reviveCoordinator())) {
      for (const [number, worker] of this.workers.entries()) {
        if (isThere(worker)) continue;
        await this.#noteExit(worker);
        this.workers[number] = await this.#begin({ task: 'work', ...this.next.shift() });
      }
      await delay(50);
    }
    this.isOver = true;
    await disturbing;
  }

  /** Starts one more worker. */
  async beginWorker(order: Partial<LifeOrder> = {}): Promise<Life> {
    const worker = await this.#begin({ task: 'work', ...order });
    this.workers.push(worker);
    return worker;
  }

  /** Ends processes by a signal. */
  end(signal: 'SIGKILL' | 'SIGTERM', ...lives: readonly (Life | undefined)[]): void {
    for (const life of lives) {
      if (life === undefined) continue;
      this.#told.add(life);
      life.process.kill(signal);
    }
  }

  /** Waits until the night has made so large a share of its searches. */
  async awaitShare(share: number): Promise<void> {
    while (!this.isOver && this.site.calls().length < share * this.site.customers) await delay(20);
  }

  /** Waits, but not for longer than the night. */
  readonly pause = async (ms: number): Promise<void> => {
    const endMs = performance.now() + ms;
    while (!this.isOver && performance.now() < endMs) await delay(20);
  };

  /** Counts rows of the night's database. */
  count(from: string): Promise<number> {
    return this.site.withDatabase((database) => toCounter(database)(from));
  }

  /** Counts the chunks that a second process has claimed. */
  countTakenOver(): Promise<number> {
    return this.count('chunk where epoch > 1');
  }

  /** Runs SQL in the night's database. */
  readonly execute = async (sql: string): Promise<void> => {
    await this.site.withDatabase((database) => database.execute(sql));
  };

  measureCalls(): Pick<FleetFigures, 'gap' | 'busiest'> {
    const sentMs = this.#all.flatMap(({ sent }) => sent.map(({ atMs }) => atMs)).toSorted((one, other) => one - other);
    const gapsMs = sentMs.slice(1).map((atMs, place) => atMs - (sentMs[place] ?? atMs));
    return { gap: Math.max(...gapsMs) / 1_000, busiest: countBusiestSecond(sentMs) };
  }

  async close(): Promise<void> {
    this.end('SIGKILL', ...this.#all);
    await Promise.all(this.#all.map(({ death }) => death));
  }

  /** Starts the process of the run anew where it has ended; true when the run is complete. */
  async #reviveCoordinator(): Promise<boolean> {
    const { coordinator } = this;
    if (coordinator === undefined || isThere(coordinator)) return false;
    const { reported } = await coordinator.death;
    if (reported?.kind === 'ended' && reported.summary?.state === 'complete') return true;
    await this.#noteExit(coordinator);
    this.coordinator = await this.#begin({ task: 'screen' });
    return false;
  }

  async #noteExit(life: Life): Promise<void> {
    const { reported, signal } = await life.death;
    if (this.#told.has(life)) return;
    this.exits.push(signal ?? JSON.stringify(reported).slice(0, 500));
    if (this.exits.length > mostExits) throw new Error(`processes end again and again: ${this.exits.at(-1)}`);
  }

  async #begin(order: Partial<LifeOrder>): Promise<Life> {
    const location = { url: this.proxy.url };
    const about = this.site.toOrder({ location, isFleet: true, tellsSent: true, ...order });
    const life = await this.#place.nursery.begin(about);
    this.#all.push(life);
    if (order.death) this.#told.add(life);
    return life;
  }
}

const frozenMs = 12_000;

/** Ends any process or connection of a night of workers at random times, or freezes a worker. */
export async function runFleetTrial(
  place: FleetPlace,
  calm: CalmState,
  { times, random, emit }: { times: number; random: () => number; emit: (line: string) => void },
): Promise<FleetFigures & { kills: Record<'worker' | 'coordinator' | 'connection' | 'freeze', number> }> {
  const kills = { worker: 0, coordinator: 0, connection: 0, freeze: 0 };
  const disturbOnce = async (night: FleetNight): Promise<void> => {
    const dice = random();
    const victim = night.workers[Math.floor(random() * night.workers.length)];
    if (dice < 0.4 && victim) {
      night.end('SIGKILL', victim);
      kills.worker += 1;
    } else if (dice < 0.5 && victim) {
      // Longer than its lease: others take its chunks, and it must write nothing when it wakes.
      victim.process.kill('SIGSTOP');
      setTimeout(() => victim.process.kill('SIGCONT'), frozenMs);
      kills.freeze += 1;
    } else if (dice < 0.65) {
      night.end('SIGKILL', night.coordinator);
      kills.coordinator += 1;
    } else {
      await night.execute(
        `select pg_terminate_backend(pid) from (
           select pid from pg_stat_activity
           where datname = current_database() and application_name like '%life%' order by state = 'idle', random() limit 1
         ) one`,
      );
      kills.connection += 1;
    }
  };
  const figures = await playFleetNight(place, calm, async (night) => {
    for (let count = 1; count <= times; count += 1) {
      await delay(random() * 3_000);
      if (night.isOver) return;
      await disturbOnce(night);
      const { site } = night;
      if (count % 10 === 0)
        emit(`${count} of ${times}: ${countAnswered(site).size} answered, ${site.calls().length} calls`);
    }
  });
  return { kills, ...figures };
}

/** What may happen in a night of workers. */
type Mishap = (night: FleetNight, places: Places) => Promise<void>;

/** What it has to survive, by name. */
export const mishaps: Readonly<Record<string, Mishap>> = {
  'server crash': async ({ proxy, pause }, { crash }) => {
    for (const downMs of [3_000, 200, 200, 200]) {
      const restart = await new Promise<() => Promise<void>>((resolve, reject) => {
        proxy.cutAtCommit('after', () => crash().then(resolve, reject));
      });
      await delay(downMs);
      await restart();
      await pause(1_500);
    }
  },
  failover: async ({ execute }, { crash }) => {
    const restart = await crash();
    // Longer than all leases.
    await delay(10_000);
    await restart();
    await execute('truncate account_pace');
    await delay(100);
    await execute('truncate account_pace');
  },
  'lost permits': async ({ execute, pause }) => {
    for (let times = 0; times < 3; times += 1) {
      await execute('delete from account_pace');
      await pause(1_500);
    }
  },
  'wrong clocks': async (night) => {
    await night.beginWorker({ offsetMs: 10_000 });
    await night.beginWorker({ offsetMs: -10_000 });
    await night.pause(60_000);
    const workers = await night.site.withDatabase((database) => readWorkers(database, 'default'));
    const ahead = workers.map(({ clockAhead }) => clockAhead).toSorted((one, other) => one - other);
    assert.deepEqual(ahead, [-10, 0, 0, 0, 0, 10]);
    assert.equal(await night.countTakenOver(), 0, 'a chunk was taken from a living worker');
  },
  'dead workers': async (night) => night.end('SIGKILL', ...night.workers),
  'dead processes': async (night) => night.end('SIGKILL', night.coordinator, ...night.workers),
  'workers that die amid something': async (night) => {
    night.next.push(...pointsOfWorker.map((point) => ({ death: { point, occurrence: 1, delayMs: 1 } })));
    night.end('SIGKILL', ...night.workers);
    while (!night.isOver && night.next.length > 0) await delay(100);
    assert.equal(night.next.length, 0, 'the night was over before all had died');
  },
  'frozen worker': async (night) => {
    const [victim] = night.workers;
    victim?.process.kill('SIGSTOP');
    const calls = await night.count(
      `call join run_worker using (run_id, worker) where outcome = 'in_flight' and owner = 'life-${victim?.process.pid}'`,
    );
    await night.pause(frozenMs);
    // Others may be busy with chunks of their own for longer.
    while (!night.isOver && (await night.countTakenOver()) === 0) await delay(100);
    victim?.process.kill('SIGCONT');
    night.found = `frozen amid ${calls} calls`;
    assert(calls > 0, night.found);
  },
  'no connections': async (night) => {
    night.proxy.refuseAbove(12);
    const late = [await night.beginWorker(), await night.beginWorker(), await night.beginWorker()];
    await night.pause(8_000);
    const waiting = late.filter(isThere).length;
    const before = late.reduce((sum, { sent }) => sum + sent.length, 0);
    night.proxy.refuseAbove(Number.POSITIVE_INFINITY);
    await night.pause(60_000);
    const alive = await night.site.withDatabase((database) => readWorkers(database, 'default'));
    night.found = `${night.proxy.refusals()} connections refused, ${waiting} more workers waited with ${before} calls, then ${alive.length} workers were alive`;
    assert.deepEqual([waiting, before, alive.length], [3, 0, 7], night.found);
  },
  'cancelled run': async (night) => {
    const { coordinator, workers } = night;
    night.end('SIGTERM', coordinator);
    const death = await coordinator?.death;
    night.end('SIGTERM', ...workers);
    const stopped = death?.reported?.kind === 'ended' ? death.reported.summary : null;
    assert.deepEqual([stopped?.state, stopped?.haltedBy], ['stopped', 'signal']);
  },
};

/** Plays a night in which one thing happens after a quarter of its searches. */
export function runMishap(place: FleetPlace, calm: CalmState, happen: Mishap, places: Places): Promise<FleetFigures> {
  return playFleetNight(place, calm, async (night) => {
    await night.awaitShare(0.25);
    await happen(night, places);
  });
}
