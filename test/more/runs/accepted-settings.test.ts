import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { changeSettingsSchema } from '../../../src/changes/severity.js';
import { reportJsonSchema } from '../../../src/reports/report-json.js';
import { guardsSchema } from '../../../src/roster/guards.js';
import { toFileRoster } from '../../../src/roster/settings.js';
import { runImport } from '../../../src/runs/import/import-run.js';
import { replaySettings } from '../../../src/runs/replay.js';
import { runScreening } from '../../../src/runs/screening-run.js';
import { acceptSettings, findUnacceptedSettings } from '../../../src/runs/settings-acceptance.js';
import { writeReportFor } from '../../../src/runs/write-reports.js';
import type { Database } from '../../../src/store/database/database.js';
import { rawSql, sql } from '../../../src/store/database/statement.js';
import { readSettingsHistory } from '../../../src/store/organisations.js';
import { describeOnPostgres, readRows, testDatabases } from '../../helpers/databases.js';
import { showRun } from '../../helpers/show-run.js';
import {
  decide,
  findAlerts,
  makeAcceptance,
  makeOddNames,
  openSmallSites,
  type SmallSite,
} from '../../helpers/small-site.js';
import { dayMs, fileOf, listed, people, signal, watchlist } from '../../helpers/small-world.js';

const [first = listed('one', ''), second = listed('two', ''), control = listed('c', '')] = watchlist;
const worldOf = (...entries: (typeof watchlist)[number][]) => ({ watchlist: [...entries, control], dossiers: [] });
const step = (scoreStep: number) => ({ changes: changeSettingsSchema.parse({ scoreStep }) });
/** Customers with a birth date for some. */
const toText = (birthDates: Readonly<Record<string, string>> = {}): string =>
  `customer_id,type,name,birth_date\n${people.map((name, at) => `C-${at + 1},person,${name},${birthDates[`C-${at + 1}`] ?? ''}\n`).join('')}`;

const tallyRow = z.object({ name: z.string(), events: z.number() });
const readStored = async (database: Database, isBaseline: boolean, column: 'kind' | 'severity') => {
  const rows = await database.query(
    tallyRow,
    sql`select ${rawSql(column)} as name, count(*)::integer as events from change_event where is_baseline = ${isBaseline} group by 1`,
  );
  return Object.fromEntries(rows.map(({ name, events }) => [name, events]));
};

/** An import with a live key: settings must be accepted from then on. */
async function endTrial({ work, roster }: Pick<SmallSite, 'work' | 'roster'>): Promise<void> {
  const app = await work();
  app.settings.service.mode = 'live';
  await runImport(app, roster, signal);
}

