import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '../../src/store/database/database.js';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { openSharedRate } from '../../src/store/night/account-pace.js';
import { claimChunk, leaveChunk, readChunkProgress, readWorkers } from '../../src/store/night/chunks.js';
import { type Life, type LifeOrder, Nursery } from '../campaign/site.js';
import { countBusiestSecond } from '../helpers/figures.js';
import { type PaceService, startPaceService } from '../helpers/pace-processes.js';
import { writeRoster } from '../helpers/small-world.js';
import { apiKey, fullRate } from './bare.js';
import { type Bench, type BenchOrder, type Ground, median } from './bench.js';

const workers = 4;
const latencyMs = 50;
const refusedShare = 0.05;
const concurrency = 32;

/** One of the figures: its value is at least `must`, or at most where it is a bound from above. */
interface Figure {
  figure: string;
  value: number;
  must: number;
  isMost?: boolean;
}

/** What all measurements need. */
interface Yard extends Pick<BenchOrder, 'emit' | 'isQuick'> {
  ground: Ground;
  nursery: Nursery;
}

/** A run, and how it is searched. */
interface RunOrder {
  customers: number;
  rate: LifeOrder['rate'];
  service: PaceService;
  organisation?: string;
}

/** Worker processes, and the processes of one or more runs, on a database of their own. */
class Fleet {
  readonly database: Database;
  readonly workers: readonly Life[];
  readonly coordinators: readonly Life[];
  readonly #rosters: readonly string[];

  private constructor(database: Database, orders: readonly LifeOrder[], lives: readonly Life[], count: number) {
    this.database = database;
    this.#rosters = orders.map(({ roster }) => roster);
    this.workers = lives.slice(0, count);
    this.coordinators = lives.slice(count);
  }

  /** Begins the runs at the same moment, a second after so many workers; each worker serves all runs. */
  static async begin({ ground, nursery }: Yard, runs: readonly RunOrder[], count = workers): Promise<Fleet> {
    const location = { url: ground.toUrl(await ground.createDatabase()) };
    const database = await openDatabase(location, 'bench');
    await migrate(database);
    const orders: LifeOrder[] = [];
    for (const { customers, rate, service, organisation = 'default' } of runs) {
      const roster = await writeRoster(Array.from({ length: customers }, (_, number) => `Customer ${number}`));
      const about = { location, organisation, roster, reports: dirname(roster), rate, offsetMs: 0, isFleet: true };
      orders.push({ ...about, task: 'work', service: { url: service.url, apiKey }, tellsSent: orders.length === 0 });
    }
    const [first, ...others] = orders;
    if (first === undefined) throw new Error('no run');
    const working = await nursery.beginAll(Array.from({ length: count }, () => first));
    for (const life of working) for (const order of others) life.process.send(order);
    await delay(1_000);
    const screens = orders.map((order): LifeOrder => ({ ...order, task: 'screen', tellsSent: true }));
    return new Fleet(database, orders, [...working, ...(await nursery.beginAll(screens))], count);
  }

  /** When each search to a service left a process, in milliseconds of the machine's monotonic clock, in order. */
  sentTo({ url }: PaceService): number[] {
    const calls = [...this.workers, ...this.coordinators].flatMap(({ sent }) => sent);
    return calls.flatMap(({ origin, atMs }) => (origin === url ? [atMs] : [])).toSorted((one, other) => one - other);
  }

  /** Waits for the first search of each run's customers; the two before are control searches. */
  async awaitSearches(...services: readonly PaceService[]): Promise<void> {
    const endMs = performance.now() + 60_000;
    while (services.some((service) => this.sentTo(service).length < 4)) {
      if (performance.now() > endMs) throw new Error('a run has made no search for a minute');
      await delay(20);
    }
  }

