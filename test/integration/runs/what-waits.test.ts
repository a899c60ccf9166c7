import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { reportJsonSchema } from '../../../src/reports/report-json.js';
import type { RunSummary } from '../../../src/runs/run-summary.js';
import { runReports } from '../../../src/runs/write-reports.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { fillInList } from '../../helpers/report-files.js';
import { importList } from '../../helpers/reviewers.js';
import { openPreparedSites } from '../../helpers/small-site.js';
import { dayMs, fileOf, listed, people, type TestAppContext, toCsv, watchlist } from '../../helpers/small-world.js';

const [one = listed('one', ''), two = listed('two', ''), control = listed('c', '')] = watchlist;

const readFileOf = ({ artifacts }: RunSummary, name: string): Promise<string> =>
  readFile(join(artifacts ?? '', name), 'utf8');
const readReport = async (run: RunSummary) => reportJsonSchema.parse(JSON.parse(await readFileOf(run, 'report.json')));

async function ruleOut(app: TestAppContext, run: RunSummary, customer: string): Promise<void> {
  const book = await readFile(join(run.artifacts ?? '', 'report.xlsx'));
  const filled = await fillInList(book, (reference) =>
    reference === customer ? ['false_positive', 'another person, seen in person'] : null,
  );
  expect(await importList(app, filled)).toMatchObject({ isApplied: true, decided: [{}] });
}

describeOnPostgres('a report', (_open, databases) => {
  /** Sites after a night whose report is written; `prepared` is its run. */
  const begin = openPreparedSites(databases, async ({ work, run }) =>
    run(await work({ offsetMs: -3 * dayMs }), { writeReport: true }),
  );

  it('shows an alert that waits on each night until somebody decides, changed or not, with its code', async () => {
    const { work, run } = await begin();
    const quiet = await run(await work({ offsetMs: -1.5 * dayMs }), { writeReport: true });
    const report = await readReport(quiet);
    expect(report.changes).toEqual([]);
    expect(report.openAlerts).toMatchObject({ waiting: 2, customers: 2, absent: 0 });
    expect(report.verdict.waiting).toMatch(/^2 open alerts of 2 customers: 2 critical, 2 overdue, the oldest/);
    const page = await readFileOf(quiet, 'report.html');
    const waiting = page.slice(page.indexOf('<section id="waiting"'), page.indexOf('<section id="changes"'));
    for (const { name } of [one, two]) expect(waiting).toContain(name);
    expect(waiting.match(/<code class="whole"><bdi>N[0-9A-Z]+-[0-9A-Z]+-[0-9A-Z]<\/bdi><\/code>/g)).toHaveLength(2);
    expect(waiting).toContain('<code>nightscreen review import report.xlsx</code>');
  });

  it('shows the customer before and now where its own record changed, and calls nobody delisted for it', async () => {
    const { roster, work, run } = await begin();
    await writeFile(fileOf(roster), toCsv(people.with(1, 'Zephaniah Brandt')));
    const changed = await run(await work({ offsetMs: -dayMs }), { writeReport: true });
    const report = await readReport(changed);
    const [change, ...others] = report.changes ?? [];
    expect(others).toEqual([]);
    expect(change).toMatchObject({
      kind: 'match_removed',
      cause: 'customer_record',
      party: { reference: 'C-2', name: 'Zephaniah Brandt' },
      formerParty: { reference: 'C-2', name: 'Oktavian Prunescu' },
    });
    const page = await readFileOf(changed, 'report.html');
    expect(page).toMatch(/Oktavian Prunescu<\/bdi> <span aria-label="became">→<\/span> <strong><bdi>Zephaniah Brandt/);
    expect(page).not.toMatch(/delisted/i);
    expect(report.openAlerts).toMatchObject({ waiting: 2, absent: 1 });
    expect(page).toMatch(/Match absent<\/b>: the match is absent since our customer record changed/);
    const [row] = parse<Record<string, string>>(await readFileOf(changed, 'changes.csv'), { bom: true, columns: true });
    expect(row).toMatchObject({ name: 'Zephaniah Brandt', customer_before_name: 'Oktavian Prunescu' });
  });

  it('shows on a new alert what was decided about the match that left when it came under another id and birth date', async () => {
    const { sandbox, work, run, prepared: first } = await begin();
    await ruleOut(await work({ offsetMs: -1.5 * dayMs }), first, 'C-1');
    const other = { ...one, id: 'amla_other', birth_date: ['1961-01-01'] };
    sandbox.setWorld({ watchlist: [other, two, control], dossiers: [] });
    const second = await run(await work({ offsetMs: -dayMs }), { writeReport: true });
    const report = await readReport(second);
    const added = report.changes?.find(({ kind }) => kind === 'match_added');
    expect(added).toMatchObject({
      matchId: 'amla_other',
      alert: { state: 'open', said: [], replaced: { verdict: 'false_positive', matchId: 'amla_one', name: one.name } },
    });
    const page = await readFileOf(second, 'report.html');
    const waiting = page.slice(page.indexOf('<section id="waiting"'), page.indexOf('<section id="changes"'));
    expect(waiting).toMatch(/before: <bdi>false positive by .* about Wilhelmina Achterberg \(amla_one\)/);
    const [book, again] = [await readFileOf(second, 'report.json'), await mkdtemp(join(tmpdir(), 'nightscreen-'))];
    await runReports(await work(), { runId: second.runId, directory: again });
    expect(await readFile(join(again, second.runId, 'report.json'), 'utf8')).toBe(book);
    expect(await readFile(join(again, second.runId, 'report.html'), 'utf8')).toBe(page);
  });
});
