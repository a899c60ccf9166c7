import { setTimeout as delay } from 'node:timers/promises';
import { countAnswered, isThere, toCounter } from './crash-trials.js';
import { compareStates, countLedger, dumpState, type LedgerFigures } from './end-state.js';
import { type Life, type Locate, makeSite, type Nursery, type Site, type SiteSize } from './site.js';

/** What a night of workers is disturbed by. */
interface FleetOptions extends SiteSize {
  locate: Locate;
  workers: number;
  times: number;
  /** Gives 0 up to 1. */
  random: () => number;
  emit: (line: string) => void;
}

/** What became of it. */
interface FleetFigures {
  kills: { worker: number; coordinator: number; connection: number; freeze: number };
  lost: number;
  twice: number;
  repeated: number;
  seconds: number;
  ledger: LedgerFigures;
  differences: readonly string[];
}

/** Plays a night of several workers, of which any process or connection is ended at random times, and compares it with one by one process. */
export async function runFleetTrial(nursery: Nursery, options: FleetOptions): Promise<FleetFigures> {
  const calm = await makeSite(nursery, options.locate, options);
  const site = await makeSite(nursery, options.locate, options);
  try {
    const ended = await (await nursery.begin(calm.toOrder({ rate: { perSecond: 5_000, concurrency: 16 } }))).death;
    if (ended.reported?.kind !== 'ended') throw new Error('the calm night did not end');
    const night = new FleetNight(nursery, site, options);
    const begunMs = performance.now();
    await night.play();
    const seconds = (performance.now() - begunMs) / 1_000;
    const expected = await calm.withDatabase(dumpState);
    return await site.withDatabase(async (database) => {
      const count = toCounter(database);
      const changesTwice =
        '(select from change_event group by run_id, party_id, match_id, kind having count(*) > 1) doubled';
      return {
        kills: night.kills,
        seconds,
        lost: site.customers - (await count(`screening where outcome = 'screened'`)),
        twice: await count(changesTwice),
        repeated: [...countAnswered(site).values()].reduce((sum, times) => sum + times - 1, 0),
        ledger: await countLedger(database, new Date(0), site.calls()),
        differences: compareStates(expected, await dumpState(database)),
      };
    });
  } finally {
    await calm.close();
    await site.close();
  }
}

const frozenMs = 12_000;

class FleetNight {
  readonly kills = { worker: 0, coordinator: 0, connection: 0, freeze: 0 };
  readonly #nursery: Nursery;
  readonly #site: Site;
  readonly #options: FleetOptions;
  #workers: Life[] = [];

  constructor(nursery: Nursery, site: Site, options: FleetOptions) {
    this.#nursery = nursery;
    this.#site = site;
    this.#options = options;
  }

  async play(): Promise<void> {
    for (let worker = 0; worker < this.#options.workers; worker += 1) this.#workers.push(await this.#begin('work'));
    let coordinator = await this.#begin('screen');
    for (;;) {
      if (!isThere(coordinator)) {
        const { reported } = await coordinator.death;
        if (reported?.kind === 'ended' && reported.summary?.state === 'complete') break;
        if (reported !== null) this.#options.emit(`the run ended: ${JSON.stringify(reported).slice(0, 300)}`);
        coordinator = await this.#begin('screen');
      }
      for (const [place, worker] of this.#workers.entries()) {
        if (!isThere(worker)) this.#workers[place] = await this.#begin('work');
      }
      await delay(this.#options.random() * 3_000);
      if (this.#total < this.#options.times) await this.#disturb(coordinator);
    }
    for (const worker of this.#workers) worker.process.kill('SIGKILL');
    await Promise.all(this.#workers.map(({ death }) => death));
  }

  get #total(): number {
    return this.kills.worker + this.kills.coordinator + this.kills.connection + this.kills.freeze;
  }

  async #disturb(coordinator: Life): Promise<void> {
    const { random, emit, times } = this.#options;
    const dice = random();
    const victim = this.#workers[Math.floor(random() * this.#workers.length)];
    if (dice < 0.4 && victim) {
      victim.process.kill('SIGKILL');
      this.kills.worker += 1;
    } else if (dice < 0.5 && victim) {
      // Longer than its lease: others take its chunks, and it must write nothing when it wakes.
      victim.process.kill('SIGSTOP');
      setTimeout(() => victim.process.kill('SIGCONT'), frozenMs);
      this.kills.freeze += 1;
    } else if (dice < 0.65) {
      coordinator.process.kill('SIGKILL');
      this.kills.coordinator += 1;
    } else {
      await this.#site.withDatabase((database) =>
        database.execute(
          `select pg_terminate_backend(pid) from (
             select pid from pg_stat_activity
             where datname = current_database() and application_name like '%life%' order by state = 'idle', random() limit 1
           ) one`,
        ),
      );
      this.kills.connection += 1;
    }
    if (this.#total % 10 === 0) {
      const answered = countAnswered(this.#site).size;
      emit(`${this.#total} of ${times}: ${answered} answered, ${this.#site.calls().length} calls`);
    }
  }

  #begin(task: 'work' | 'screen'): Promise<Life> {
    return this.#nursery.begin(this.#site.toOrder({ task, isFleet: true }));
  }
}
