import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Database, findValue } from '../../src/store/database/database.js';
import { compareReports, compareStates, countLedger, dumpState, type LedgerFigures } from './end-state.js';
import {
  type Death,
  expectComplete,
  finish,
  isControl,
  type Life,
  type LifeOrder,
  type Locate,
  makeSite,
  type Nursery,
  type Site,
  type SiteSize,
  useDatabase,
} from './site.js';
import { isInDatabase, type KillPoint, pointsOfReport, pointsOfRun } from './traps.js';

/** How often the server ends one of a night's connections. */
interface DisturbedOptions extends SiteSize {
  locate: Locate;
  times: number;
  /** Gives 0 up to 1. */
  random: () => number;
  emit: (line: string) => void;
}

/** What it came to. */
interface DisturbedFigures {
  disturbances: number;
  /** Customers without an outcome, and outcomes or changes that are stored twice. */
  lost: number;
  twice: number;
  /** Searches that the service answered beyond one for each customer: in all, and after one disturbance. */
  repeated: number;
  mostRepeated: number;
  /** Searches without a stored answer at the moments of the disturbances, by the ledger: what may be made again. */
  inFlight: number;
  /** Ends of a process with an error of its own: a person, or the scheduler, has to start it again. */
  exits: readonly string[];
  ledger: LedgerFigures;
}

/** A night under a service that refuses 3 of 100 calls, disturbed at random moments of its searches. */
export async function runDisturbedTrial(nursery: Nursery, options: DisturbedOptions): Promise<DisturbedFigures> {
  const site = await makeSite(nursery, options.locate, options);
  site.sandbox.setConditions({ path: '/aml/search', refuse: { share: 0.03, status: 503 } });
  try {
    const night = new DisturbedNight(nursery, site, options);
    await night.play();
    return await site.withDatabase((database) => assessDisturbed(site, night, database));
  } finally {
    await site.close();
  }
}

const countRow = z.object({ count: z.number() });
export const toCounter = (database: Database) => async (sql: string) =>
  (await findValue(database, z.number(), `select count(*)::integer as count from ${sql}`)) ?? Number.NaN;

/** On a server nobody can tell a dead owner from a slow one before its lease has run out: time passes in one step. */
export const letLeaseRunOut = ({ location }: Pick<Site, 'location'>): Promise<unknown> =>
  useDatabase(location, (database) =>
    database.execute('update lease set expires_at = clock_timestamp() where expires_at > clock_timestamp()'),
  );

async function assessDisturbed(site: Site, night: DisturbedNight, database: Database): Promise<DisturbedFigures> {
  const count = toCounter(database);
  const answered = countAnswered(site);
  return {
    disturbances: night.disturbances,
    lost: site.customers - (await count(`screening where outcome in ('screened', 'reused')`)),
    twice:
      (await count('(select from screening group by party_id having count(*) > 1) doubled')) +
      (await count('(select from change_event group by run_id, party_id, match_id, kind having count(*) > 1) doubled')),
    repeated: [...answered.values()].reduce((sum, times) => sum + times - 1, 0),
    mostRepeated: Math.max(0, ...night.repeats),
    inFlight: await count(`call where outcome in ('in_flight', 'unknown', 'aborted')`),
    exits: night.exits,
    ledger: await countLedger(database, new Date(0), site.calls()),
  };
}

/** How often the service has answered for each customer. */
export function countAnswered(site: Site): ReadonlyMap<string, number> {
  const answered = new Map<string, number>();
  for (const call of site.calls()) {
    if (isControl(call) || !call.worked) continue;
    const name = call.searchName ?? '';
    answered.set(name, (answered.get(name) ?? 0) + 1);
  }
  return answered;
}

const mostExits = 30;

class DisturbedNight {
  disturbances = 0;
  readonly exits: string[] = [];
  readonly repeats: number[] = [];
  readonly #nursery: Nursery;
  readonly #site: Site;
  readonly #options: DisturbedOptions;

  constructor(nursery: Nursery, site: Site, options: DisturbedOptions) {
    this.#nursery = nursery;
    this.#site = site;
    this.#options = options;
  }

