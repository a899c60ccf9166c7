import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../src/store/database/database.js';
import type { DatabaseLocation } from '../../../src/store/database/open-database.js';
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

it('of several changes that wait for a run to close the most severe one counts', async () => {
  const { sandbox, database, work, run } = await begin();
  sandbox.setWorld({ watchlist: [second, control], dossiers: [] });
  await run(await work({ offsetMs: -3 * dayMs }));
  const { alertId } = await database
    .query(z.object({ alertId: z.number() }), 'select max(alert_id) as "alertId" from alert')
    .then(([row]) => row ?? { alertId: 0 });
  // Told, and left before control searches confirmed it; the next night finds the same listed party with another id and country.
  sandbox.setWorld({ watchlist: [first, second, control], dossiers: [] });
  await run(await work({ offsetMs: -2 * dayMs }));
  await database.execute('update run set projected_change_id = null');
  await database.runScript(
    `alter table alert_event disable trigger user; delete from shown_alert where alert_id > ${alertId}; delete from alert_event where alert_id > ${alertId}; delete from alert where alert_id > ${alertId};
     alter table alert_event enable trigger user;`,
  );
  sandbox.setWorld({ watchlist: [{ ...first, country: ['fr', 'de'] }, second, control], dossiers: [] });
  await run(await work({ offsetMs: -dayMs }));
  expect(await readFirst(database)).toMatchObject({ state: 'open', severity: 'critical' });
});

it('a run holds states in the order in which reviewers do, wherever they lie in the table', async () => {
  location = await databases.locate();
  const database = await databases.open(location);
  const now = new Date();
  await fillPlanningWorld(database, Array(6).fill({ screenedAt: now }), now);
  // A new row version comes to lie behind all others, where a walk through the whole table, the quickest here, would find it last.
  await database.runScript('update party_state set screened_at = screened_at where party_id = 1; analyze party_state;');
  const [reviewing, dating] = [await databases.open(location), await databases.open(location)];
  let dated: Promise<number> = Promise.resolve(0);
  await reviewing.transaction(async (transaction) => {
    const lock = 'select from party_state where account_id = 1 and party_id =';
    await transaction.execute(`${lock} 1 for no key update`);
    dated = dating.execute(`select date_states(1, 2, 1, now(), '{3,2,1}', '{3}')`);
    await vi.waitFor(async () => {
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      expect(await readRows(database, waiting)).toHaveLength(1);
    }, 10_000);
    await transaction.execute(`${lock} 2 for no key update nowait`);
    await transaction.execute(`${lock} 3 for no key update nowait`);
  });
  expect(await dated).toBe(1);
});
