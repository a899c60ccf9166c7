import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { type ReportJson, reportJsonSchema } from '../../../src/reports/report-json.js';
import { exportAlerts } from '../../../src/runs/review/lists.js';
import type { RunSummary } from '../../../src/runs/run-summary.js';
import { acceptRun } from '../../../src/runs/screening/accept-run.js';
import { reportSpans, runReports } from '../../../src/runs/write-reports.js';
import { readReportSheet, saveReportSheet } from '../../../src/store/review/waiting.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { exposed, names, openHeldSites, sanctioned, worldOf } from '../../helpers/held-world.js';
import { decide, findAlerts, makeAcceptance } from '../../helpers/small-site.js';
import { dayMs, hourMs, listed } from '../../helpers/small-world.js';

type Folder = Pick<RunSummary, 'artifacts'>;

const readText = ({ artifacts }: Folder, name: string) => readFile(join(artifacts ?? '', name), 'utf8');
const readReport = async (of: Folder): Promise<ReportJson> =>
  reportJsonSchema.parse(JSON.parse(await readText(of, 'report.json')));
/** The new alerts, as in `C-26 opened`, by customer. */
const listNew = ({ newAlerts }: ReportJson) =>
  newAlerts.map(({ reference, news }) => `${reference} ${news}`).toSorted();
const readLines = async (of: Folder, about: string) =>
  parse<Record<string, string>>(await readText(of, 'changes.csv'), { bom: true, columns: true }).filter(
    (line) => line['about'] === about,
  );
const listTitles = async (of: Folder) => (await readText(of, 'report.html')).match(/(?<=<h3>)(New|Open)[^<]*/g);

const fresh = listed('new', names[25] ?? '');
/** Of a customer that has an alert already. */
const other = listed('other', names[0] ?? '');
const worse = { ...exposed[0], ...listed('p0', names[12] ?? ''), topics: ['sanction'] };

