import { afterEach, expect, it } from 'vitest';
import { toFileRoster } from '../../../src/roster/settings.js';
import { resumeRun } from '../../../src/runs/resume-run.js';
import { runScreening } from '../../../src/runs/screening-run.js';
import { runReports } from '../../../src/runs/write-reports.js';
import { startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { migrate, pendingMigrations } from '../../../src/store/database/migrate.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';
import { fillReleasedDatabase, releasedDatabases } from '../../helpers/former-databases.js';
import { controls, dayMs, makeAppContext, signal, watchlist } from '../../helpers/small-world.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describeOnEachDatabase('a database of each released schema', (open, databases) => {
  it('is kept', () => {
    expect(releasedDatabases.length).toBeGreaterThan(0);
  });

  it.each(releasedDatabases)(
    '$name is migrated with a run that was stopped, which goes on; the next night finds no change',
    async (released) => {
      const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
      closing.push(() => sandbox.close());
      const database = await open(await databases.locateEmpty());
      const roster = toFileRoster('people', await fillReleasedDatabase(database, released, sandbox));
      const pending = await pendingMigrations(database);
      expect(await migrate(database)).toEqual(pending);
      const work = async (offsetMs: number) => {
        const app = await makeAppContext(database, sandbox, {
          offsetMs,
          settings: { controls, rosters: [roster] },
        });
        closing.push(() => app.client().close());
        return app;
      };
      const resumed = await resumeRun(await work(0), '2', signal);
      expect(resumed).toMatchObject({ state: 'complete', counts: { planned: 6, screened: 6, failed: 0, changes: 0 } });
      expect(await runReports(await work(0), { runId: '1' })).toMatchObject([{ exitCode: 0 }]);
      const plan = { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: true } as const;
      const night = await runScreening(await work(1.5 * dayMs), plan, signal);
      expect(night).toMatchObject({ state: 'complete', counts: { planned: 6, screened: 6, hits: 2, changes: 0 } });
    },
    60_000,
  );
});
