import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../src/store/database/database.js';
import type { DatabaseLocation } from '../../../src/store/database/open-database.js';
import { applyAnswers } from '../../../src/store/night/apply-answers.js';
import { readRows, testDatabases } from '../../helpers/databases.js';
import { fillPlanningWorld } from '../../helpers/planning-world.js';
import { decide, openSmallSites } from '../../helpers/small-site.js';
import { dayMs, listed, watchlist } from '../../helpers/small-world.js';

const [first = listed('one', ''), second = listed('two', ''), control = listed('c', '')] = watchlist;
const databases = testDatabases('postgres');
let location: DatabaseLocation = {};
const begin = openSmallSites(async () => {
  location = await databases.locate();
  return databases.open(location);
});

const alertRow = z.object({
  alertId: z.number(),
  state: z.string(),
  severity: z.string(),
  verdict: z.string().nullable(),
});
const readFirst = async (database: Database) => {
  const [alert] = await database.query(
    alertRow,
    `select alert.alert_id as "alertId", alert.state, severity, verdict
     from alert join party using (party_id) join customer using (customer_id) left join disposition using (disposition_id)
     where reference = 'C-1' order by alert.alert_id`,
  );
  if (!alert) throw new Error('no alert');
  return alert;
};

/** How many sessions of a database are like this. */
const countSessions = async (database: Database, likeThis: string): Promise<number> =>
  (
    await readRows(
      database,
      `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and ${likeThis}`,
    )
  ).length;

it('a decision that is stored while a run closes stands, whatever the run makes of its alert', async () => {
  const { sandbox, database, work, run } = await begin();
  await run(await work({ offsetMs: -2 * dayMs }));
  const { alertId } = await readFirst(database);
  await decide(database, [alertId]);
  sandbox.setWorld({ watchlist: [{ ...first, id: 'amla_new' }, second, control], dossiers: [] });
  sandbox.setFaults([{ name: control.name, afterCalls: 1, times: 1_000, status: 402 }]);
  expect((await run(await work({ offsetMs: -dayMs }))).state).toBe('stopped');
  sandbox.setFaults([]);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const deciding = decide(await databases.open(location), [alertId], { verdict: 'true_match', before: released });
  await expect.poll(() => countSessions(database, `state = 'idle in transaction'`)).toBe(1);
  const closing = run(await work({ offsetMs: -dayMs }));
  await expect.poll(() => countSessions(database, `wait_event_type = 'Lock'`)).toBe(1);
  release();
  expect(await deciding).toMatchObject([{ kind: 'decided' }]);
  expect((await closing).state).toBe('complete');
  expect(await readFirst(database)).toMatchObject({ state: 'true_match', verdict: 'true_match' });
  await expect(database.execute('update alert set disposition_id = null')).rejects.toThrow(/alert_decided/);
});

it('a run holds states in the order in which reviewers do, wherever they lie in the table', async () => {
  location = await databases.locate();
  const database = await databases.open(location);
  const now = new Date();
  await fillPlanningWorld(database, Array(6).fill({ screenedAt: now }), now);
  // A new row version comes to lie behind all others, where a walk through the whole table, the quickest here, would find it last.
  await database.runScript(`
    update party_state set screened_at = screened_at where party_id = 1;
    insert into batch (run_id, worker, number, wave, committed_at) values (2, 1, 1, 1, now());
    insert into planned (run_id, party_id, request_id, customer_version, search_order, reason)
      select 2, n, n, 1, 4 - n, 'cadence' from unnest('{3,2,1}'::bigint[]) n;
    insert into call (run_id, request_id, worker, number, started_at, ended_at, outcome, response_id, batch)
      select 2, n, 1, n, now(), now(), 'ok', 1, 1 from unnest('{3,2,1}'::bigint[]) n;
    analyze;`);
  const [reviewing, applying] = [await databases.open(location), await databases.open(location)];
  let applied: Promise<number> = Promise.resolve(0);
  await reviewing.transaction(async (transaction) => {
    const lock = 'select from party_state where account_id = 1 and party_id =';
    await transaction.execute(`${lock} 1 for no key update`);
    applied = applying.transaction((applying) => applyAnswers(applying, 2, 1));
    await vi.waitFor(async () => {
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      expect(await readRows(database, waiting)).toHaveLength(1);
    }, 10_000);
    await transaction.execute(`${lock} 2 for no key update nowait`);
    await transaction.execute(`${lock} 3 for no key update nowait`);
  });
  expect(await applied).toBe(3);
});