  async end(): Promise<void> {
    const lives = [...this.workers, ...this.coordinators];
    for (const { process } of lives) process.kill('SIGKILL');
    await Promise.all(lives.map(({ death }) => death));
    await this.database.close();
    for (const roster of this.#rosters) await rm(dirname(roster), { recursive: true, force: true });
  }
}

/** Lends services that answer after `answerMs`, each in a process of its own. */
async function withServices<T>(
  count: number,
  order: Parameters<PaceService['order']>[0],
  work: (services: readonly PaceService[]) => Promise<T>,
): Promise<T> {
  const services = await Promise.all(Array.from({ length: count }, startPaceService));
  for (const service of services) service.order(order);
  try {
    return await work(services);
  } finally {
    for (const service of services) service.close();
  }
}

/** How long processes are warmed up, and then measured, in seconds. */
interface Span {
  warmUp: number;
  measured: number;
}

/** The code of a process that has just begun is not compiled yet. */
const toSpan = (isQuick: boolean): Span => (isQuick ? { warmUp: 2, measured: 2 } : { warmUp: 10, measured: 20 });

/** The searches a second that were sent after the warm-up. */
function computePace(sentMs: readonly number[], { warmUp, measured }: Span): number {
  const fromMs = (sentMs[0] ?? 0) + warmUp * 1_000;
  const endMs = fromMs + measured * 1_000;
  return sentMs.filter((atMs) => atMs >= fromMs && atMs < endMs).length / measured;
}

const ticksPerSecond = 100;

/** The seconds of CPU time that the server's sessions of a database have used. */
async function readServerCpu(database: Database): Promise<number> {
  const sessions = await database.query(
    z.object({ pid: z.number() }),
    'select pid from pg_stat_activity where datname = current_database()',
  );
  const times = sessions.map(async ({ pid }) => {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name in brackets may hold spaces; the fields after it count from 3.
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return user + system;
  });
  return (await Promise.all(times)).reduce((sum, ticks) => sum + ticks, 0) / ticksPerSecond;
}

const writtenRow = z.object({ orders: z.number(), claims: z.number(), walBytes: z.number() });

/** What was written so far. A process reports its statistics once a second at most. */
const readWritten = async (database: Database) => {
  const [row] = await database.query(
    writtenRow,
    `select coalesce(max(n_tup_upd) filter (where relname = 'account_pace'), 0)::integer as orders,
       coalesce(max(n_tup_upd) filter (where relname = 'chunk'), 0)::integer as claims,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal_bytes
     from pg_stat_user_tables`,
  );
  return row ?? { orders: 0, claims: 0, walBytes: 0 };
};

/** The share of a rate that a fleet sends, and the windows of a second that hold more. */
async function measureShare(yard: Yard, perSecond: number): Promise<Figure[]> {
  const { emit } = yard;
  const span = toSpan(yard.isQuick);
  return withServices(1, { latencyMs, refusedShare }, async ([service]) => {
    if (service === undefined) return [];
    const rate = { perSecond, concurrency };
    const fleet = await Fleet.begin(yard, [{ customers: perSecond * (span.warmUp + span.measured), rate, service }]);
    try {
      await fleet.awaitSearches(service);
      await delay(span.warmUp * 1_000);
      const [cpu, written] = [await readServerCpu(fleet.database), await readWritten(fleet.database)];
      await delay(span.measured * 1_000);
      const [cpuAfter, writtenAfter] = [await readServerCpu(fleet.database), await readWritten(fleet.database)];
      const all = fleet.sentTo(service);
      const used = computePace(all, span) / perSecond;
      const busiest = countBusiestSecond(all);
      const above = all.filter((atMs, place) => (all[place + perSecond] ?? Number.POSITIVE_INFINITY) - atMs < 1_000);
      const each = (after: number, before: number): number => (after - before) / span.measured;
      emit(
        `${perSecond}/s: ${(used * 100).toFixed(2)} % sent, ${above.length} windows above it, busiest second ${busiest}; Postgres: ${(each(cpuAfter, cpu) * 100).toFixed(1)} % of a core, ${(each(writtenAfter.walBytes, written.walBytes) / 1e3).toFixed(0)} kB of log, ${each(writtenAfter.orders, written.orders).toFixed(1)} orders and ${each(writtenAfter.claims, written.claims).toFixed(1)} writes of chunks a second`,
      );
      return [
        { figure: `share of ${perSecond}/s`, value: used, must: 0.955 },
        { figure: `windows above ${perSecond}/s`, value: above.length, must: 0, isMost: true },
      ];
    } finally {
      await fleet.end();
    }
  });
}

const heldRow = z.object({ number: z.number(), epoch: z.number(), owner: z.string() });

/** Seconds from the end of a worker until others have taken its chunks, while they have nothing else to do, or all are busy. */
async function measureTakeover(yard: Yard, isBusy: boolean): Promise<Figure[]> {
  return withServices(1, { latencyMs }, async ([service]) => {
    if (service === undefined) return [];
    const perSecond = 200;
    // A chunk has 250 searches. Each worker searches two chunks at once.
    const customers = isBusy ? 25 * perSecond : workers * 250;
    const fleet = await Fleet.begin(yard, [{ customers, rate: { perSecond, concurrency }, service }]);
    try {
      await fleet.awaitSearches(service);
      await delay(isBusy ? 3_000 : 500);
      const held = await fleet.database.query(
        heldRow,
        `select chunk.number, chunk.epoch, lease.owner from chunk join lease using (lease_key) where chunk.state = 'open' order by number desc`,
      );
      const owner = held[0]?.owner;
      const victim = fleet.workers.find(({ process }) => owner === `life-${process.pid}`);
      const left = held.filter((chunk) => chunk.owner === owner);
      if (victim === undefined) throw new Error('no worker holds a chunk');
      victim.process.kill('SIGKILL');
      const killedMs = performance.now();
      for (let taken = 0; taken < left.length; ) {
        if (performance.now() - killedMs > 40_000) throw new Error('nobody has taken the chunks');
        await delay(20);
        const now = await fleet.database.query(
          z.object({ number: z.number(), epoch: z.number() }),
          'select number, epoch from chunk',
        );
        taken = left.filter(({ number, epoch }) =>
          now.some((one) => one.number === number && one.epoch > epoch),
        ).length;
      }
      const seconds = (performance.now() - killedMs) / 1_000;
      const figure = `seconds until a dead worker's chunks are taken over, others ${isBusy ? 'busy' : 'free'}`;
      yard.emit(`${figure}: ${seconds.toFixed(1)} (${left.length} chunks)`);
      return [{ figure, value: seconds, must: isBusy ? 16 : 10, isMost: true }];
    } finally {
      await fleet.end();
    }
  });
}

/** Searches a second of so many workers with eight calls each, without a limit, at 100 ms. */
async function measureThroughput(yard: Yard, count: number): Promise<number> {
  const span = toSpan(yard.isQuick);
  return withServices(1, { latencyMs: 100 }, async ([service]) => {
    if (service === undefined) return Number.NaN;
    const rate = { perSecond: fullRate, concurrency: 8 };
    const customers = 100 * count * (span.warmUp + span.measured + 2);
    const fleet = await Fleet.begin(yard, [{ customers, rate, service }], count);
    try {
      await fleet.awaitSearches(service);
      await delay((span.warmUp + span.measured) * 1_000);
      return computePace(fleet.sentTo(service), span);
    } finally {
      await fleet.end();
    }
  });
}

async function compareThroughputs(yard: Yard): Promise<Figure[]> {
  const [one, all] = [await measureThroughput(yard, 1), await measureThroughput(yard, workers)];
  yard.emit(`without limit: ${one.toFixed(1)}/s by one worker, ${all.toFixed(1)}/s by ${workers}`);
  return [{ figure: `throughput of ${workers} workers over one`, value: all / one, must: 3.5 }];
}

/** The permits of an order where four workers share 1,000 a second: as many as callers wait for, of a block of 50. */
const ordered = 20;

/** The share of a core that the server needs to hand out 1,000 searches a second: claims of chunks and orders of permits, nothing else. */
async function measureHandOut({ ground, emit, isQuick }: Yard): Promise<Figure[]> {
  const seconds = isQuick ? 1 : 15;
  const location = { url: ground.toUrl(await ground.createDatabase()) };
  const maker = await openDatabase(location, 'bench');
  await migrate(maker);
  // 10,000 chunks: a night of 5,000,000.
  await maker.runScript(`
    insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
    insert into account (organisation_id, public_key, is_test, base_url, created_at) values (1, 'public_x', true, '', now());
    insert into lease (lease_key, owner, epoch, acquired_at, heartbeat_at, expires_at) values ('worker/default/1', 'o', 1, now(), now(), now() + interval '1 hour');
    insert into run (organisation_id, account_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
      values (1, 1, 'test', 'rescreen', 'running', 'started', 'k', 1, 'o', 's', 'v', now());
    insert into chunk (run_id, number, wave, party_ids, searches, version)
      select 1, number, 0, array(select generate_series(1, 500)), 500, 'v' from generate_series(1, 10000) number;
    analyze;
  `);
  await maker.close();
  const database = await openDatabase(location, 'bench');
  try {
    const lease = { key: 'worker/default/1', epoch: 1, owner: 'o' };
    const about = { accountId: 1, version: 'v', settingsDigest: 's' };
    const scope = { ...about, joined: new Map([[1, { worker: 1 }]]), takenAt: new Date() };
    const rate = openSharedRate(database, 1);
    const repeat = async (eachMs: number, work: () => Promise<unknown>): Promise<void> => {
      const begunMs = performance.now();
      for (let turn = 1; turn * eachMs < seconds * 1_000; turn += 1) {
        await work();
        await delay(begunMs + turn * eachMs - performance.now());
      }
    };
    const measure = async (work: () => Promise<unknown>): Promise<number> => {
      const before = await readServerCpu(database);
      await work();
      return (await readServerCpu(database)) - before;
    };
    const handOut = () =>
      database.transaction(async (transaction) => {
        const claim = await claimChunk(transaction, lease, scope);
        if (claim !== null) await leaveChunk(transaction, claim, 'done');
      });
    const orderPermits = () => rate.order(ordered, { spacingMs: 1.029, aheadMs: 1 });
    const watch = async () => {
      await readChunkProgress(database, 1, 1);
      await readWorkers(database, 'default');
    };
    await handOut();
    await orderPermits();
    const handing = await measure(() => Promise.all([repeat(500, handOut), repeat(ordered, orderPermits)]));
    const watching = await measure(() => repeat(250, watch));
    const toShare = (cpu: number): number => cpu / seconds;
    emit(
      `hand-out at 1,000/s: ${(toShare(handing) * 100).toFixed(1)} % of a core of Postgres; the look of a run at 10,000 chunks every 250 ms: ${(toShare(watching) * 100).toFixed(1)} %`,
    );
    return [
      {
        figure: 'share of a core of Postgres for the hand-out at 1,000/s',
        value: toShare(handing),
        must: 0.05,
        isMost: true,
      },
    ];
  } finally {
    await database.close();
  }
}

/** What two runs at once, of accounts with 50 and with 500 a second, each send of their rate. */
async function measureAccounts(yard: Yard): Promise<Figure[]> {
  const span = toSpan(yard.isQuick);
  const rates = [50, 500];
  return withServices(rates.length, { latencyMs }, async (services) => {
    const runs = services.map((service, place): RunOrder => {
      const perSecond = rates[place] ?? 1;
      const customers = perSecond * (span.warmUp + span.measured + 1);
      return { customers, rate: { perSecond, concurrency }, service, organisation: `bank-${perSecond}` };
    });
    const fleet = await Fleet.begin(yard, runs);
    try {
      await fleet.awaitSearches(...services);
      await delay((span.warmUp + span.measured) * 1_000);
      const figures: Figure[] = runs.map(({ rate: { perSecond }, service }) => {
        const used = computePace(fleet.sentTo(service), span) / perSecond;
        return { figure: `two accounts at once: share of ${perSecond}/s`, value: used, must: 0.95 };
      });
      for (const { figure, value } of figures) yard.emit(`${figure}: ${(value * 100).toFixed(2)} %`);
      return figures;
    } finally {
      await fleet.end();
    }
  });
}

/** What a run without a fleet writes into the tables of a fleet: the rate of its account, and nothing else. */
async function measureIdle({ ground, emit, isQuick }: Yard): Promise<Figure[]> {
  const site = await ground.openSite('postgres', isQuick ? 200 : 5_000);
  await site.rescreen();
  const [touched] = await ground.query<{ pace: string; others: string }>(
    `select sum(n_tup_ins + n_tup_upd + n_tup_del) filter (where relname = 'account_pace') as pace,
       sum(n_tup_ins + n_tup_upd + n_tup_del) filter (where relname = 'chunk')
         + (select count(*) from lease where lease_key like 'worker/%') as others
     from pg_stat_user_tables`,
    site.database ?? '',
  );
  await ground.closeSite(site);
  emit(`without a fleet: ${touched?.pace} writes of the account's rate, ${touched?.others} of chunks and workers`);
  return [{ figure: 'writes of a fleet without one', value: Number(touched?.others), must: 0, isMost: true }];
}

const describe = ({ figure, value, must, isMost }: Figure): string =>
  `${figure}: ${value.toFixed(3)} (${isMost ? 'at most' : 'at least'} ${must})`;

/** Four worker processes and the process of a run against a service of 50 ms: the rate, takeovers, throughput, and what they cost Postgres. */
export const benchFleet: Bench = async ({ ground, emit, rounds, isQuick }) => {
  const nursery = new Nursery();
  const yard = { ground, nursery, emit, isQuick };
  const found = new Map<string, Figure[]>();
  try {
    for (let round = 0; round < rounds; round += 1) {
      const figures: Figure[] = [];
      for (const perSecond of isQuick ? [200] : [50, 200, 1_000])
        figures.push(...(await measureShare(yard, perSecond)));
      for (const isBusy of isQuick ? [] : [false, true]) figures.push(...(await measureTakeover(yard, isBusy)));
      const measures = isQuick
        ? [measureHandOut, measureIdle]
        : [compareThroughputs, measureHandOut, measureAccounts, measureIdle];
      for (const measure of measures) figures.push(...(await measure(yard)));
      for (const each of figures) found.set(each.figure, [...(found.get(each.figure) ?? []), each]);
    }
  } finally {
    await nursery.close();
  }
  const samples = [...found.values()].flatMap((measured) => {
    const [first] = measured;
    const values = measured.map(({ value }) => value);
    return first === undefined ? [] : [{ ...first, value: first.must === 0 ? Math.max(...values) : median(values) }];
  });
  const toRatio = ({ value, must, isMost }: Figure): number => {
    if (must === 0) return value === 0 ? 1 : 0;
    return isMost ? must / Math.max(value, must / 1_000) : value / must;
  };
  for (const sample of samples) emit(describe(sample));
  const ratio = Math.min(...samples.map(toRatio));
  return { bench: 'fleet', ratio, goal: 1, ok: ratio >= 1, samples };
};
