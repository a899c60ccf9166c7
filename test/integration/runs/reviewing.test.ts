import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { toAlertSeenVersion } from '../../../src/runs/review/alerts.js';
import { type Database, findValue, readColumn, readValue } from '../../../src/store/database/database.js';
import { holdAlerts } from '../../../src/store/review/decisions.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { decide, makeAcceptance, openPreparedSites, reviewKey } from '../../helpers/small-site.js';
import { dayMs, listed, watchlist } from '../../helpers/small-world.js';

const [first = listed('one', ''), second = listed('two', ''), control = listed('c', '')] = watchlist;
const worldOf = (...entries: (typeof watchlist)[number][]) => ({ watchlist: [...entries, control], dossiers: [] });

const alertRow = z.object({ alertId: z.number(), reference: z.string(), state: z.string(), severity: z.string() });
const readAlerts = (database: Database) =>
  database.query(
    alertRow,
    `select alert_id as "alertId", reference, alert.state, severity
     from alert join party using (party_id) join customer using (customer_id) order by reference, alert_id`,
  );
const readRunStates = (database: Database) =>
  readValue(database, z.unknown(), "select sums -> 'states' as states from run order by run_id desc limit 1");
const readEvents = (database: Database) =>
  readColumn(
    database,
    z.string(),
    `select rtrim(concat_ws(' ', alert_id, kind, array_to_string(reasons, ','))) from alert_event order by event_id`,
  );

describeOnPostgres('review alerts', (_open, databases) => {
  /** Sites after a run nine days ago, which has opened an alert of C-1 and one of C-2. */
  const begin = openPreparedSites(databases, async ({ database, work, run }) => {
    expect(await run(await work({ offsetMs: -9 * dayMs }))).toMatchObject({ state: 'complete' });
    expect(await readRunStates(database)).toMatchObject({ open_alert: 2 });
    return readAlerts(database);
  });

  it('each hit is one alert; a decision stays valid over a run with new ids, and is re-opened with a reason', async () => {
    const { sandbox, database, work, run, prepared: alerts } = await begin();
    const night = async (daysAgo: number) => {
      const { state } = await run(await work({ offsetMs: -daysAgo * dayMs }));
      expect(state).toBe('complete');
      return readRunStates(database);
    };
    expect(alerts).toMatchObject([
      { reference: 'C-1', state: 'open', severity: 'critical' },
      { reference: 'C-2', state: 'open', severity: 'critical' },
    ]);
    const [{ alertId } = { alertId: 0 }] = alerts;
    expect(await decide(database, [alertId])).toEqual([{ alertId, kind: 'decided' }]);

    // All entries have new ids: the decision belongs to the content.
    sandbox.setWorld(worldOf({ ...first, id: 'amla_new_one' }, { ...second, id: 'amla_new_two' }));
    expect(await night(7)).toMatchObject({ open_alert: 1, false_positive: 1 });
    // A material change.
    sandbox.setWorld(worldOf({ ...first, topics: ['sanction', 'crime'] }, second));
    expect(await night(4)).toMatchObject({ open_alert: 2 });
    expect((await readEvents(database)).filter((event) => event.startsWith(`${alertId} `))).toEqual([
      `${alertId} opened`,
      `${alertId} rekeyed`,
      `${alertId} reopened listed_topics`,
    ]);
    expect(await readAlerts(database)).toHaveLength(2);
  });

  it('a customer whose facts change has its alert re-opened, also when the match was confirmed and no answer changes', async () => {
    const { database, roster, work, run, prepared } = await begin();
    const [alert] = prepared;
    if (!alert) throw new Error('no alert');
    await decide(database, [alert.alertId], { verdict: 'true_match' });
    expect(await readAlerts(database)).toMatchObject([{ state: 'true_match' }, { state: 'open' }]);
    const path = String(roster.csv?.path);
    const text = (await readFile(path, 'utf8')).replace('customer_id,type,name', 'customer_id,type,name,birth_date');
    await writeFile(
      path,
      text.replace('Wilhelmina Achterberg', 'Wilhelmina Achterberg,1971-05-06').replace(/^(C-[2-6].*)$/gm, '$1,'),
    );
    const later = await work({ offsetMs: -dayMs });
    await run(later, { acceptRoster: await makeAcceptance(later) });
    expect(await readAlerts(database)).toMatchObject([{ state: 'open', severity: 'critical' }, { state: 'open' }]);
    expect(await readEvents(database)).toContain(`${alert.alertId} reopened customer_birth_date`);
  });

  it('a decision about an alert that has changed since, or has another decision since, is refused; the same decision again is ignored', async () => {
    const { database, prepared } = await begin();
    const [alert] = prepared;
    if (!alert) throw new Error('no alert');
    const { alertId } = alert;
    const stale = await database.transaction(async (transaction) => {
      const held = (await holdAlerts(transaction, 1, [alertId])).get(alertId);
      return held ? toAlertSeenVersion(held, reviewKey) : '';
    });
    expect(await decide(database, [alertId])).toMatchObject([{ kind: 'decided' }]);
    expect(await decide(database, [alertId], { seenVersion: stale })).toMatchObject([{ kind: 'same_already' }]);
    expect(await decide(database, [alertId], { seenVersion: stale, verdict: 'true_match' })).toMatchObject([
      { kind: 'refused', reason: 'decided_since' },
    ]);
    expect(await decide(database, [alertId], { seenVersion: '0123456789', verdict: 'true_match' })).toMatchObject([
      { kind: 'refused', reason: 'changed_since' },
    ]);
    await expect(database.execute('update disposition set verdict = null')).rejects.toThrow(/never changed/);
    await expect(database.execute('delete from alert_event')).rejects.toThrow(/never changed/);
  });

  it('an alert is opened only for answers that control searches have confirmed', async () => {
    const { sandbox, database, work, run, prepared } = await begin();
    const third = listed('three', 'Tamsin Oyelaran');
    sandbox.setWorld({ watchlist: [first, second, third], dossiers: [] });
    expect(await run(await work({ offsetMs: -dayMs }))).toMatchObject({ state: 'incomplete' });
    expect(await readAlerts(database)).toEqual(prepared);
    sandbox.setWorld(worldOf(first, second, third));
    await run(await work());
    expect(await readAlerts(database)).toHaveLength(3);
  });

  it('a decision settles no customer for whom a run that has not closed has found a new match', async () => {
    const { sandbox, database, work, run, prepared } = await begin();
    const readState = async (): Promise<string | null> => {
      return findValue(database, z.string(), `select state from customer_screening_status where reference = 'C-1'`);
    };
    const [alert] = prepared;
    if (!alert) throw new Error('no alert');
    sandbox.setWorld(worldOf(first, second, { ...first, id: 'amla_three', birth_date: ['1988-02-03'] }));
    sandbox.setFaults([{ name: control.name, afterCalls: 1, times: 1_000, status: 402 }]);
    expect((await run(await work({ offsetMs: -dayMs }))).state).toBe('stopped');
    await decide(database, [alert.alertId]);
    // The new answer waits for control searches, and the one before it is too old.
    expect(await readState()).toBe('not_screened');
    sandbox.setFaults([]);
    await run(await work({ offsetMs: -dayMs }));
    expect(await readAlerts(database)).toMatchObject([
      { state: 'false_positive' },
      { state: 'open' },
      { state: 'open' },
    ]);
    expect(await readState()).toBe('open_alert');
    const [, other] = await readAlerts(database);
    await decide(database, [other?.alertId ?? 0]);
    expect(await readState()).toBe('false_positive');
  });
});
