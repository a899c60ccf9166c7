import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readXlsx } from 'hucre/xlsx';
import { expect, it } from 'vitest';
import { runReports } from '../../../src/runs/write-reports.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { fillInList } from '../../helpers/report-files.js';
import { importList } from '../../helpers/reviewers.js';
import { openPreparedSites } from '../../helpers/small-site.js';
import { dayMs, listed, type TestAppContext, watchlist } from '../../helpers/small-world.js';

const ruledOut = ['False Positive', 'another birth date'] as const;

async function toReferences(book: Uint8Array): Promise<readonly unknown[]> {
  const { sheets } = await readXlsx(book);
  const rows = sheets.find(({ name }) => name === 'To review')?.rows ?? [];
  const at = rows[1]?.indexOf('Customer') ?? -1;
  return rows.slice(2).map((row) => row[at]);
}

const onClockOf = (timezone: string, app: TestAppContext): TestAppContext => ({
  ...app,
  settings: { ...app.settings, timezone },
});

async function remake(app: TestAppContext, runId: string): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'nightscreen-book-'));
  await runReports(app, { runId, directory });
  return readFile(join(directory, runId, 'report.xlsx'));
}

describeOnPostgres("a report's workbook", (_open, databases) => {
  /** Sites after a night whose report is written on the clock of Tokyo. */
  const openReported = openPreparedSites(databases, async ({ work, run }) => {
    const first = await run(onClockOf('Asia/Tokyo', await work({ offsetMs: -2 * dayMs })), { writeReport: true });
    return { first, book: await readFile(join(first.artifacts ?? '', 'report.xlsx')) };
  });
  const begin = async () => {
    const { prepared, ...site } = await openReported();
    return { ...site, ...prepared };
  };

  it('decides what is filled in and has not moved since, and has the same bytes when it is made again later', async () => {
    const { database, sandbox, work, run, first, book } = await begin();
    const { sheets } = await readXlsx(book);
    expect(sheets[0]?.rows.flat()).toContain('Times are in Asia/Tokyo.');
    expect(sheets.map(({ name }) => name)).toEqual(['Summary', 'To review', 'All changes', 'Not screened', 'Method']);
    expect(await toReferences(book)).toEqual(['C-1', 'C-2']);

    const [one = listed('one', ''), two = listed('two', ''), ...others] = watchlist;
    sandbox.setWorld({ watchlist: [one, { ...two, topics: ['crime'] }, ...others], dossiers: [] });
    const second = await run(await work({ offsetMs: -dayMs }), { writeReport: true });
    const later = await readFile(join(second.artifacts ?? '', 'report.xlsx'));
    expect((await toReferences(later)).toSorted()).toEqual(['C-1', 'C-2']);
    // What stays as it was is stored once.
    const stored = await readRows(database, 'select alert_id as "alertId" from shown_alert');
    expect(stored).toHaveLength(3);

    const app = await work();
    const both = await fillInList(book, () => ruledOut);
    expect(await importList(app, both)).toMatchObject({
      isApplied: false,
      decided: [{ sheetId: 1 }],
      refused: [{ reason: 'changed_since' }],
    });
    const filled = await fillInList(book, (reference) => (reference === 'C-1' ? ruledOut : null));
    expect(await importList(app, filled, { apply: false })).toMatchObject({
      isApplied: false,
      decided: [{}],
      undecided: 1,
    });
    const imported = await importList(app, filled);
    expect(imported).toMatchObject({ isApplied: true, decided: [{ sheetId: 1 }], undecided: 1, unread: [] });
    expect(await importList(app, filled)).toMatchObject({ decided: [], sameAlready: [{}] });

    // A run's report shows its times on the clock that was configured when the run began.
    expect((await remake(onClockOf('America/Lima', app), first.runId)).equals(book)).toBe(true);
  });
});
