import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { readXlsx } from 'hucre/xlsx';
import { describe, expect, it } from 'vitest';
import { renderCsv } from '../../../src/reports/csv.js';
import { renderHtml } from '../../../src/reports/html-page.js';
import { renderChangesCsv } from '../../../src/reports/lists.js';
import { maskReport } from '../../../src/reports/mask-report.js';
import { toReport } from '../../../src/reports/report.js';
import type { RunFacts, ToReviewFacts } from '../../../src/reports/run-facts.js';
import { formatCount, formatDuration, formatTime, toVisibleLines, toVisibleText } from '../../../src/reports/text.js';
import { renderReportWorkbook } from '../../../src/reports/workbook-report.js';
import { renderRejectsCsv } from '../../../src/reports/write-report.js';
import { buildEventfulFacts } from '../../helpers/eventful-run-facts.js';
import { isFullSize } from '../../helpers/figures.js';
import { collectBytes, joinChunks, readReportJson } from '../../helpers/report-files.js';
import {
  buildBigFacts,
  buildChange,
  buildControl,
  buildCounts,
  buildHistory,
  buildManyChanges,
  buildMatch,
  buildNotScreened,
  buildParty,
  buildRedFacts,
  buildRunFacts,
  buildSweepFacts,
  buildToReview,
  buildWaitingAlert,
} from '../../helpers/run-facts.js';

const toHtml = (facts: RunFacts, toReview: ToReviewFacts | null = null): Promise<string> =>
  joinChunks(renderHtml(toReport(facts, toReview)));
const parseCsv = (text: string): string[][] => parse(text, { bom: true });
const readCsv = async (chunks: Iterable<string> | AsyncIterable<string>): Promise<string[][]> =>
  parseCsv(await joinChunks(chunks));

