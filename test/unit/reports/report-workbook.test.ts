import { readXlsx } from 'hucre/xlsx';
import { describe, expect, it } from 'vitest';
import { toNotScreenedSection } from '../../../src/reports/lists.js';
import { toReport } from '../../../src/reports/report.js';
import type { RunFacts, ToReviewFacts } from '../../../src/reports/run-facts.js';
import { toWorkbookText } from '../../../src/reports/spreadsheet.js';
import { maxTableRows, renderReportWorkbook, toReadOnlySheet } from '../../../src/reports/workbook-report.js';
import { buildEventfulFacts } from '../../helpers/eventful-run-facts.js';
import { collectBytes, injectionPayloads } from '../../helpers/report-files.js';
import {
  buildChange,
  buildCounts,
  buildMatch,
  buildNotScreened,
  buildParty,
  buildRunFacts,
  buildSweepFacts,
  buildToReview,
  buildWaitingAlert,
} from '../../helpers/run-facts.js';

async function open(facts: RunFacts, toReview: ToReviewFacts | null = null) {
  const { sheets } = await readXlsx(await collectBytes(renderReportWorkbook(toReport(facts, toReview))), {
    readStyles: true,
  });
  const find = (name: string) => sheets.find((sheet) => sheet.name === name);
  const column = (name: string, header: string): readonly unknown[] => {
    const rows = find(name)?.rows ?? [];
    const top = rows.findIndex((row) => row.includes(header));
    const place = rows[top]?.indexOf(header) ?? -1;
    return rows.slice(top + 1).map((row) => row[place]);
  };
  return { sheets, find, column, texts: (name: string) => (find(name)?.rows ?? []).flat() };
}

const names = (sheets: readonly { name: string }[]): readonly string[] => sheets.map(({ name }) => name);

