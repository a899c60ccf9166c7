import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { shiftedClock } from '../../../src/clock.js';
import { ConfigError } from '../../../src/errors.js';
import { measureCoverage } from '../../../src/runs/coverage.js';
import { runImport } from '../../../src/runs/import/import-run.js';
import { type Database, readValue, type Transaction } from '../../../src/store/database/database.js';
import { testDatabases } from '../../helpers/databases.js';
import { decide, openSmallSites } from '../../helpers/small-site.js';
import { hourMs, people, signal } from '../../helpers/small-world.js';
import { expectAgreement, findUnrecorded } from '../../helpers/status-agreement.js';

/** The figures without the order in which they were counted. */
const toComparable = ({ total, tiers }: Awaited<ReturnType<typeof measureCoverage>>) => ({ total, tiers });

describe('coverage', () => {
  const { open } = testDatabases('postgres');
  const openSite = openSmallSites(open);

  it('counts every customer once: never screened, valid, failed, overdue; the status of customers and the run that has just closed agree', async () => {
    const { sandbox, run, work, roster, database } = await openSite();
    const app = await work();
    await expect(measureCoverage(app, { roster: 'nobody', list: 0 })).rejects.toThrow(ConfigError);
    const before = await measureCoverage(app, { roster: 'people', list: 0 });
    expect(before).toMatchObject({ isCovered: false, neverImported: ['people'] });
    await runImport(app, roster, signal);
    expect(await expectAgreement(app)).toEqual({ not_screened: 6 });
    const fresh = await measureCoverage(app, { list: 2 });
    expect(fresh).toMatchObject({
      isCovered: false,
      total: { inScope: 6, never: 6, valid: 0, oldestScreenedAt: null },
    });
    expect(fresh.rosters[0]?.uncovered).toEqual([
      { reference: 'C-1', tier: 'high', status: 'never', lastScreenedAt: null, failedBecause: null },
      { reference: 'C-2', tier: 'high', status: 'never', lastScreenedAt: null, failedBecause: null },
    ]);

    sandbox.setFaults([{ path: '/aml/search', name: people[2] ?? '', status: 422, times: 10 }]);
    await run(app);
    const night = await measureCoverage(app, { list: 10 });
    expect(night.total).toMatchObject({ inScope: 6, valid: 5, never: 1, overdue: 0, failedBecause: { http_422: 1 } });
    expect(night.total.states).toEqual({ clear: 3, not_screened: 1, open_alert: 2 });
    expect(await expectAgreement(app)).toEqual(night.total.states);
    expect((await findUnrecorded(app)).found).toEqual([]);
    const stored = `select sums -> 'states' as states from run order by run_id desc limit 1`;
    expect(await readValue(database, z.record(z.string(), z.number()), stored)).toMatchObject(night.total.states);
    expect(night.rosters[0]?.uncovered).toMatchObject([
      { reference: 'C-3', status: 'never', failedBecause: 'http_422' },
    ]);

    sandbox.setFaults([]);
    await run(app);
    expect(await measureCoverage(app, { list: 1 })).toMatchObject({
      isCovered: true,
      total: { valid: 6, failedBecause: {} },
    });

    const later = (hours: number) => ({ ...app, clock: shiftedClock(hours * hourMs) });
    expect((await measureCoverage(later(26.9), { list: 0 })).total.overdue).toBe(0);
    await expectAgreement(later(26.9));
    const stale = await measureCoverage(later(28), { list: 10 });
    expect(stale).toMatchObject({ isCovered: false, total: { valid: 0, overdue: 6, oldestAgeHours: 28 } });
    // An alert that waits outranks an expired screening.
    expect(stale.total.states).toEqual({ not_screened: 4, open_alert: 2 });
    expect(await expectAgreement(later(28))).toEqual(stale.total.states);
    expect(stale.rosters[0]?.uncovered).toHaveLength(6);
  });

  it('is the same from what the last run noted as counted customer by customer, also after decisions and years later', async () => {
    const { database, sandbox, run, work, roster } = await openSite();
    const app = await work();
    sandbox.setFaults([{ path: '/aml/search', name: people[3] ?? '', status: 422, times: 10 }]);
    await run(app);
    const measureAt = (hours: number) =>
      measureCoverage({ ...app, clock: { ...app.clock, now: () => new Date(start + hours * hourMs) } }, { list: 0 });
    const start = Date.now();
    const moments = [0, 20, 26.5, 28, 10_000];
    const measureAll = async (hours: readonly number[]) => {
      const measured = [];
      for (const hour of hours) measured.push(await measureAt(hour));
      return measured;
    };
    const compare = async (hours = moments): Promise<void> => {
      const noted = await measureAll(hours);
      // A note of another account says nothing.
      await database.execute(`update roster set coverage = coverage || '{"accountId": 0}'`);
      const counted = await measureAll(hours);
      await database.execute(`update roster set coverage = coverage || '{"accountId": 1}'`);
      expect(noted.map(toComparable)).toEqual(counted.map(toComparable));
    };
    await compare();
    const items = z.object({ id: z.number() });
    const waiting = await database.query(items, 'select alert_id as id from alert order by alert_id');
    expect(waiting).toHaveLength(2);
    await decide(database, [waiting[0]?.id ?? 0]);
    await decide(database, [waiting[1]?.id ?? 0], { verdict: 'true_match' });
    await compare([0, 28, 10_000]);
    // Also where the run closed thousands of alerts by itself after the decision was numbered and before it was committed.
    await database.execute(`update roster set coverage = coverage || '{"lastDisposition": 5000}'`);
    await compare([0]);
    // What the nights of another roster have changed since is not read.
    await database.runScript(`
      insert into roster (organisation_id, name, created_at) values (1, 'others', now());
      insert into customer (roster_id, reference, version, record_digest, first_import_id) select max(roster_id), 'O-1', 1, 'd', 1 from roster;
      insert into customer_state_change (customer_id, to_state, is_test, changed_at)
        select max(customer_id), 'clear', true, now() from customer cross join generate_series(1, 3000) group by generate_series`);
    const reads = await database.transaction(async (transaction) => {
      const { query, execute } = transaction;
      const transact = (work: (same: Transaction) => unknown) => work(transaction);
      const inOne: Database = Object.assign(Object.create(database), { query, execute, transaction: transact });
      await measureCoverage({ ...app, database: inOne }, { roster: 'people', list: 0 });
      const table = `'customer_state_change'::regclass`;
      const sql = `select pg_stat_get_xact_tuples_returned(${table}) + pg_stat_get_xact_tuples_fetched(${table}) as reads`;
      return readValue(transaction, z.number(), sql);
    });
    expect(reads).toBeLessThan(100);
    // Without a note of its own: each customer is counted.
    await runImport(app, roster, signal);
    expect((await measureAt(0)).total).toMatchObject({ inScope: 6, never: 1 });
    await run(app);
    await compare([0, 28]);
  });
});