describe('report.html', () => {
  it('needs nothing from outside', async () => {
    const page = await toHtml(buildEventfulFacts());
    expect(page).not.toMatch(/(src|href)="(?!#)/);
    expect(page).not.toMatch(/url\(|@import/);
  });

  it('a test key is marked as no evidence, a live key is not', async () => {
    expect(await toHtml(buildEventfulFacts())).toContain('TEST: not evidence');
    expect(await toHtml(buildRunFacts())).not.toContain('TEST: not evidence');
  });

  it('a quiet night says that nothing changed and what was checked', async () => {
    const page = await toHtml(buildRunFacts());
    expect(page).toContain('No match changed.');
    expect(page).toContain('480 customers with 470 searches');
    expect(page).toContain('All customers in scope are screened.');
    expect(page).not.toContain('id="dossiers"');
  });

  it('a red run says so before anything else', async () => {
    const page = await toHtml(buildRedFacts());
    expect(page.indexOf('Red: do not rely on this run')).toBeLessThan(page.indexOf('id="coverage"'));
    expect(page).toContain('no hit among 0 results for a listed party');
  });

  it('a sweep on its own has no screening sections', async () => {
    const page = await toHtml(buildSweepFacts());
    expect(page).toContain('Not proven complete');
    for (const id of ['coverage', 'changes', 'not-screened', 'rejects', 'controls'])
      expect(page).not.toContain(`id="${id}"`);
  });

  it('of a screening that read no roster says by which import it went, and adds up no rows', async () => {
    const { rosterSource } = buildRunFacts();
    const importedAt = new Date('2026-11-19T08:30:00Z');
    const counts = buildCounts({ rows: 0, customers: 0 });
    const facts = buildRunFacts({
      kind: 'screen',
      state: 'stopped',
      counts,
      rosterSource: rosterSource && { ...rosterSource, importedAt },
    });
    const page = await toHtml(facts);
    expect(page).not.toContain('<i>rows</i>');
    expect(page).toContain('This run imported no roster: its scope comes from the import of');
    expect(page).toContain('<time datetime="2026-11-19T08:30:00.000Z">');
    expect(await toHtml(buildRunFacts())).toContain('<i>rows</i>');
  });

  it('of an import says that it screened nobody, and has no health of calls that it never made', async () => {
    const counts = buildCounts({ inScope: 0, planned: 0, screened: 0, reused: 0, skipped: 0, searches: 0 });
    const facts = buildRunFacts({ kind: 'import', states: null, counts, skippedBecause: {}, attemptsByOutcome: {} });
    const page = await toHtml(facts);
    expect(page).toContain('This run only imported the roster: it screened no customer.');
    expect(page).toContain('<i>rows</i>');
    expect(page).not.toContain('id="health"');
  });

  it('without controls says that there are none', async () => {
    expect(await toHtml(buildRunFacts({ controls: [] }))).toContain('No control search is configured');
  });

  it('no list that is empty reads as clear where customers are not screened, or the run is red', async () => {
    const { states } = buildRunFacts();
    const partial = await toHtml(
      buildRunFacts({
        state: 'stopped',
        states: states && { ...states, clear: states.clear - 1, not_screened: states.not_screened + 1 },
        counts: buildCounts({ screened: buildCounts().screened - 1, remaining: 1 }),
        notScreened: [buildNotScreened({ outcome: 'remaining', reason: 'remaining' })],
      }),
    );
    expect(partial).toContain('No match of the screened customers changed');
    expect(partial).not.toContain('No match changed');
    const red = await toHtml(buildRunFacts({ state: 'incomplete', controls: [buildControl({ verdict: 'failed' })] }));
    expect(red).toContain('This list is empty, but do not rely on this run.');
    expect(red).not.toContain('left unscreened');
  });

  it('with 2,000 open alerts each alert is on the page, which stays below 5 MB', async () => {
    const alerts = Array.from({ length: 2_000 }, (_, index) =>
      buildWaitingAlert({ mark: `N${index}-ABCDEFGHJK-0`, party: buildParty({ reference: `W-${index}` }) }),
    );
    const { openAlerts } = buildManyChanges(3, 3).facts;
    const waiting = openAlerts && { ...openAlerts, waiting: 2_000 };
    const page = await toHtml({ ...buildBigFacts(500), openAlerts: waiting }, buildToReview(alerts));
    expect(new Set(page.match(/N\d+-ABCDEFGHJK-0/g)).size).toBe(2_000);
    expect(Buffer.byteLength(page)).toBeLessThan(5_000_000);
  });

  it('of first screenings too long to hold are read from the list, and the workbook counts them all', async () => {
    const build = (first: number, count: number, isSanctionHit: boolean) =>
      Array.from({ length: count }, (_, index) =>
        buildChange({
          changeId: first + index,
          severity: 'high',
          isSanctionHit,
          party: buildParty({ reference: `N-${first + index}`, name: 'Amal Haddad' }),
        }),
      );
    const held = build(0, 150, true);
    const none = { critical: 0, high: 0, medium: 0, low: 0, info: 0 };
    const nobody = { count: 0, sanctionHits: 0, currentHits: 0 };
    const noCounts = { critical: nobody, high: nobody, medium: nobody, low: nobody, info: nobody };
    const readAll = async function* () {
      yield [...held, ...build(150, 150, false)];
    };
    const facts = buildRunFacts({
      baseline: { ...none, high: 300 },
      baselineChanges: held,
      cut: {
        notScreened: null,
        changes: null,
        baseline: {
          lines: 300,
          bySeverity: { ...noCounts, high: { count: 300, sanctionHits: 150, currentHits: 150 } },
          read: readAll,
          readOf: readAll,
        },
      },
    });
    const page = await toHtml(facts);
    expect(page.match(/>N-\d+</g)).toHaveLength(200);
    expect(page).toContain('The first 200 of 300 are shown; all of them are in <code>changes.csv</code>');
    expect(toReport(facts).baseline).toMatchObject([{ severity: 'high', count: 300, sanctionHits: 150 }]);
    let masked = '';
    for await (const chunk of renderHtml(maskReport(toReport(facts)))) masked += chunk;
    expect(masked.match(/>N-\d+</g)).toHaveLength(200);
    expect(masked).not.toContain('Haddad');
  });

  it('long lists are cut at 200, and the page says where the rest is', async () => {
    const many = (severity: 'high' | 'low'): RunFacts['changes'] =>
      Array.from({ length: 250 }, (_, index) =>
        buildChange({
          changeId: index,
          severity,
          matchId: `m-${index}`,
          isSanctionHit: severity === 'high',
          after: buildMatch({ id: `m-${index}` }),
          party: buildParty({ reference: `${severity}-${index}` }),
        }),
      );
    const changes = [...many('high'), ...many('low')];
    const page = await toHtml(buildRunFacts({ changes, counts: buildCounts({ changes: 500 }) }));
    expect(page.match(/>high-\d+</g)).toHaveLength(200);
    expect(page.match(/>low-\d+</g)).toHaveLength(200);
    expect(page).toContain('The first 200 of 250 are shown; all of them are in <code>changes.csv</code>');
    expect(page).toContain('500 changes');
  });

  it('what touched many customers alike is one line, and the file says who they are', async () => {
    const changes = Array.from({ length: 250 }, (_, index) =>
      buildChange({
        changeId: index,
        severity: 'info',
        kind: 'match_rekeyed',
        before: buildMatch(),
        party: buildParty({ reference: `rekeyed-${index}` }),
      }),
    );
    const facts = buildRunFacts({ changes, counts: buildCounts({ changes: 250 }) });
    const page = await toHtml(facts);
    expect(page.match(/>rekeyed-\d+</g)).toHaveLength(3);
    expect(page).toContain('<b>250 customers</b>: Same party with a new id');
    const report = toReport(facts);
    const rows = await readCsv(renderChangesCsv(report));
    expect(rows.filter((row) => row.includes('G1'))).toHaveLength(250);
    const document = await readReportJson(report);
    expect(document.groups).toMatchObject([{ name: 'G1', customers: 250, changes: 250 }]);
    expect(document.changes?.every(({ group }) => group === 'G1')).toBe(true);
  });
});

describe('the CSV files', () => {
  it('text comes back as it was, but for the apostrophe before a formula and what cannot be seen', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.integer()), { minLength: 1 }), (lines) => {
        const columns = [
          { key: 'text', cell: (line: [string, number]) => line[0] },
          { key: 'number', cell: (line: [string, number]) => line[1] },
        ];
        const [header, ...rows] = parseCsv([...renderCsv(columns, lines)].join(''));
        expect(header).toEqual(['text', 'number']);
        expect(rows).toHaveLength(lines.length);
        for (const [index, [text, number]] of lines.entries()) {
          expect(rows[index]?.[0]?.replaceAll("'", '')).toBe(toVisibleLines(text).replaceAll("'", ''));
          expect(rows[index]?.[1]).toBe(String(number));
        }
      }),
      { numRuns: isFullSize ? 100 : 30 },
    );
  });

  it('open in a spreadsheet as UTF-8 and end their lines with CR LF', async () => {
    const text = await joinChunks(renderChangesCsv(toReport(buildEventfulFacts())));
    expect(text.startsWith('\ufeffseverity,reference,name,what,')).toBe(true);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  it('hold every change, every match of a first screening, and the changes of dossiers', async () => {
    const rows = await readCsv(renderChangesCsv(toReport(buildEventfulFacts())));
    const about = rows[0]?.indexOf('about') ?? -1;
    expect(rows.slice(1).map((row) => row[about])).toEqual([
      ...Array(8).fill('match'),
      ...Array(3).fill('first_screening'),
      'dossier',
      'dossier',
    ]);
  });

  it('rejects.csv gives the fields back under the headers of the source', async () => {
    const [header, first] = await readCsv(renderRejectsCsv(toReport(buildEventfulFacts())));
    expect(header?.slice(0, 6)).toEqual(['customer_id', 'type', 'name', 'birth_date', 'countries', 'rejected_line']);
    expect(first?.slice(0, 5)).toEqual(['C-3001', 'person', '', '1980-02-30', 'DK']);
    expect(first?.slice(5)).toEqual(['12', '', 'name', 'missing_name', 'no name', 'empty', 'C-3001', '', 'rejected']);
  });
});