describe("a report's workbook", () => {
  it('has a row for each match, and the sums of the run', async () => {
    const facts = buildEventfulFacts();
    const alerts = ['C-1', 'C-2'].map((reference) => buildWaitingAlert({ party: buildParty({ reference }) }));
    const { sheets, column, texts } = await open(facts, buildToReview(alerts));
    expect(names(sheets)).toEqual(['Summary', 'To review', 'All changes', 'Dossiers', 'Not screened', 'Method']);
    expect(column('To review', 'Customer')).toEqual(['C-1', 'C-2']);
    expect(column('To review', 'Sheet')).toEqual(['S-7', 'S-7']);
    const changes = [...facts.changes, ...facts.baselineChanges];
    expect([...column('All changes', 'Change id')].sort()).toEqual(changes.map(({ changeId }) => changeId).sort());
    expect(column('Dossiers', 'Dossier')).toHaveLength(facts.dossierChanges.length);
    expect([...column('Not screened', 'Customer')].sort()).toEqual(['C-2001', 'C-2002']);
    expect(texts('Summary')).toContain('= 500 customers + 6 rejected + 5 duplicates');
    expect(texts('Method')).toEqual(expect.arrayContaining([facts.settingsDigest, 'sanction_hit_gained', 'S-7']));
  });

  it('lets only decision, reason and comment be written to, offers decisions and reasons, and keeps headers and names in sight', async () => {
    const { sheets, find } = await open(buildRunFacts(), buildToReview([buildWaitingAlert()]));
    expect(sheets.map(({ protection }) => protection?.sheet)).toEqual(sheets.map(() => true));
    const sheet = find('To review');
    const headers = sheet?.rows[0] ?? [];
    const unlocked = headers.filter((_, at) => sheet?.cells?.get(`1,${at}`)?.style?.protection?.locked === false);
    expect(unlocked).toEqual(['Disposition', 'Reason', 'Comment']);
    expect(sheet?.dataValidations).toMatchObject([
      {
        type: 'list',
        values: ['true match', 'false positive', 'inconclusive', 'no longer matched'],
        showErrorMessage: true,
      },
      { type: 'list', showInputMessage: true },
      { type: 'custom', showErrorMessage: true },
    ]);
    expect(sheet).toMatchObject({ freezePane: { rows: 1, columns: 3 }, autoFilter: { range: 'A1:AX2' } });
  });

  it('has no heading twice on a sheet that is read back, which `review import` refuses', async () => {
    const open = { severity: 'high', kind: 'archived_dossier', roster: 'retail', facts: {}, seen: 1 } as const;
    const listed = [{ ...open, mark: 'D-1', openedAt: new Date('2026-11-20T02:00:00Z'), acceptance: null }];
    const report = toReport(buildRunFacts(), buildToReview([buildWaitingAlert()]), { count: 1, listed });
    const { sheets } = await readXlsx(await collectBytes(renderReportWorkbook(report)));
    for (const name of ['To review', 'Discrepancies']) {
      const headings = sheets.find((sheet) => sheet.name === name)?.rows[0] ?? [];
      expect(headings.length).toBeGreaterThan(10);
      expect(new Set(headings).size).toBe(headings.length);
    }
  });

  it('has no sheet for what the run has not', async () => {
    expect(names((await open(buildSweepFacts())).sheets)).toEqual(['Summary', 'Dossiers', 'Method']);
    const imported = buildRunFacts({ kind: 'import', states: null, counts: buildCounts({ searches: 0 }) });
    expect(names((await open(imported)).sheets)).toEqual(['Summary', 'Method']);
    const quiet = await open(buildRunFacts(), buildToReview([]));
    expect(names(quiet.sheets)).toContain('To review');
  });

  it('says on each sheet and each printed page that a test is no evidence, and nothing of the kind otherwise', async () => {
    const reported = async (mode: RunFacts['mode']) => {
      const { sheets } = await open(buildRunFacts({ mode }), buildToReview([buildWaitingAlert()]));
      return sheets.map(({ rows, headerFooter }) => [
        String(rows[0]?.[0]).startsWith('TEST: not evidence'),
        headerFooter?.oddHeader?.includes('TEST: not evidence') ?? false,
      ]);
    };
    expect(new Set((await reported('test')).flat())).toEqual(new Set([true]));
    expect(new Set((await reported('live')).flat())).toEqual(new Set([false]));
  });

  it('says what did not fit and where all of it is', async () => {
    const { find } = await open(buildRunFacts(), buildToReview([buildWaitingAlert()], 12_345));
    expect(find('To review')?.rows[0]?.[0]).toBe(
      'Only the first 1 of 12,345 open alerts are listed: new ones, then the most urgent. For all of them, run: nightscreen review export --out review.csv',
    );
    const notScreened = Array.from({ length: maxTableRows + 1 }, () => buildNotScreened());
    const section = toNotScreenedSection({ ...toReport(buildRunFacts()), notScreened });
    const sheet = section && toReadOnlySheet(section, 2, []);
    const [first] = sheet?.listRows('UTC') ?? [];
    expect(first?.cells).toEqual([
      'Only the first 20,000 of 20,001 lines are listed. All of them are in not-screened.csv.',
    ]);
    expect(sheet?.table).toEqual({ headerRow: 2, rows: maxTableRows, firstColumns: 2 });
  });

  it('takes no name for a formula or markup, whatever it begins with, and shows what hides', async () => {
    const texts = injectionPayloads.map(({ text }) => text);
    const parties = texts.map((text) => buildParty({ reference: text, name: text, countries: [text] }));
    const listed = texts.map((text) => buildMatch({ id: text, name: text, schema: text, topics: [text] }));
    const changes = parties.map((party, at) => buildChange({ changeId: at + 1, party, after: listed[at] ?? null }));
    const alerts = parties.map((party, at) => buildWaitingAlert({ party, listed: listed[at] ?? buildMatch() }));
    const [first = ''] = texts;
    const facts = buildRunFacts({
      roster: first,
      organisation: first,
      stateReasons: texts,
      changes,
      counts: buildCounts({ changes: changes.length }),
    });
    const { sheets, column } = await open(facts, buildToReview(alerts));
    expect(texts.length).toBeGreaterThanOrEqual(200);
    expect(column('To review', 'Name')).toEqual(texts.map((text) => toWorkbookText(text)));
    expect(column('All changes', 'Listed party now').toSorted()).toEqual(
      texts.map((text) => toWorkbookText(text)).toSorted(),
    );
    const cells = sheets.flatMap((sheet) => [...(sheet.cells?.values() ?? [])]);
    expect(cells.filter(({ formula, hyperlink }) => formula !== undefined || hyperlink !== undefined)).toEqual([]);
  });
});
