import { afterEach } from 'vitest';
import { type RosterSettings, toFileRoster } from '../../src/roster/settings.js';
import type { RunSummary } from '../../src/runs/run-summary.js';
import type { ScreeningOptions } from '../../src/runs/screening-request.js';
import { runScreening } from '../../src/runs/screening-run.js';
import type { Workplace } from '../../src/runs/workplace.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import type { Database } from '../../src/store/database/database.js';
import { acceptChanges } from './accept-changes.js';
import { canaries, people, watchlist, writeRoster } from './small-world.js';
import { makeWorkplace, type TestWorkplace, type WorkplaceOptions } from './workplace.js';

/** A sandbox, an empty database and a small roster, with what it takes to run one over the other. */
export interface SmallSite {
  sandbox: Sandbox;
  database: Database;
  roster: RosterSettings;
  work(options?: WorkplaceOptions): Promise<TestWorkplace>;
  /** A rescreening of who is due, unless said otherwise; settings that a test has changed are accepted first. */
  run(workplace: Workplace, options?: Partial<ScreeningOptions>, signal?: AbortSignal): Promise<RunSummary>;
}

/** Gives a way to begin small sites in the tests of a suite; each is closed after its test. Call it where hooks may be registered. */
export function openSmallSites(open: () => Promise<Database>): (names?: readonly string[]) => Promise<SmallSite> {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  return async (names = people) => {
    const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
    const database = await open();
    closing.push(() => sandbox.close());
    const roster = toFileRoster('people', await writeRoster(names));
    return {
      sandbox,
      database,
      roster,
      work: async (options = {}) => {
        const settings = { canaries, rosters: [roster], ...options.settings };
        const workplace = await makeWorkplace(database, sandbox, { ...options, settings });
        closing.push(() => workplace.client().close());
        return workplace;
      },
      run: async (workplace, options = {}, signal = new AbortController().signal) => {
        await acceptChanges(workplace);
        return runScreening(
          workplace,
          { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: false, ...options },
          signal,
        );
      },
    };
  };
}

/** How often the service was asked about a name. */
export const searched = (sandbox: Sandbox, name: string): number =>
  sandbox.ledger().filter((call) => call.searchName === name).length;
