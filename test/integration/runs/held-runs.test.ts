import { expect, it } from 'vitest';
import { z } from 'zod';
import type { WatchlistEntry } from '../../../src/sandbox/watchlist-entry.js';
import type { Database } from '../../../src/store/database.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';
import { makeOddNames } from '../../helpers/odd-names.js';
import { openSmallSites, searched } from '../../helpers/small-site.js';
import { canaries, listed } from '../../helpers/small-world.js';

const dayMs = 24 * 60 * 60 * 1_000;
const names = makeOddNames(60);
const [canary] = canaries;
/** Twelve customers are sanctioned, eight exposed. */
const onLists = [
  ...names.slice(0, 12).map((name, index) => listed(`s${index}`, name)),
  ...names.slice(12, 20).map((name, index) => listed(`p${index}`, name, ['role.pep'])),
];
const worldOf = (entries: readonly WatchlistEntry[]) => ({
  watchlist: [...entries, listed('c', canary.name)],
  dossiers: [],
});

const stateRow = z.object({ reference: z.string(), state: z.string(), as_of: z.date().nullable() });
const readStates = (database: Database) =>
  database.query(stateRow, 'select reference, state, as_of from customer_screening_status order by reference');
const countEvents = async (database: Database): Promise<number> => {
  const rows = await database.query(
    z.object({ events: z.number() }),
    'select count(*)::integer as events from customer_state_change',
  );
  return rows[0]?.events ?? 0;
};

describeOnEachDatabase('a night that cannot be relied on', (open) => {
  const begin = openSmallSites(open);

  it('that finds nobody but the canaries is held, and every state stays with its time', {
    timeout: 120_000,
  }, async () => {
    const { sandbox, database, work, run } = await begin(names);
    sandbox.setWorld(worldOf(onLists));
    await run(await work({ offsetMs: -dayMs }));
    const before = await readStates(database);
    const events = await countEvents(database);
    sandbox.setWorld(worldOf([]));
    const workplace = await work();
    const held = await run(workplace);
    expect(held).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { screened: 0, failed: 60, changes: 0 } });
    expect(held.reasons[0]).toMatch(
      /answers for 60 customers are held, because 20 of 20 known hits of all topics vanished/,
    );
    expect(await readStates(database)).toEqual(before);
    expect(await countEvents(database)).toBe(events);
    // Each vanished party was searched for again.
    expect(searched(sandbox, names[0] ?? '')).toBe(3);
  });
});
