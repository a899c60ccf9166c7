import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { shiftedClock } from '../../../src/clock.js';
import { ConfigError } from '../../../src/errors.js';
import { measureCoverage } from '../../../src/runs/coverage.js';
import { runImport } from '../../../src/runs/import/import-run.js';
import { readValue } from '../../../src/store/database/database.js';
import { testDatabases } from '../../helpers/databases.js';
import { decide, openSmallSites } from '../../helpers/small-site.js';
import { hourMs, people, signal } from '../../helpers/small-world.js';
import { expectAgreement } from '../../helpers/status-agreement.js';

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

  it('follows decisions at once, and says years later who is overdue', async () => {
    const { database, run, work } = await openSite();
    const app = await work();
    await run(app);
    const states = async (hours: number) =>
      (await measureCoverage({ ...app, clock: shiftedClock(hours * hourMs) }, { list: 0 })).total.states;
    const waiting = await database.query(z.object({ id: z.number() }), 'select alert_id as id from alert order by 1');
    await decide(database, [waiting[0]?.id ?? 0]);
    await decide(database, [waiting[1]?.id ?? 0], { verdict: 'true_match' });
    expect(await expectAgreement(app)).toEqual({ clear: 4, false_positive: 1, true_match: 1 });
    expect(await states(26.9)).toEqual({ clear: 4, false_positive: 1, true_match: 1 });
    expect(await states(10_000)).toEqual({ not_screened: 5, true_match: 1 });
  });
});