describeOnPostgres('new alerts', (_open, databases) => {
  const { beginAfterGood } = openHeldSites(databases);

  it('stand apart in the night that found them and are older in the next one, held or good, with what people decided', async () => {
    const { sandbox, database, work, run } = await beginAfterGood();
    const night = async (days: number) =>
      run(await work({ offsetMs: days * dayMs }), { writeReport: true, selection: 'all' });
    const [expiring = 0] = await findAlerts(database, 'C-2');
    await decide(database, [expiring], { expiresAt: new Date(Date.now() + hourMs) });
    sandbox.setWorld(worldOf([...sanctioned, fresh, other, worse]));

    const held = await night(0.5);
    expect(held).toMatchObject({ state: 'incomplete', counts: { screened: 0 } });
    const report = await readReport(held);
    expect(listNew(report)).toEqual(['C-1 opened', 'C-13 escalated', 'C-26 opened']);
    expect(report.openAlerts?.news).toEqual({ alerts: 3, sanctionHits: 3, expired: 1 });
    expect(report.verdict.short).toMatch(/^3 new sanction hits, answers held, 22 open alerts, /);
    const page = await readText(held, 'report.html');
    expect(page).toContain('The answers of this run are held: they change no state until a person accepts them.');
    expect(page).not.toContain('nothing was compared');
    expect(page).not.toContain('re-opened: the disposition expired');
    expect(await listTitles(held)).toEqual([
      'New in this run: 3 alerts',
      'Open again: the disposition expired: 1 alert',
      'Open before: 18 alerts',
    ]);
    expect((await readLines(held, 'provisional')).map(({ alert }) => alert)).toEqual(
      report.newAlerts.map(({ code }) => code),
    );
    const app = await work({ offsetMs: 0.6 * dayMs });
    // A list that is too long is cut behind them.
    await database.transaction((transaction) =>
      saveReportSheet(transaction, 2, { rosterId: 1, accountId: 1 }, { now: app.clock.now(), maxItems: 4 }),
    );
    const cut = (await readReportSheet(database, 2))?.alerts.map(({ news }) => news);
    expect(cut?.slice(0, 3).toSorted()).toEqual(['escalated', 'opened', 'opened']);
    const list = { roster: null, exportedBy: 'ada' };
    const { alerts } = await exportAlerts(app, { ...list, onlyNew: true });
    const whole = await exportAlerts(app, list);
    expect(whole.alerts.map(({ news }) => news === null || news === 'expired').indexOf(true)).toBe(alerts.length);
    expect(alerts.map(({ mark }) => mark).toSorted()).toEqual(report.newAlerts.map(({ code }) => code).toSorted());
    await decide(database, await findAlerts(database, 'C-26'), { now: app.clock.now() });

    // Held for the same reason once more.
    const again = await night(1.5);
    const second = await readReport(again);
    expect([listNew(second), second.verdict.short]).toEqual([
      [],
      expect.stringMatching(/^answers held, 21 open alerts, /),
    ]);
    expect(second.verdict.news).toContain('The held answers show no new alert.');
    expect(await listTitles(again)).toEqual(['Open before: 21 alerts']);
    expect(await readLines(again, 'provisional')).toEqual([]);

    const rest = [...exposed.slice(1), fresh, other, worse];
    sandbox.setWorld(worldOf([...sanctioned, ...rest]));
    const good = await night(2.5);
    expect(good).toMatchObject({ state: 'complete' });
    expect(listNew(await readReport(good))).toEqual([]);
    expect(await listTitles(good)).toEqual(['Open before: 21 alerts']);
    const kept = `select last_state as state from customer_screening_status where reference = 'C-26'`;
    expect(await readRows(database, kept)).toEqual([{ state: 'false_positive' }]);
    expect(await exportAlerts(await work({ offsetMs: 2.6 * dayMs }), { ...list, onlyNew: true })).toMatchObject({
      alerts: [],
    });

    // One match leaves and comes back. Another one, of a true match, only leaves, and its alert is open again.
    await decide(database, await findAlerts(database, 'C-5'), {
      verdict: 'true_match',
      now: new Date(Date.now() + 2.6 * dayMs),
    });
    sandbox.setWorld(worldOf([...sanctioned.toSpliced(3, 2), ...rest]));
    const reopened = await readReport(await night(3.5));
    expect([listNew(reopened), reopened.verdict.short]).toEqual([
      ['C-5 reopened'],
      expect.stringMatching(/^1 new sanction hit, 21 open alerts, /),
    ]);
    sandbox.setWorld(worldOf([...sanctioned.toSpliced(4, 1), ...rest]));
    expect(listNew(await readReport(await night(4.5)))).toEqual(['C-4 returned']);

    const late = await work({ offsetMs: 5 * dayMs });
    const since = new Date(Date.now() - hourMs);
    const [span] = await reportSpans(late, { since, until: undefined, roster: undefined }, {});
    expect(listNew(await readReport({ artifacts: span?.directory ?? '' }))).toEqual([
      'C-1 opened',
      'C-13 escalated',
      'C-4 returned',
      'C-5 reopened',
    ]);
  });

  it('stay new in the report after the acceptance, whose changes are no longer provisional', async () => {
    const { sandbox, work, run } = await beginAfterGood();
    sandbox.setWorld(worldOf([...sanctioned, fresh]));
    const app = await work();
    const held = await run(app, { writeReport: true });
    await acceptRun(app, held.runId, await makeAcceptance(app), new AbortController().signal);
    const [accepted] = await runReports(app, { runId: held.runId });
    const now = { artifacts: accepted?.directory ?? '' };
    expect(accepted).toMatchObject({ revision: 2 });
    const [before, after] = [await readReport({ artifacts: join(now.artifacts, 'revision-1') }), await readReport(now)];
    expect([listNew(before), listNew(after)]).toEqual([['C-26 opened'], ['C-26 opened']]);
    expect(await readLines(now, 'provisional')).toEqual([]);
    expect((await readLines(now, 'match')).map(({ reference }) => reference)).toContain('C-26');
    expect(before.verdict.short).toContain('1 new sanction hit, answers held');
    expect(after.verdict).toMatchObject({ news: expect.stringContaining('By this run: 1 new sanction hit.') });
  });
});
