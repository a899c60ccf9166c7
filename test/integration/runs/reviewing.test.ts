import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { toItemSeenVersion } from '../../../src/runs/review/items.js';
import type { Database } from '../../../src/store/database/database.js';
import { holdItems } from '../../../src/store/review/decisions.js';
import { describeOnChosenDatabase } from '../../helpers/databases.js';
import { decide, digestKey, makeAcceptance, openPreparedSites } from '../../helpers/small-site.js';
import { listed, watchlist } from '../../helpers/small-world.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const [first = listed('one', ''), second = listed('two', ''), canary = listed('c', '')] = watchlist;
const worldOf = (...entries: (typeof watchlist)[number][]) => ({ watchlist: [...entries, canary], dossiers: [] });

const itemRow = z.object({ itemId: z.number(), reference: z.string(), state: z.string(), severity: z.string() });
const readItems = (database: Database) =>
  database.query(
    itemRow,
    `select item_id as "itemId", reference, review_item.state, severity
     from review_item join party using (party_id) join customer using (customer_id) order by reference, item_id`,
  );
const readRunStates = async (database: Database) => {
  const [row] = await database.query(
    z.object({ states: z.record(z.string(), z.number()) }),
    "select sums -> 'states' as states from run where run_id = (select max(run_id) from run)",
  );
  return row?.states;
};
const readEvents = async (database: Database): Promise<string[]> => {
  const row = z.object({ text: z.string() });
  const rows = await database.query(
    row,
    `select concat_ws(' ', item_id, kind, array_to_string(reasons, ',')) as text from review_event order by event_id`,
  );
  return rows.map(({ text }) => text.trim());
};

