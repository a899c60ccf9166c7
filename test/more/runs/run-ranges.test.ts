import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { measureCoverage } from '../../../src/runs/coverage.js';
import { findRun, listRuns } from '../../../src/runs/run-reference.js';
import { type Database, readColumn, readValue } from '../../../src/store/database/database.js';
import { readHistory } from '../../../src/store/night/responses.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { backUp, readAllRows, restore } from '../../helpers/former-databases.js';
import { openPreparedSites } from '../../helpers/small-site.js';

const dayMs = 86_400_000;
const countAnalyses = async (database: Database) => {
  const rows = await database.query(
    z.object({ name: z.string(), times: z.number() }),
    `select relname::text as name, analyze_count::integer as times from pg_stat_all_tables
     where relname ~ '^(planned|call)' order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, times }) => [name, times]));
};

describeOnPostgres('nights on both sides of a range of runs', (open, databases) => {
  const { locate } = databases;
  /** Sites after a night of run 1 and two of runs 255 and 256; `prepared` is how often each table was analyzed. */
  const openSite = openPreparedSites(databases, async ({ database, run, work }) => {
    await run(await work({ offsetMs: -3 * dayMs }));
    await database.execute(`select setval('run_run_id_seq', 254)`);
    await run(await work({ offsetMs: -1.5 * dayMs }));
    expect(await run(await work())).toMatchObject({ runId: expect.stringMatching(/-256$/), state: 'complete' });
    return countAnalyses(database);
  });

  it('lie in partitions of their own, are read without the other partitions, and are the same in a restored backup', async () => {
    const { database, work } = await openSite();
    const places = await readColumn(
      database,
      z.string(),
      `select distinct tableoid::regclass || ' ' || run_id from planned
       union select distinct tableoid::regclass || ' ' || run_id from call order by 1`,
    );
    expect(places).toEqual([
      'call_runs_0_255 1',
      'call_runs_0_255 255',
      'call_runs_256_511 256',
      'planned_runs_0_255 1',
      'planned_runs_0_255 255',
      'planned_runs_256_511 256',
    ]);
    for (const view of ['screening', 'answer']) {
      const plan = await readColumn(database, z.string(), `explain select * from ${view} where run_id = 256`);
      expect(plan.join('\n')).toContain('_runs_256_511');
      expect(plan.join('\n')).not.toContain('_runs_0_255');
    }

    const read = async (of: typeof database) => {
      const app = { ...(await work()), database: of };
      const rows = await readAllRows(of);
      return {
        run: rows['run'],
        planned: rows['planned'],
        calls: rows['call'],
        history: await readHistory(of, 'default', 0, 100),
        runs: await listRuns(of, 'default', 10),
        coverage: (await measureCoverage(app, { list: 0 })).rosters,
      };
    };
    const restored = await databases.open(await databases.locateEmpty());
    await restore(restored, await backUp(database));
    expect(await read(restored)).toEqual(await read(database));
    await expect(findRun(restored, 'default', '256')).resolves.toMatchObject({ runId: 256 });
  });

  it('have statistics that are refreshed by a run of their range, those of the whole tables once these have doubled', async () => {
    const { database, run, work, prepared } = await openSite();
    // Doubled since the first night: all history was read for it.
    expect(prepared).toMatchObject({ call: 2, call_runs_0_255: 6, call_runs_256_511: 3 });
    // The copy has counted none of them.
    const before = await countAnalyses(database);
    expect(Object.keys(before)).toEqual(Object.keys(prepared));
    expect(new Set(Object.values(before))).toEqual(new Set([0]));
    await run(await work({ offsetMs: 1.5 * dayMs }));
    expect(await countAnalyses(database)).toEqual({
      ...before,
      // When it was planned, and when it was closed.
      planned_runs_256_511: 2,
      call_runs_256_511: 2,
    });
  });

  const insertRun = `
    insert into run (organisation_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
    values (1, 'test', 'rescreen', 'running', 'started', 'k', 1, 'o', 's', 'v', now())`;
  const countRanges = (database: Database) =>
    readValue(
      database,
      z.number(),
      `select count(*)::integer as ranges from pg_inherits where inhparent = 'call'::regclass`,
    );

  it('have partitions that are opened while others write, once by two that start together, and not by a preview', async () => {
    const location = await locate();
    const [database, writer] = [await open(location), await open(location)];
    await database.execute(
      `insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now())`,
    );
    await database.execute(insertRun);
    expect(await countRanges(database)).toBe(1);
    await database.execute(`select setval('run_run_id_seq', 299)`);
    await database.execute(insertRun.replace(`'k', 1`, `'k', 0`));
    expect(await countRanges(database)).toBe(1);

    const started = await writer.transaction(async (transaction) => {
      await transaction.execute('lock table run, planned, call, change in row exclusive mode');
      await transaction.execute(insertRun);
      const starting = database.execute(insertRun);
      expect(await Promise.race([starting.then(() => 'has started'), delay(200, 'waits')])).toBe('waits');
      return { starting };
    });
    await started.starting;
    expect(await countRanges(database)).toBe(2);

    await database.execute(`select setval('run_run_id_seq', 600)`);
    await writer.transaction(async (transaction) => {
      await transaction.execute('lock table run, planned, call, change in row exclusive mode');
      await database.execute(insertRun);
    });
    expect(await countRanges(database)).toBe(3);
  });
});
