import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { toFileRoster } from '../../src/roster/settings.js';
import { describeRun } from '../../src/runs/describe-run.js';
import { runImport } from '../../src/runs/import/import-run.js';
import { resumeRun } from '../../src/runs/resume-run.js';
import { runScreening } from '../../src/runs/screening-run.js';
import { runReports } from '../../src/runs/write-reports.js';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import type { Database } from '../../src/store/database/database.js';
import { describeOnEachDatabase } from '../helpers/databases.js';
import { fillFormerDatabase, migrateUpTo } from '../helpers/former-databases.js';
import { canaries, makeAppContext, watchlist } from '../helpers/small-world.js';

const dayMs = 86_400_000;
const { signal } = new AbortController();
/** What migration 0015 drops or writes in another way. */
const rewritten = ['last_import_id', 'record_digest'];

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Every row of these tables without the columns that are rewritten, and how many rows each table has. */
async function readTables(database: Database): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables = await database.query(
    z.object({ name: z.string() }),
    `select table_name as name from information_schema.tables
     where table_schema = current_schema() and table_type = 'BASE TABLE' and table_name <> 'schema_migration' order by 1`,
  );
  const held: Record<string, readonly string[]> = {};
  for (const { name } of tables) {
    const rows = await database.query(
      z.object({ row: z.record(z.string(), z.unknown()) }),
      `select to_jsonb(each) as row from ${name} each`,
    );
    const kept = rows.map(({ row }) => Object.entries(row).filter(([column]) => !rewritten.includes(column)));
    if (rows.length > 0) held[name] = kept.map((row) => JSON.stringify(Object.fromEntries(row))).sort();
  }
  return held;
}

/** Whether each former row is there still, whatever columns have come beside. */
const isKept = (former: readonly string[], present: readonly string[]): boolean => {
  const rows = present.map((row) => z.record(z.string(), z.unknown()).parse(JSON.parse(row)));
  return former.every((row) => {
    const columns = Object.entries(z.record(z.string(), z.unknown()).parse(JSON.parse(row)));
    return rows.some((each) => columns.every(([name, value]) => JSON.stringify(each[name]) === JSON.stringify(value)));
  });
};

describeOnEachDatabase('a database that the version before rosters has written', (open, databases) => {
  const begin = async () => {
    const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
    closing.push(() => sandbox.close());
    const database = await open(await databases.locateEmpty());
    const migrateOn = await migrateUpTo(database, 14);
    const roster = toFileRoster('people', await fillFormerDatabase(database, sandbox));
    const work = async (offsetMs = 0) => {
      const app = await makeAppContext(database, sandbox, { offsetMs, settings: { canaries, rosters: [roster] } });
      closing.push(() => app.client().close());
      return app;
    };
    return { sandbox, database, roster, work, migrateOn };
  };

  it('keeps every row, the sums of its runs hold, and its reports can be made again', async () => {
    const { database, work, migrateOn } = await begin();
    const former = await readTables(database);
    expect((await migrateOn())[0]).toBe('0015_roster_history.sql');
    const present = await readTables(database);
    for (const [table, rows] of Object.entries(former)) {
      expect([table, present[table]?.length, isKept(rows, present[table] ?? [])]).toEqual([table, rows.length, true]);
    }
    const app = await work();
    for (const runId of ['1', '2', '3', '4']) {
      expect((await describeRun(app, runId)).balance).toMatchObject({ disagreements: [] });
    }
    expect(await runReports(app, { runId: '2' })).toMatchObject([{ exitCode: 0 }]);
  });

  it('finds everybody unchanged in the next import of the same roster, and asks about nobody who is not due', async () => {
    const { sandbox, work, roster, migrateOn } = await begin();
    await migrateOn();
    // What the stopped run left would be asked about by whoever comes next.
    await resumeRun(await work(), '4', signal);
    const calls = sandbox.ledger().length;
    const { counts, snapshot } = await runImport(await work(), roster, signal);
    expect(counts).toMatchObject({ rows: 12, customers: 9, rejected: 2, duplicates: 1 });
    expect(snapshot).toMatchObject({ joined: 0, changed: 0, returned: 0, leavers: 0, absent: 1, droppedParties: 0 });
    const plan = { kind: 'screen', roster, selection: 'new', importFirst: false, writeReport: false } as const;
    expect(await runScreening(await work(), plan, signal)).toMatchObject({ counts: { planned: 0, searches: 0 } });
    expect(
      sandbox
        .ledger()
        .slice(calls)
        .flatMap(({ searchName }) => searchName ?? []),
    ).not.toContain('Ciro Malvestuto');
  });

  it('goes on with the run that had stopped, and the night after it finds no change', async () => {
    const { work, roster, migrateOn } = await begin();
    await migrateOn();
    const resumed = await resumeRun(await work(), '4', signal);
    // The rows that it rejected are customers since: nobody has accepted that they are not screened.
    const unread = { state: 'incomplete', reasons: [expect.stringContaining('not screened because of the roster')] };
    expect(resumed).toMatchObject({ ...unread, counts: { failed: 0, remaining: 0, changes: 0 } });
    const plan = { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: true } as const;
    const night = await runScreening(await work(1.5 * dayMs), plan, signal);
    expect(night).toMatchObject({
      ...unread,
      counts: { planned: 10, screened: 10, searches: 9, hits: 2, changes: 0 },
      snapshot: { joined: 0, changed: 0 },
    });
  });
});
