import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '../../src/store/database/database.js';
import { countLedger, type LedgerFigures } from './count-ledger.js';
import { isControl, type Locate, makeSite, type Site, type SiteSize } from './site.js';
import type { Death, Life, Nursery } from './start-life.js';

/** What disturbs a night: the process is killed and started again, or one of its connections to the server is ended. */
export interface DisturbedOptions extends SiteSize {
  locate: Locate;
  disturbance: 'kill' | 'terminate';
  times: number;
  /** Gives 0 up to 1. */
  random: () => number;
  tell: (line: string) => void;
}

/** What it came to. */
export interface DisturbedFigures {
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
  site.sandbox.setWeather({ path: '/aml/search', refuse: { share: 0.03, status: 503 } });
  try {
    const night = new DisturbedNight(nursery, site, options);
    await night.play();
    return await site.withDatabase((database) => judge(site, night, database));
  } finally {
    await site.close();
  }
}

const countRow = z.object({ count: z.number() });

async function judge(site: Site, night: DisturbedNight, database: Database): Promise<DisturbedFigures> {
  const count = async (sql: string): Promise<number> => {
    const [row] = await database.query(countRow, `select count(*)::integer as count from ${sql}`);
    return row?.count ?? Number.NaN;
  };
  const answered = countAnswered(site);
  return {
    disturbances: night.disturbances,
    lost: site.customers - (await count(`screening where outcome in ('screened', 'reused')`)),
    twice:
      (await count('(select from screening group by party_id having count(*) > 1) doubled')) +
      (await count('(select from change_event group by run_id, party_id, match_id, kind having count(*) > 1) doubled')),
    repeated: [...answered.values()].reduce((sum, times) => sum + times - 1, 0),
    mostRepeated: Math.max(0, ...night.repeats),
    inFlight: await count(`search_attempt where outcome in ('in_flight', 'unknown', 'aborted')`),
    exits: night.exits,
    ledger: await countLedger(database, new Date(0), site.calls()),
  };
}

function countAnswered(site: Site): ReadonlyMap<string, number> {
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
      if (this.#options.disturbance === 'terminate') {
        if (await this.#terminate()) this.#noteDisturbance(before);
        continue;
      }
      life.process.kill('SIGKILL');
      await life.death;
      this.#noteDisturbance(before);
      life = await this.#begin();
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
    this.#options.tell(
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
  #noteEnd({ told, signal }: Death): boolean {
    if (told?.kind === 'ended' && told.summary?.state === 'complete') return true;
    this.exits.push(told === null ? `ended by ${signal}` : JSON.stringify(told));
    return false;
  }

  async #begin(): Promise<Life> {
    if (this.#site.location.url !== undefined) {
      await this.#site.withDatabase((database) =>
        database.execute('update lease set expires_at = clock_timestamp() where expires_at > clock_timestamp()'),
      );
    }
    return this.#nursery.begin(this.#site.toOrder());
  }
}

const isThere = ({ process: child }: Life): boolean => child.exitCode === null && child.signalCode === null;