  async play(): Promise<void> {
    let life = await this.#begin();
    while (this.disturbances < this.#options.times && this.exits.length < mostExits) {
      await this.#awaitMoment(life);
      if (!isThere(life)) {
        if (this.#noteEnd(await life.death)) return;
        life = await this.#begin();
        continue;
      }
      const before = this.#countRepeated();
      if (await this.#terminate()) this.#noteDisturbance(before);
    }
    while (!this.#noteEnd(await life.death) && this.exits.length < mostExits) life = await this.#begin();
    this.repeats.push(this.#countRepeated() - this.#repeatedBefore);
  }

  #repeatedBefore = 0;

  #noteDisturbance(before: number): void {
    this.disturbances += 1;
    this.repeats.push(before - this.#repeatedBefore);
    this.#repeatedBefore = before;
    if (this.disturbances % 10 !== 0) return;
    this.#options.emit(
      `${this.disturbances} of ${this.#options.times}: ${this.#site.calls().length} calls, ${before} repeated`,
    );
  }

  #countRepeated(): number {
    return [...countAnswered(this.#site).values()].reduce((sum, times) => sum + times - 1, 0);
  }

  /** Waits for a random number of calls, such that the last disturbance comes before the last search, or, once in six, for a random time. */
  async #awaitMoment(life: Life): Promise<void> {
    const { random, times } = this.#options;
    if (random() < 1 / 6) return void (await delay(random() * 500));
    const calls = this.#site.calls().length;
    const left = this.#site.customers - countAnswered(this.#site).size;
    const wanted = calls + 1 + Math.floor((random() * 1.2 * left) / (times - this.disturbances + 1));
    while (this.#site.calls().length < wanted && isThere(life)) await delay(3);
  }

  /** Ends one of the connections of the night's process; false when it has none at this moment. */
  async #terminate(): Promise<boolean> {
    const ended = await this.#site.withDatabase((database) =>
      database.query(
        countRow,
        `select count(pg_terminate_backend(pid))::integer as count from (
           select pid from pg_stat_activity
           where datname = current_database() and application_name like '%life%' order by state = 'idle', random() limit 1
         ) one`,
      ),
    );
    return ended[0]?.count === 1;
  }

  /** Whether a life came to the end of the run; anything else is an exit. */
  #noteEnd({ reported, signal }: Death): boolean {
    if (reported?.kind === 'ended' && reported.summary?.state === 'complete') return true;
    this.exits.push(reported === null ? `ended by ${signal}` : JSON.stringify(reported));
    return false;
  }

  async #begin(): Promise<Life> {
    await letLeaseRunOut(this.#site);
    return this.#nursery.begin(this.#site.toOrder());
  }
}

export const isThere = ({ process: child }: Life): boolean => child.exitCode === null && child.signalCode === null;

/** What a crash trial is to do. */
interface CrashTrialOptions extends SiteSize {
  locate: Locate;
  /** Kills at random times beside one at each named point. */
  randomKills: number;
  /** All named points, or only those where the database itself is in the middle of something. */
  points: 'all' | 'commits';
  /** Gives 0 up to 1. */
  random: () => number;
  emit: (line: string) => void;
}

/** What it came to. */
interface CrashFigures {
  kills: number;
  /** Customers without an outcome, and outcomes or changes that stand twice. */
  lost: number;
  twice: number;
  /** Searches made again because a crash lost their answers: in all, and in the worst life. */
  repeated: number;
  mostRepeated: number;
  /** What the run says of them: searches that were possibly billed twice. */
  billedTwice: number;
  ledger: LedgerFigures;
  /** What differs from the undisturbed run. */
  differences: readonly string[];
}

/** Kills one night's run again and again until it has come to its end, and compares it with an undisturbed one. */
export async function runCrashTrial(nursery: Nursery, options: CrashTrialOptions): Promise<CrashFigures> {
  const calm = await makeSite(nursery, options.locate, options);
  const killed = await makeSite(nursery, options.locate, options);
  try {
    await calm.playFirstNight();
    await killed.playFirstNight();
    await finish(nursery.begin(calm.toOrder()));
    const lives = new KilledNight(nursery, killed, options);
    await lives.play();
    return await assessCrashed(calm, killed, lives);
  } finally {
    await calm.close();
    await killed.close();
  }
}

async function assessCrashed(calm: Site, killed: Site, { kills, repeats }: KilledNight): Promise<CrashFigures> {
  const expected = await calm.withDatabase(dumpState);
  return killed.withDatabase(async (database) => {
    const state = await dumpState(database);
    const count = toCounter(database);
    return {
      kills,
      lost:
        killed.customers -
        (await count(
          `screening join run using (run_id) where started_at >= '${killed.since.toISOString()}' and outcome = 'screened'`,
        )),
      twice: await count(
        '(select from change_event group by run_id, party_id, match_id, kind having count(*) > 1) doubled',
      ),
      repeated: repeats.reduce((sum, repeated) => sum + repeated, 0),
      mostRepeated: Math.max(0, ...repeats),
      billedTwice: await count(
        `(select generate_series(1, (sums ->> 'possiblyBilledTwice')::integer) from run where started_at >= '${killed.since.toISOString()}') billed`,
      ),
      ledger: await countLedger(database, killed.since, killed.calls()),
      differences: [...compareStates(expected, state), ...(await compareReports(calm.reports, killed.reports))],
    };
  });
}

/** Customers that no kill by count goes beyond, so that the run is not over before the last kill: a quarter of a second's. */
const leftForLater = 100;

/** A night whose process is killed again and again. */
class KilledNight {
  kills = 0;
  /** Searches of each life that an earlier one had made already. */
  readonly repeats: number[] = [];
  readonly #nursery: Nursery;
  readonly #site: Site;
  readonly #options: CrashTrialOptions;
  readonly #called = new Set<string>();
  #toScreenMs = 1_000;

