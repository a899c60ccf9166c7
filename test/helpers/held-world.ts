import { expect } from 'vitest';
import { z } from 'zod';
import type { WatchlistEntry } from '../../src/sandbox/world.js';
import { type Database, readValue } from '../../src/store/database/database.js';
import type { TestDatabases } from './databases.js';
import { makeOddNames, shareWorld } from './small-site.js';
import { controls, listed } from './small-world.js';

const dayMs = 24 * 60 * 60 * 1_000;
/** Customers of whom two lists know twenty. */
export const names = makeOddNames(30);
const [control] = controls;
/** C-1 to C-12 are sanctioned, C-13 to C-20 politically exposed. */
export const sanctioned = names.slice(0, 12).map((name, index) => listed(`s${index}`, name));
export const exposed = names.slice(12, 20).map((name, index) => listed(`p${index}`, name, ['role.pep']));
export const worldOf = (entries: readonly WatchlistEntry[]) => ({
  watchlist: [...entries, listed('c', control.name)],
  dossiers: [],
});

const stateRow = z.object({ reference: z.string(), state: z.string(), asOf: z.date().nullable() });
export const readStates = (database: Database) =>
  database.query(stateRow, 'select reference, state, as_of from customer_screening_status order by reference');
export const countEvents = (database: Database): Promise<number> =>
  readValue(database, z.number(), 'select count(*)::integer from customer_state_change');

const world = worldOf([...sanctioned, ...exposed]);

const openUsual = shareWorld(
  async ({ database, work, run }) => {
    expect(await run(await work({ offsetMs: -dayMs }))).toMatchObject({ state: 'complete' });
    return { before: await readStates(database), events: await countEvents(database) };
  },
  { names, world },
);

const openHeld = shareWorld(
  async ({ sandbox, database, work, run }) => {
    await run(await work({ offsetMs: -dayMs }));
    const before = await readStates(database);
    sandbox.setWorld({ ...worldOf(sanctioned), ranking: { shuffleSeed: 9, scoreNoise: 0.004 } });
    return { before, held: await run(await work()) };
  },
  { names, world },
);

/** Gives ways to begin after a complete night with both lists, and after one more that is held. Call it where hooks may be registered. */
export function openHeldSites(databases: TestDatabases) {
  const beginUsual = openUsual(databases);
  /** A site after a complete run with both lists, with the states and the number of state changes after it. */
  const beginAfterGood = async () => {
    const { prepared, ...site } = await beginUsual();
    return { ...site, ...prepared };
  };
  const beginHeld = openHeld(databases);
  /** A site after another run, which is held because the list of the politically exposed is missing; scores differ a little. */
  const beginAfterHeld = async () => {
    const { prepared, ...site } = await beginHeld();
    site.sandbox.setWorld(worldOf(sanctioned));
    return { ...site, ...prepared, app: await site.work() };
  };
  return { beginAfterGood, beginAfterHeld };
}