describeOnPostgres('assessment settings', (open) => {
  const begin = openSmallSites(open);

  it('are refused before anything is asked until somebody accepts them with a reason, and the next report says so first', async () => {
    const { sandbox, database, roster, work } = await begin();
    const plan = { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: true } as const;
    const before = await work({ offsetMs: -dayMs });
    await endTrial({ work, roster });
    const nightOne = await runScreening(before, plan, signal);
    expect(await readSettingsHistory(database, 'default')).toMatchObject([{ acceptedBy: 'first settings' }]);
    expect((await showRun(database, 'default', nightOne.runId)).settingsChanges).toEqual([]);

    const calls = sandbox.ledger().length;
    const changed = await work({ settings: step(0.05) });
    const refusal = /changes\.scoreStep was 0\.02 and is 0\.05.*nightscreen config accept --by NAME --reason TEXT/;
    await expect(runScreening(changed, plan, signal)).rejects.toThrow(refusal);
    await expect(runImport(changed, roster, signal)).rejects.toThrow(refusal);
    expect(sandbox.ledger()).toHaveLength(calls);
    expect((await findUnacceptedSettings(database, changed.settings)).differences).toHaveLength(1);

    const acceptance = await makeAcceptance({ database });
    const differences = ['changes.scoreStep was 0.02 and is 0.05'];
    expect(await acceptSettings(changed, acceptance)).toMatchObject({ recorded: true, differences });
    expect(await acceptSettings(changed, acceptance)).toMatchObject({ recorded: false, differences: [] });
    await expect(runScreening(before, plan, signal)).rejects.toThrow(/was 0\.05 and is 0\.02/);

    const nightTwo = await runScreening(changed, plan, signal);
    const path = join(nightTwo.artifacts ?? '', 'report.json');
    const text = await readFile(path, 'utf8');
    const reported = reportJsonSchema.parse(JSON.parse(text));
    expect(reported.settingsChanges).toMatchObject([
      { differences, acceptedBy: acceptance.by.name, reason: acceptance.reason },
    ]);
    const page = await readFile(join(nightTwo.artifacts ?? '', 'report.html'), 'utf8');
    expect(page.indexOf('Settings changed since the last report')).toBeLessThan(page.indexOf('class="verdict"'));
    expect(page.indexOf('changes.scoreStep was 0.02 and is 0.05')).toBeGreaterThan(0);
    // Accepted later: it is the next report's.
    await acceptSettings(await work({ settings: step(0.03) }), acceptance);
    await writeReportFor(changed, nightTwo.runId);
    expect(await readFile(path, 'utf8')).toBe(text);
    await expect(database.execute(`update acceptance set reason = 'another'`)).rejects.toThrow(/never changed/);
    await expect(
      database.execute(
        sql`insert into acceptance (kind, organisation_id, settings, digest, differences, accepted_by, is_attested, reason, accepted_at)
         select kind, organisation_id, settings, digest, differences, 'somebody else', ${database.dialect === 'postgres'}, reason, accepted_at from acceptance limit 1`,
      ),
    ).rejects.toThrow(/in the name of|nobody is authenticated/);
  });

  it('hold nothing up where another roster is meant', async () => {
    const { database, roster, work } = await begin();
    await runImport(await work(), roster, signal);
    const others = { ...toFileRoster('others', 'others.csv'), guards: guardsSchema.parse({ maxGrowth: 2 }) };
    const beside = await work({ settings: { rosters: [roster, others] } });
    await runImport(beside, roster, signal);
    const { differences } = await findUnacceptedSettings(database, beside.settings);
    expect(differences).toEqual(['rosters[1].guards.maxGrowth was 0.5 and is 2']);
  });

  it('replayed unchanged give the very events and alerts of the nights, and others only what they make of them', async () => {
    const { sandbox, database, roster, work, run } = await begin();
    await writeFile(fileOf(roster), toText());
    const night = async (daysAgo: number) => {
      expect((await run(await work({ offsetMs: -daysAgo * dayMs }))).state).toBe('complete');
    };
    sandbox.setWorld({ ...worldOf(first, second), ranking: { scoreNoise: 0.004, shuffleSeed: 1 } });
    await night(4);
    sandbox.setWorld(
      worldOf(
        first,
        { ...second, id: 'amla_new_two', topics: ['sanction', 'crime'] },
        listed('three', 'Aroha Ngata', ['poi']),
      ),
    );
    await night(3);
    const confirmed = { verdict: 'true_match', now: new Date(Date.now() - 2.5 * dayMs) } as const;
    expect(await decide(database, await findAlerts(database, 'C-1'), confirmed)).toMatchObject([{ kind: 'decided' }]);
    sandbox.setWorld(worldOf({ ...first, birth_date: ['1960'] }, listed('three', 'Aroha Ngata', ['poi'])));
    await writeFile(fileOf(roster), toText({ 'C-1': '1960-05-06' }));
    await night(2);
    sandbox.setWorld({ ...worldOf(first, second), ranking: { scoreNoise: 0.004, shuffleSeed: 3 } });
    await night(1);

    const app = await work();
    const replay = await replaySettings(app, app.settings, null);
    for (const [tally, isBaseline] of [
      [replay.changes, false],
      [replay.baseline, true],
    ] as const) {
      expect(Object.fromEntries(tally.byKind.map(({ kind, present }) => [kind, present]))).toEqual(
        await readStored(database, isBaseline, 'kind'),
      );
      expect(Object.fromEntries(tally.bySeverity.map(({ severity, present }) => [severity, present]))).toEqual(
        await readStored(database, isBaseline, 'severity'),
      );
      expect(tally).toMatchObject({ other: tally.present, onlyOther: 0, onlyPresent: 0, otherSeverity: 0 });
    }
    expect(replay.changes.present).toBeGreaterThan(6);
    expect(replay).toMatchObject({ examples: [], evaluated: [], stored: { changes: replay.changes.present } });
    const { length } = await readRows(database, 'select from alert');
    expect(replay.alerts).toEqual({ present: length, other: length, onlyOther: 0, onlyPresent: 0 });
    // The confirmed match whose customer changed with it.
    const rules = await readRows(
      database,
      `select severity from change_event where rule = 'true_match_customer_changed'`,
    );
    expect(rules).toEqual([{ severity: 'high' }]);

    const severities = { true_match_customer_changed: 'low', hit_gained: 'low' } as const;
    const milder = { ...app.settings, controls: [], changes: changeSettingsSchema.parse({ severities }) };
    const other = await replaySettings(app, milder, new Date(Date.now() - 2.5 * dayMs));
    expect(other.changes.present).toBeLessThan(replay.changes.present);
    expect(other.changes.otherSeverity).toBeGreaterThan(0);
    expect(other.examples[0]).toMatchObject({
      reference: 'C-1',
      present: { severity: 'high' },
      other: { severity: 'low' },
    });
    expect(other.notEvaluated).toEqual(['controls was a list of 2 and is a list of 0']);
    expect(other.stored.changes).toBe(other.changes.present);
  });
});

const tooMany = makeOddNames(12);
const openMembers = openSmallSites(testDatabases('postgres').open);

it('a night in which far more of the service’s data changes than usual is told as drift, and hides nothing', async () => {
  const { sandbox, work, run, database } = await openMembers(tooMany);
  const night = async (daysAgo: number, topics: string[]) => {
    sandbox.setWorld({
      watchlist: [control, ...tooMany.map((name, at) => listed(`n${at}`, name, topics))],
      dossiers: [],
    });
    return run(await work({ offsetMs: -daysAgo * dayMs }));
  };
  for (const daysAgo of [7, 6]) expect((await night(daysAgo, ['poi'])).remarks).toEqual([]);
  // Four more nights without a change.
  await database.execute(
    `insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, selection, lease_key, epoch, owner, settings_digest,
       version, started_at, finished_at, watch)
     select organisation_id, roster_id, account_id, mode, kind, state, stage, selection, lease_key, epoch, owner, settings_digest,
       version, started_at + day * interval '1 day', finished_at + day * interval '1 day', watch
     from run cross join generate_series(1, 4) as day where run_id = 2`,
  );
  const drifted = await night(1, ['poi', 'role.pep']);
  expect(drifted).toMatchObject({ state: 'complete', counts: { changes: 12 } });
  expect(drifted.remarks).toEqual([
    "1000.0 changes of the service's data per 1,000 searches, usually 0 (median of 5 runs), more than twice as many: its lists, ids or scores may have drifted",
  ]);
  expect((await showRun(database, 'default', drifted.runId)).watch?.volume).toMatchObject({
    verdict: 'high',
    usual: 0,
  });

  // Accepted settings change what counts as a change, and say nothing about the service.
  const settings = step(0.5);
  const changed = await work({ settings });
  expect((await run(changed)).remarks).toEqual([]);
});
