import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseLocation } from '../../src/store/database/open-database.js';
import { decide, findAlerts } from '../helpers/small-site.js';
import { letLeaseRunOut } from './crash-trials.js';
import { compareReports, compareStates, dumpApplied } from './end-state.js';
import {
  expectComplete,
  type LifeOrder,
  type Locate,
  makeSite,
  type Nursery,
  type Site,
  toEvidence,
  useDatabase,
} from './site.js';

/** A trial at each statement of the transactions that apply the answers of a night. */
interface StatementTrialOptions {
  locate: Locate;
  /** Gives a copy of a database that no process has open. */
  copy(original: DatabaseLocation): Promise<DatabaseLocation>;
  customers: number;
  /** Every statement is 1, every third one is 3. */
  step: number;
  emit: (line: string) => void;
}

/** What it came to: statements of the transaction, processes killed, and what differs from the undisturbed night. */
interface StatementFigures {
  statements: number;
  kills: number;
  differences: readonly string[];
}

const rate = { perSecond: 5_000, concurrency: 16 };

/** A copy of a database, and what a process that works on it wrote. */
interface Copy {
  location: DatabaseLocation;
  reports: string;
}

/**
 * Plays a second night once for each statement of the transaction that closes the run, and once for each of the one that takes over a run whose
 * answers are not applied. The process is killed before the statement, the next one finishes the night, and the end state is compared.
 */
export async function runStatementTrials(nursery: Nursery, options: StatementTrialOptions) {
  const site = await makeSite(nursery, options.locate, { customers: options.customers, rate });
  const night = new StatementNight(nursery, site, options);
  try {
    await site.playFirstNight();
    await decideSome(site);
    const calm = await night.playCalm(site.location);
    const closing = await night.killAtEach('in_closing', site.location, calm);
    const left = await night.leaveUnapplied(site.location);
    const takeover = await night.killAtEach('in_takeover', left, calm);
    return { closing, takeover };
  } finally {
    await night.close();
    await site.close();
  }
}

/** Of those that the first night found, the second night re-opens some decisions, keeps some, and no longer lists others. */
async function decideSome(site: Site): Promise<void> {
  const now = new Date(Date.now() - 6 * 60 * 60 * 1_000);
  await site.withDatabase(async (database) => {
    for (const [place, number] of [24, 36, 48, 60].entries()) {
      const alerts = await findAlerts(database, `C-${number + 1}`);
      await decide(database, alerts, { now, verdict: place % 2 === 0 ? 'false_positive' : 'true_match' });
    }
  });
}

class StatementNight {
  readonly #nursery: Nursery;
  readonly #site: Site;
  readonly #options: StatementTrialOptions;
  readonly #folders: string[] = [];

  constructor(nursery: Nursery, site: Site, options: StatementTrialOptions) {
    this.#nursery = nursery;
    this.#site = site;
    this.#options = options;
  }

  async close(): Promise<void> {
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }

  /** The undisturbed night, with its end state. */
  async playCalm(start: DatabaseLocation) {
    const calm = await this.#copy(start);
    expectComplete(await this.#live(calm));
    return { reports: calm.reports, state: await useDatabase(calm.location, dumpApplied) };
  }

  /** A night that was killed when all its answers were stored and none was applied. */
  async leaveUnapplied(start: DatabaseLocation): Promise<DatabaseLocation> {
    const copy = await this.#copy(start);
    await this.#live(copy, { point: 'in_closing', occurrence: 1, delayMs: 0 });
    if (copy.location.url !== undefined) await letLeaseRunOut(copy);
    return copy.location;
  }

  async killAtEach(
    point: 'in_closing' | 'in_takeover',
    start: DatabaseLocation,
    calm: Awaited<ReturnType<StatementNight['playCalm']>>,
  ): Promise<StatementFigures> {
    const { step, emit } = this.#options;
    const differences: string[] = [];
    let kills = 0;
    for (let occurrence = 1; ; occurrence += step) {
      const copy = await this.#copy(start);
      const death = await this.#live(copy, { point, occurrence, delayMs: 0 });
      // The transaction has fewer statements, so that the night came to its end.
      const isOver = death.signal !== 'SIGKILL';
      if (isOver) {
        expectComplete(death);
      } else {
        kills += 1;
        if (copy.location.url !== undefined) await letLeaseRunOut(copy);
        expectComplete(await this.#live(copy));
      }
      const found = [
        ...compareStates(calm.state, await useDatabase(copy.location, dumpApplied)),
        ...(await compareReports(calm.reports, copy.reports)),
      ];
      differences.push(...found.map((line) => `${point} ${occurrence}: ${line}`));
      emit(`${point} ${occurrence}: ${found.length} differences`);
      if (isOver) return { statements: occurrence - 1, kills, differences };
    }
  }

  async #copy(start: DatabaseLocation): Promise<Copy> {
    const reports = await mkdtemp(join(tmpdir(), 'nightscreen-statements-'));
    this.#folders.push(reports, toEvidence(reports));
    await cp(toEvidence(this.#site.reports), toEvidence(reports), { recursive: true });
    return { location: await this.#options.copy(start), reports };
  }

  async #live({ location, reports }: Copy, death?: LifeOrder['death']) {
    const life = await this.#nursery.begin(this.#site.toOrder({ location, reports, ...(death ? { death } : {}) }));
    return life.death;
  }
}
