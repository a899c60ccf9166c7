import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { presentImportedDecisions } from '../../../src/cli/commands/working-list.js';
import { renderWorkingList } from '../../../src/reports/review-list.js';
import { showAlerts } from '../../../src/runs/review/decide.js';
import type { DecisionImport } from '../../../src/runs/review/list-table.js';
import { exportAlerts } from '../../../src/runs/review/lists.js';
import { findReviewer } from '../../../src/runs/review/people.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { importList } from '../../helpers/reviewers.js';
import { openSitesAfterNight, openSmallSites } from '../../helpers/small-site.js';
import { dayMs, listed, type TestAppContext, watchlist } from '../../helpers/small-world.js';

type Row = Record<string, string>;
const rowSchema = z.array(z.record(z.string(), z.string()));

async function exportRows(app: TestAppContext): Promise<Row[]> {
  const { alerts } = await exportAlerts(app, { roster: null, exportedBy: 'a test' });
  return rowSchema.parse(
    parse([...renderWorkingList(alerts, { timezone: 'UTC', allColumns: true })].join(''), { bom: true, columns: true }),
  );
}

const importRows = (app: TestAppContext, rows: readonly Row[], how: Partial<DecisionImport> = {}) =>
  importList(app, stringify([...rows], { header: true, delimiter: ';' }), how);

const decide = (row: Row | undefined, disposition: string, reason = 'looked at it'): Row => ({
  ...row,
  disposition,
  reason,
});

describeOnPostgres('a working list', (open, databases) => {
  const begin = openSmallSites(open);
  const beginAfterNight = openSitesAfterNight(databases, 2);

  it('goes out and comes back through a spreadsheet that mangles dates and ids, and decides what it says, once', async () => {
    const { work } = await beginAfterNight();
    const app = await work();
    const rows = await exportRows(app);
    expect(rows.map(({ reference, hit, disposition }) => [reference, hit, disposition])).toEqual([
      ['C-1', 'yes', ''],
      ['C-2', 'yes', ''],
    ]);
    const mangled = rows.toReversed().map(({ alert = '', ...row }) => ({
      due: '46348,2',
      reference: '1',
      birth_date: '########',
      match_id: '1,2E+15',
      comment: row['comment'] ?? '',
      alert: ` ${alert.toLowerCase()} `,
    }));
    const filled = [decide(mangled[0], 'False Positive'), decide(mangled[1], 'true-match')];
    const preview = await importRows(app, filled, { apply: false });
    expect(preview).toMatchObject({ isApplied: false, decided: [{}, {}], refused: [], faulty: [] });
    const withoutSheet = (list: readonly Row[]) => list.map(({ sheet: _, ...row }) => row);
    expect(withoutSheet(await exportRows(app))).toEqual(withoutSheet(rows));
    expect(await importRows(app, filled)).toMatchObject({ isApplied: true, decided: [{}, {}] });
    expect(await exportRows(app)).toEqual([]);
    expect(await importRows(app, filled)).toMatchObject({ isApplied: true, decided: [], sameAlready: [{}, {}] });
    const [history] = await showAlerts(app, 'C-1');
    expect(history).toMatchObject({
      state: 'true_match',
      history: [{ what: 'opened critical' }, { what: 'decided true_match' }],
    });
  });

  it('is taken whole or not at all, unless in part; each row that cannot be taken says why', async () => {
    const { sandbox, work, run } = await beginAfterNight();
    const app = await work();
    const [first, second] = await exportRows(app);
    const [one = listed('one', ''), ...others] = watchlist;
    sandbox.setWorld({ watchlist: [{ ...one, topics: ['crime'] }, ...others], dossiers: [] });
    await run(await work({ offsetMs: -dayMs }));
    // Only where the alert is not known the reference is the list's own.
    const slip = {
      ...second,
      reference: 'mangled',
      alert: (second?.['alert'] ?? '').replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
    };
    const rows = [
      { ...decide(first, 'false_positive'), reference: '1' },
      decide(second, 'false_positive'),
      decide(slip, 'false_positive'),
      { ...second, disposition: '', reason: '' },
    ];
    const refused = await importRows(app, rows);
    expect(refused).toMatchObject({
      isApplied: false,
      decided: [{ line: 3 }],
      refused: [{ row: { line: 2, customer: 'C-1' }, reason: 'changed_since' }],
      faulty: [{ line: 4, customer: 'mangled', problem: expect.stringContaining('is not the code of an alert') }],
      undecided: 1,
    });
    const { text, document } = presentImportedDecisions(refused, { storing: 'again', wasApplied: true });
    expect(text).toMatch(/^line 2 +C-1 +the match or the customer has changed/m);
    expect(text).toMatch(/^line 4 +mangled +"N/m);
    expect(document).toMatchObject({ refused: [{ line: 2, customer: 'C-1' }], faulty: [{ customer: 'mangled' }] });
    expect(await exportRows(app)).toHaveLength(2);
    expect(await importRows(app, rows, { partial: true })).toMatchObject({
      isApplied: true,
      decided: [{ line: 3 }],
    });
    expect(await exportRows(app)).toHaveLength(1);
  });

  it('keeps all that waits when a later run asks with the key of another account', async () => {
    const { sandbox, work, run } = await beginAfterNight();
    const first = await work({ offsetMs: -2 * dayMs });
    const before = (await exportRows(first)).map(({ alert }) => alert);
    expect(before).toHaveLength(2);
    await run(await work({ offsetMs: -dayMs, apiKey: sandbox.otherPrivateKey }), { selection: 'all' });
    const rows = await exportRows(await work());
    const { accounts } = await exportAlerts(await work(), { roster: null, exportedBy: 'a test' });
    expect(accounts.map(({ alerts }) => alerts)).toEqual([2, 2]);
    expect(new Set(accounts.map(({ account }) => account)).size).toBe(2);
    expect(rows.map(({ alert }) => alert)).toEqual(expect.arrayContaining(before));
    expect(rows.map(({ mode }) => mode)).toEqual(rows.map(() => 'test'));
  });

  it('a name that nobody knows is refused and not taken for nothing to do; another file is refused by what it lacks', async () => {
    const { work } = await beginAfterNight();
    const app = await work();
    const request = { roster: null, exportedBy: 'a test' };
    await expect(exportAlerts(app, { ...request, roster: 'peple' })).rejects.toThrow(
      /roster peple was never .*: people/,
    );
    await expect(exportAlerts(app, { ...request, assignee: 'larsn' })).rejects.toThrow(/--assignee: is larsn/);
    await expect(showAlerts(app, 'C-99')).rejects.toThrow(/no roster has this customer/);
    expect(await showAlerts(app, 'C-3')).toEqual([]);
    await expect(importRows(app, [{ a: '1', b: '2' }])).rejects.toThrow(/no column alert, disposition, reason/);
  });

  it('nobody decides before anything was imported, and nobody in another name', async () => {
    const { database, work } = await begin();
    await expect(importRows(await work(), [{ a: '1', b: '2' }])).rejects.toThrow(
      /nothing was imported for default yet/,
    );
    await expect(findReviewer(database, 'A. Meyer')).rejects.toThrow(/each reviewer decides under their own login/);
    expect(await findReviewer(database, undefined)).toMatchObject({ isAttested: false });
  });
});