describe('report.json', () => {
  it.each([
    ['an eventful night', buildEventfulFacts()],
    ['a quiet night', buildRunFacts()],
    ['a sweep', buildSweepFacts()],
  ])('%s follows the schema and keeps every text as it came', async (_name, facts) => {
    const report = toReport(facts);
    const document = await readReportJson(report);
    expect(document.rejects?.map((row) => Object.fromEntries(row.fields)) ?? []).toEqual(
      facts.counts === null ? [] : facts.rejects.map((row) => row.fields),
    );
  });
});

describe('times', () => {
  it('are on the reviewers\u2019 clock on the page and in the workbook, which name the zone; report.json and CSV stay in UTC', async () => {
    const alert = buildWaitingAlert({ dueAt: new Date('2026-11-21T23:30:00Z') });
    const { openAlerts } = buildManyChanges(3, 3).facts;
    const facts = buildRunFacts({ ...buildHistory(), openAlerts, timezone: 'Asia/Kathmandu' });
    const report = toReport(facts, buildToReview([alert]));
    const page = await joinChunks(renderHtml(report));
    expect(page).toContain('Times are in Asia/Kathmandu.');
    expect(page).toContain('>2026-11-21 07:49</time>');
    expect(page).toContain('2026-11-22 05:15');
    expect(page.replaceAll(/ datetime="[^"]*"/g, '')).not.toContain('2026-11-21 02:04');
    const { sheets } = await readXlsx(await collectBytes(renderReportWorkbook(report)));
    const cells = sheets.flatMap(({ rows }) => rows.flat()).map(String);
    expect(cells).toContain('Times are in Asia/Kathmandu.');
    expect(cells).toContain('2026-11-22 05:15');
    expect(cells.join('\n')).not.toMatch(/2026-11-21 02:04| UTC/);
    expect(await readReportJson(report)).toMatchObject({ run: { finishedAt: '2026-11-21T02:04:15.480Z' } });
  });
});

describe('figures', () => {
  it('are written the same everywhere', () => {
    expect([0, 999, 1000, 1234567, 0.0001, 1000.5].map(formatCount)).toEqual([
      '0',
      '999',
      '1,000',
      '1,234,567',
      '0.0001',
      '1,000.5',
    ]);
    expect(formatTime(new Date('2026-11-21T02:04:15.480Z'))).toBe('2026-11-21 02:04:15 UTC');
    expect(formatDuration(new Date(0), new Date(3_725_000))).toBe('1 h 2 min');
  });

  it('what cannot be seen is shown by its code point, joiners stay', () => {
    expect(toVisibleText('a\u202eb\u0000')).toBe('a[U+202E]b[U+0000]');
    expect(toVisibleText('می\u200cخواهم')).toBe('می\u200cخواهم');
  });
});