describeOnChosenDatabase('review items', (_open, databases) => {
  /** Sites after a run nine days ago, which has opened an item of C-1 and one of C-2. */
  const begin = openPreparedSites(databases, async ({ database, work, run }) => {
    expect(await run(await work({ offsetMs: -9 * dayMs }))).toMatchObject({ state: 'complete' });
    expect(await readRunStates(database)).toMatchObject({ open_alert: 2 });
    return readItems(database);
  });

  it('each hit is one item; a decision stays valid over runs, new ids and scores, and is re-opened with a reason', async () => {
    const { sandbox, database, work, run, prepared: items } = await begin();
    const night = async (daysAgo: number) => {
      const { state } = await run(await work({ offsetMs: -daysAgo * dayMs }));
      expect(state).toBe('complete');
      return readRunStates(database);
    };
    expect(items).toMatchObject([
      { reference: 'C-1', state: 'open', severity: 'critical' },
      { reference: 'C-2', state: 'open', severity: 'critical' },
    ]);
    const [{ itemId } = { itemId: 0 }] = items;
    expect(await decide(database, [itemId])).toEqual([{ itemId, kind: 'decided' }]);

    // Nothing has changed.
    expect(await night(8)).toMatchObject({ open_alert: 1, false_positive: 1 });
    // All entries have new ids: the decision belongs to the content.
    sandbox.setWorld(worldOf({ ...first, id: 'amla_new_one' }, { ...second, id: 'amla_new_two' }));
    expect(await night(7)).toMatchObject({ open_alert: 1, false_positive: 1 });
    // The entry is removed from the list, and returns unchanged.
    sandbox.setWorld(worldOf(second));
    expect(await night(6)).toMatchObject({ clear: 5, open_alert: 1 });
    sandbox.setWorld(worldOf(first, second));
    expect(await night(5)).toMatchObject({ open_alert: 1, false_positive: 1 });
    // A material change.
    sandbox.setWorld(worldOf({ ...first, topics: ['sanction', 'crime'] }, second));
    expect(await night(4)).toMatchObject({ open_alert: 2 });
    expect((await readEvents(database)).filter((event) => event.startsWith(`${itemId} `))).toEqual([
      `${itemId} opened`,
      `${itemId} rekeyed`,
      `${itemId} gone not_returned`,
      `${itemId} returned`,
      `${itemId} reopened listed_topics`,
    ]);
    expect(await readItems(database)).toHaveLength(2);
  });

  it('a customer whose facts change has its item re-opened, also when the match was confirmed and no answer changes', async () => {
    const { database, roster, work, run, prepared } = await begin();
    const [item] = prepared;
    if (!item) throw new Error('no item');
    await decide(database, [item.itemId], { verdict: 'true_match' });
    await run(await work({ offsetMs: -2 * dayMs }));
    expect(await readItems(database)).toMatchObject([{ state: 'true_match' }, { state: 'open' }]);
    const path = String(roster.csv?.path);
    const text = (await readFile(path, 'utf8')).replace('customer_id,type,name', 'customer_id,type,name,birth_date');
    await writeFile(
      path,
      text.replace('Wilhelmina Achterberg', 'Wilhelmina Achterberg,1971-05-06').replace(/^(C-[2-6].*)$/gm, '$1,'),
    );
    const later = await work({ offsetMs: -dayMs });
    await run(later, { acceptRoster: await makeAcceptance(later) });
    expect(await readItems(database)).toMatchObject([{ state: 'open', severity: 'critical' }, { state: 'open' }]);
    expect(await readEvents(database)).toContain(`${item.itemId} reopened customer_birth_date`);
  });

  it('a decision about an item that has changed since, or has another decision since, is refused; the same decision again is ignored', async () => {
    const { database, prepared } = await begin();
    const [item] = prepared;
    if (!item) throw new Error('no item');
    const { itemId } = item;
    const stale = await database.transaction(async (transaction) => {
      const held = (await holdItems(transaction, [itemId])).get(itemId);
      return held ? toItemSeenVersion(held, digestKey) : '';
    });
    expect(await decide(database, [itemId])).toMatchObject([{ kind: 'decided' }]);
    expect(await decide(database, [itemId], { seenVersion: stale })).toMatchObject([{ kind: 'same_already' }]);
    expect(await decide(database, [itemId], { seenVersion: stale, verdict: 'true_match' })).toMatchObject([
      { kind: 'refused', reason: 'decided_since' },
    ]);
    expect(await decide(database, [itemId], { seenVersion: '0123456789', verdict: 'true_match' })).toMatchObject([
      { kind: 'refused', reason: 'changed_since' },
    ]);
    await expect(database.execute('update disposition set verdict = null')).rejects.toThrow(/never changed/);
    await expect(database.execute('delete from review_event')).rejects.toThrow(/never changed/);
  });

  it('an item is opened only for answers that control searches have confirmed', async () => {
    const { sandbox, database, work, run, prepared } = await begin();
    const third = listed('three', 'Tamsin Oyelaran');
    sandbox.setWorld({ watchlist: [first, second, third], dossiers: [] });
    expect(await run(await work({ offsetMs: -dayMs }))).toMatchObject({ state: 'incomplete' });
    expect(await readItems(database)).toEqual(prepared);
    sandbox.setWorld(worldOf(first, second, third));
    await run(await work());
    expect(await readItems(database)).toHaveLength(3);
  });

  it('a decision settles no customer for whom a run that has not closed has found a new match', async () => {
    const { sandbox, database, work, run, prepared } = await begin();
    const readState = async (): Promise<string | undefined> => {
      const [row] = await database.query(
        z.object({ state: z.string() }),
        `select state from customer_standing where reference = 'C-1'`,
      );
      return row?.state;
    };
    const [item] = prepared;
    if (!item) throw new Error('no item');
    sandbox.setWorld(worldOf(first, second, { ...first, id: 'amla_three', birth_date: ['1988-02-03'] }));
    sandbox.setFaults([{ name: canary.name, afterCalls: 1, times: 1_000, status: 402 }]);
    expect((await run(await work({ offsetMs: -dayMs }))).state).toBe('stopped');
    await decide(database, [item.itemId]);
    // The new answer waits for control searches, and the one before it is too old.
    expect(await readState()).toBe('not_screened');
    sandbox.setFaults([]);
    await run(await work({ offsetMs: -dayMs }));
    expect(await readItems(database)).toMatchObject([{ state: 'false_positive' }, { state: 'open' }, { state: 'open' }]);
    expect(await readState()).toBe('open_alert');
    const [, other] = await readItems(database);
    await decide(database, [other?.itemId ?? 0]);
    expect(await readState()).toBe('false_positive');
  });
});