  constructor(nursery: Nursery, site: Site, options: CrashTrialOptions) {
    this.#nursery = nursery;
    this.#site = site;
    this.#options = options;
  }

  async play(): Promise<void> {
    const { randomKills, points } = this.#options;
    const isMeant = (point: KillPoint): boolean => points === 'all' || isInDatabase(point);
    const finishing = pointsOfRun.indexOf('in_finishing');
    for (const point of pointsOfRun.slice(0, finishing).filter(isMeant)) await this.#dieAt(point, 'screen');
    for (let left = randomKills; left > 0; left -= 1) await this.#dieSomewhere(left);
    for (const point of pointsOfRun.slice(finishing).filter(isMeant)) await this.#dieAt(point, 'screen');
    for (const point of pointsOfReport.filter(isMeant)) await this.#dieAt(point, await this.#findTask());
    await this.#live(this.#site.toOrder({ task: await this.#findTask() }));
  }

  /** One life that ends by its own hand at a named point. */
  async #dieAt(point: KillPoint, task: LifeOrder['task']): Promise<void> {
    const { random, emit } = this.#options;
    const isFrequent = /call|answer|^(before|in|after)_commit|intent/.test(point);
    const death = { point, occurrence: isFrequent ? 1 + Math.floor(random() * 2) : 1, delayMs: random() * 4 };
    const end = await this.#live(this.#site.toOrder({ task, death }));
    if (end !== 'SIGKILL') throw new Error(`${point} was never reached`);
    emit(`killed ${point}: ${this.#called.size} searched`);
  }

  /** One life that ends at a random time, or a random number of searches later. */
  async #dieSomewhere(killsLeft: number): Promise<void> {
    const { random, emit } = this.#options;
    const left = this.#site.customers - this.#called.size;
    const fair = Math.min((1.4 * left) / killsLeft, left - leftForLater);
    const before = this.#site.calls().length;
    const isByTime = random() < 0.35 || fair < 1;
    const end = await this.#live(this.#site.toOrder(), async (life) => {
      // Control searches come first.
      const wanted = before + 2 + Math.ceil(isByTime ? Math.max(0, fair) : random() * fair);
      // A machine that becomes quiet meanwhile comes to its searches sooner than those before it.
      const latestMs = isByTime ? performance.now() + random() * this.#toScreenMs : Number.POSITIVE_INFINITY;
      while (this.#site.calls().length < wanted && performance.now() < latestMs && isThere(life)) await delay(2);
      if (!isByTime) await delay(random() * 20);
      life.process.kill('SIGKILL');
    });
    if (end !== 'SIGKILL') throw new Error(`the run was over with ${killsLeft} kills to go`);
    if (this.kills % 20 === 0) emit(`${this.kills} kills: ${this.#called.size} of ${this.#site.customers} searched`);
  }

  /** Plays one life and counts what it asked again; gives the signal that ended it. */
  async #live(order: LifeOrder, meddle?: (life: Life) => Promise<void>): Promise<NodeJS.Signals | null> {
    const before = this.#site.calls().length;
    const life = await this.#nursery.begin(order);
    void life.reach('screen').then((afterMs) => {
      if (afterMs !== null) this.#toScreenMs = (this.#toScreenMs + afterMs) / 2;
    });
    await meddle?.(life);
    const death = await life.death;
    if (death.signal !== 'SIGKILL') expectComplete(death);
    else this.kills += 1;
    const names = this.#site
      .calls()
      .slice(before)
      .filter((call) => !isControl(call))
      .map(({ searchName }) => searchName ?? '');
    this.repeats.push(names.filter((name) => this.#called.has(name)).length);
    for (const name of names) this.#called.add(name);
    if (this.#site.location.url !== undefined) await letLeaseRunOut(this.#site);
    return death.signal;
  }

  /** Once the run is over only its report has to be made. */
  #findTask(): Promise<LifeOrder['task']> {
    return this.#site.withDatabase(async (database) => {
      const state = await findValue(database, z.string(), 'select state from run order by run_id desc limit 1');
      return state === 'complete' ? 'report' : 'screen';
    });
  }
}
