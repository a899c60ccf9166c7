import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Sandbox } from '../../../../src/sandbox/start-sandbox.js';
import type { Database } from '../../../../src/store/database/database.js';
import { sql } from '../../../../src/store/database/statement.js';
import { testDatabases } from '../../../helpers/databases.js';
import { showRun } from '../../../helpers/show-run.js';
import { openSmallSites, type SmallSite } from '../../../helpers/small-site.js';

const dayMs = 24 * 60 * 60 * 1_000;
const names = Array.from({ length: 32 }, (_, index) => `Customer Number ${index}`);

/** Answers to each customer's search with lists of these lengths, one entry apart from all others unless `ids` names them. */
function answerWith(sandbox: Sandbox, lengths: readonly number[], ids: Record<number, readonly string[]> = {}): void {
  const faults = lengths.flatMap((length, index) => {
    const name = names[index] ?? '';
    const listed = ids[index] ?? Array.from({ length }, (_, place) => `${index}-${place}`);
    const results = listed.map((id, place) => ({
      id,
      name: `${name} ${id}`,
      schema: 'Person',
      // The second customer is a hit.
      match: index === 1 && place === 0,
      score: 0.8,
      topics: ['poi'],
      birth_date: [],
      country: [],
    }));
    const body = JSON.stringify({ query: name, type: 'person', total: results.length, results });
    return [{ name, raw: { status: 201, body } }];
  });
  sandbox.setFaults(faults);
}

/** Twelve lists of 10, and shorter ones about as often each. */
const capped = [...Array(12).fill(10), 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1];
/** The same before anything was cut: one list is longer, the rest are short. */
const whole = [12, ...capped.slice(12)];

const readStates = async (database: Database, reference: string) =>
  database.query(
    z.object({ state: z.string(), hidden: z.number() }),
    sql`select state, coalesce(jsonb_array_length(unreturned), 0) as hidden
     from party_state join party using (party_id) join customer using (customer_id) where reference = ${reference}`,
  );

const kindsOf = async (database: Database, runId: string): Promise<string[]> =>
  (await showRun(database, 'default', runId)).changes
    .filter(({ party }) => party.reference === 'C-1')
    .map(({ kind, matchId }) => `${kind} ${matchId}`)
    .toSorted();

const nightsOf = ({ sandbox, database, work, run }: SmallSite) => {
  let daysAgo = 9;
  return async (lengths: readonly number[], ids: Record<number, readonly string[]> = {}) => {
    daysAgo -= 1;
    answerWith(sandbox, lengths, ids);
    const summary = await run(await work({ offsetMs: -daysAgo * dayMs, settings: { controls: [] } }));
    expect(summary.state).toBe('complete');
    return { ...summary, facts: await showRun(database, 'default', summary.runId) };
  };
};

describe('lists that are cut without a word', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('are seen by their number, and not clear; the length then holds for a single list, until one is longer', {
    timeout: 120_000,
  }, async () => {
    const site = await begin(names);
    const { database } = site;
    const night = nightsOf(site);
    expect((await night(whole)).facts.watch?.listCap).toBeNull();

    // The service begins to cut at 10: two of the first customer's matches are out of sight.
    const found = await night(capped);
    expect(found.facts.watch?.listCap).toEqual({ length: 10, standing: 'found', customers: 12 });
    expect(found.facts.states).toMatchObject({ truncated: 11, open_alert: 1, below_threshold: 18, clear: 2 });
    expect(found.remarks?.[0]).toContain('lists of 10 results seem to be truncated silently: 12 customers');
    expect(await kindsOf(database, found.runId)).toEqual(['match_not_returned 0-10', 'match_not_returned 0-11']);
    expect(await readStates(database, 'C-1')).toEqual([{ state: 'truncated', hidden: 2 }]);

    const nine = Array.from({ length: 9 }, (_, place) => `0-${place}`);
    const known = await night([10, 1, 2], { 0: [...nine, 'new'] });
    expect(known.facts.watch?.listCap).toEqual({ length: 10, standing: 'known', customers: 1 });
    expect(await kindsOf(database, known.runId)).toEqual(['match_added new', 'match_not_returned 0-9']);
    expect(await readStates(database, 'C-1')).toEqual([{ state: 'truncated', hidden: 3 }]);

    // A longer list shows that nothing is cut there any more; what was hidden stays so until the next whole answer.
    const gone = await night([10, 1, 15, 10]);
    expect(gone.facts.watch?.listCap).toEqual({ length: 10, standing: 'gone', customers: 2 });
    expect(await kindsOf(database, gone.runId)).toEqual(['match_not_returned new']);
    expect(await readStates(database, 'C-4')).toEqual([{ state: 'below_threshold', hidden: 0 }]);
    expect(await readStates(database, 'C-1')).toEqual([{ state: 'truncated', hidden: 3 }]);

    // What is still missing from a whole answer is gone.
    const last = await night([10, 1, 15, 10]);
    expect(last.facts.watch?.listCap).toBeNull();
    const removed = ['0-10', '0-11', 'new'].map((id) => `match_removed ${id}`);
    expect(await kindsOf(database, last.runId)).toEqual(removed);
    expect(await readStates(database, 'C-1')).toEqual([{ state: 'below_threshold', hidden: 0 }]);
  });

  it('are seen in a few lists that were longer before, down to a single result', async () => {
    const site = await begin(names);
    const night = nightsOf(site);
    await night([3, 3, 3, 3, 3, 3]);
    const found = await night([1, 1, 1, 1, 1, 1]);
    expect(found.facts.watch?.listCap).toEqual({ length: 1, standing: 'found', customers: 6 });
    expect(await kindsOf(site.database, found.runId)).toEqual(['match_not_returned 0-1', 'match_not_returned 0-2']);
    expect(await readStates(site.database, 'C-1')).toEqual([{ state: 'truncated', hidden: 2 }]);
  });
});
