import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toSubject } from '../../../../src/mail/report-message.js';
import { toReport } from '../../../../src/reports/report.js';
import { toHoldBounds } from '../../../../src/screening/settings.js';
import { testDatabases } from '../../../helpers/databases.js';
import { showRun } from '../../../helpers/show-run.js';
import { makeOddNames, openSmallSites } from '../../../helpers/small-site.js';
import { dayMs, listed, usualScreening, watchlist } from '../../../helpers/small-world.js';

const names = makeOddNames(36);
const world = (count: number) => ({
  watchlist: [...watchlist, ...names.slice(0, count).map((name, index) => listed(`n${index}`, name, ['poi']))],
  dossiers: [],
});

describe('what a run finds', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('is compared with former runs: far less turns it red', { timeout: 120_000 }, async () => {
    const { sandbox, database, work, run } = await begin(names);
    const night = async (daysAgo: number, count: number, writeReport = false) => {
      sandbox.setWorld(world(count));
      // What vanishes would hold the run before it is compared.
      const settings = {
        screening: { ...usualScreening, hold: toHoldBounds({ vanishedShare: 1, weekShare: 1 }) },
      };
      return run(await work({ offsetMs: -daysAgo * dayMs, settings }), { writeReport });
    };
    expect((await night(9, 18)).state).toBe('complete');
    // Four more that have found the same.
    await database.execute(
      `insert into run overriding system value
       select again.* from run, generate_series(1, 4) as more,
         jsonb_populate_record(run, jsonb_build_object('run_id', run.run_id + more)) as again`,
    );
    await database.execute(`select setval(pg_get_serial_sequence('run', 'run_id'), (select max(run_id) from run))`);

    const low = await night(3, 1, true);
    expect(low).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { screened: 36, failed: 0 } });
    expect(low.reasons).toEqual([
      expect.stringMatching(
        /^[\d.]+ matches per 1,000 customers screened, usually [\d.]+ \(median of 5 runs\), less than half/,
      ),
      expect.stringMatching(/^[\d.]+ hits per 1,000 .* less than half/),
    ]);
    const facts = await showRun(database, 'default', low.runId);
    expect(toSubject(toReport(facts))).toContain('[RED] far fewer matches than usual');
    const page = await readFile(join(low.artifacts ?? '', 'report.html'), 'utf8');
    expect(page).not.toContain('have a valid screening');
    expect(page).toContain('cannot be relied on');

    // Runs over customers whom somebody has chosen are no measure.
    await database.execute(`update run set selection = 'forced' where state = 'complete'`);
    expect(await night(2, 1)).toMatchObject({ state: 'complete', reasons: [] });
  });
});
