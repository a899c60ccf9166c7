import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { expect, it } from 'vitest';
import { listSheetName, renderWorkingListWorkbook, type WorkbookFacts } from '../../../../src/reports/review-list.js';
import type { WaitingAlert } from '../../../../src/reports/run-facts.js';
import { openListTable } from '../../../../src/runs/review/list-table.js';
import { isFullSize } from '../../../helpers/figures.js';
import { makeWorkbook } from '../../../helpers/make-workbook.js';
import { collectBytes } from '../../../helpers/report-files.js';
import { buildParty, buildWaitingAlert, makeMatch } from '../../../helpers/run-facts.js';

const folder = await mkdtemp(join(tmpdir(), 'nightscreen-workbook-'));
const at = new Date('2026-11-20T10:00:00Z');
const toAlert = (name: string, mark = 'N1'): WaitingAlert => {
  const party = buildParty({ reference: '007', name, birthDate: null, countries: [], riskTier: null });
  return buildWaitingAlert({ mark, openedAt: at, party, listed: makeMatch({ id: '12E5', name }) });
};
const facts = {
  sheetId: 7,
  exportedAt: at,
  timezone: 'UTC',
  waiting: 1,
  importCommand: 'nightscreen review import x',
  wholeListCommand: 'nightscreen review export',
  allColumns: true,
};

const render = (alerts: readonly WaitingAlert[], about: WorkbookFacts, maxRows?: number): Promise<Buffer> =>
  collectBytes(renderWorkingListWorkbook(alerts, about, maxRows));

const required = ['alert', 'disposition', 'reason'];
let files = 0;
async function open(content: Uint8Array | string, ending = 'xlsx') {
  files += 1;
  const path = join(folder, `${files}.${ending}`);
  await writeFile(path, content);
  const table = await openListTable(path, { names: required, required, origin: 'a list', isTrace: () => false });
  const rows: (readonly [number, string, string])[] = [];
  for await (const { line, pick } of table.rows) rows.push([line, pick('alert'), pick('name')]);
  return rows;
}

it('a workbook shows every column of the list, and only what is to be filled in is open to be written to', async () => {
  const bytes = await render([toAlert('A')], facts);
  const [sheet, guide] = (await readXlsx(bytes, { readStyles: true })).sheets;
  expect([sheet?.name, guide?.name]).toEqual([listSheetName, 'How to']);
  expect(new Set(sheet?.rows[0]).size).toBe(50);
  expect(sheet?.rows[0]?.slice(0, 8)).toEqual([
    'Disposition',
    'Reason',
    'Comment',
    'Severity',
    'Customer',
    'Name',
    'Listed party',
    'Risk categories',
  ]);
  expect(sheet?.protection).toMatchObject({ sheet: true, autoFilter: true, sort: true });
  expect(sheet?.protection?.password).toBeUndefined();
  expect(sheet).toMatchObject({ freezePane: { rows: 1 }, autoFilter: { range: 'A1:AX2' } });
  const unlocked = (sheet?.rows[0] ?? []).filter(
    (_, column) => sheet?.cells?.get(`1,${column}`)?.style?.protection?.locked === false,
  );
  expect(unlocked).toEqual(['Disposition', 'Reason', 'Comment']);
  expect(sheet?.dataValidations).toMatchObject([
    {
      type: 'list',
      values: ['true match', 'false positive', 'inconclusive', 'no longer matched'],
      range: 'A2:A2',
      showErrorMessage: true,
    },
    { type: 'list', range: 'B2:B2', showInputMessage: true },
    { type: 'custom', range: 'D2:AX2', showErrorMessage: true },
  ]);
});

it('a list has ten columns, the ones to fill in first, and further ones only where a row fills them', async () => {
  const listHeadings = async (alerts: readonly WaitingAlert[]) => {
    const about = { ...facts, allColumns: false };
    return (await readXlsx(await render(alerts, about))).sheets[0]?.rows[0];
  };
  const usual = ['Disposition', 'Reason', 'Comment', 'Severity', 'Customer', 'Name', 'Listed party', 'Risk categories'];
  expect(await listHeadings([toAlert('A')])).toEqual([...usual, 'Alert', 'Sheet']);
  const bulk = { ...toAlert('B'), bulk: { alerts: 2, sample: ['C-1'] } };
  expect((await listHeadings([toAlert('A'), bulk]))?.slice(10)).toEqual([
    'Alerts in this row',
    'Customers to check as a sample',
  ]);
});

it('names come back as they are and are never a formula, in whatever script they are written', async () => {
  const starts = fc.constantFrom('', '=', '+', '-', '@', '=1+', "'", '00', '=HYPERLINK("x")');
  const names = fc.constantFrom(
    '1',
    'cmd|x',
    'محمد بن علي',
    'יוסף',
    '山田 太郎',
    'Þóra <&> "q"',
    '_x0041_',
    'a\nb',
    '😀',
  );
  const name = fc.tuple(starts, names).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 12 }), async (list) => {
      const bytes = await render(
        list.map((one, index) => toAlert(one, `N${index}`)),
        facts,
      );
      expect(await open(bytes)).toEqual(list.map((one, index) => [index + 2, `N${index}`, one]));
      const [sheet] = (await readXlsx(bytes)).sheets;
      expect([...(sheet?.cells?.values() ?? [])].filter(({ formula }) => formula !== undefined)).toEqual([]);
    }),
    { numRuns: isFullSize ? 15 : 5 },
  );
});

it('what cannot be seen but misleads is shown by its number, and what no workbook can hold is cut', async () => {
  const [hidden, long] = await open(
    await render([toAlert('a\u202eb\u0000\uffff'), toAlert(`${'x'.repeat(31_999)}😀😀`)], facts),
  );
  expect(hidden?.[2]).toBe('a[U+202E]b[U+0000]\ufffd');
  expect(long?.[2]).toBe(`${'x'.repeat(31_999)} ...`);
});

it('what does not fit is said on both sheets, and is no row of the list when it is read back', async () => {
  const alerts = ['N1', 'N2', 'N3'].map((mark) => toAlert('A', mark));
  const bytes = await render(alerts, { ...facts, waiting: 3 }, 2);
  const notice =
    'Only the first 2 of 3 open alerts are listed: new ones, then the most urgent. For all of them, run: nightscreen review export';
  const texts = (await readXlsx(bytes)).sheets.map(({ rows }) => rows.flat());
  expect(texts.map((cells) => cells.includes(notice))).toEqual([true, true]);
  expect((await open(bytes)).map(([, alert]) => alert)).toEqual(['N1', 'N2', '']);
});

it('the list is found on whatever sheet and below a title, and lines are rows of the sheet', async () => {
  const rows = [['My title'], [], ['Reason', 'DISPOSITION', 'alert '], ['r', 'true_match', 'N1'], [], [null, null, 5]];
  const bytes = await writeXlsx({
    sheets: [
      { name: 'Notes', rows: [['nothing']] },
      { name: 'Mine', rows },
    ],
  });
  expect((await open(bytes)).map(([line, alert]) => [line, alert])).toEqual([
    [4, 'N1'],
    [6, '5'],
  ]);
});

it('a file that is no list says what it is and what to do', async () => {
  const bytes = await render([toAlert('A')], facts);
  await expect(open('')).rejects.toThrow(/is empty/);
  await expect(open('PK\x03\x04')).rejects.toThrow(/is damaged or incomplete/);
  await expect(open(bytes.subarray(0, bytes.length - 100))).rejects.toThrow(/is damaged or incomplete/);
  await expect(open(Buffer.from('d0cf11e0a1b11ae1', 'hex'))).rejects.toThrow(/\(\.xls\), or a file with a password/);
  await expect(open('%PDF-1.7', 'csv')).rejects.toThrow(/is a PDF, not CSV/);
  await expect(open(await writeXlsx({ sheets: [{ name: 'A', rows: [] }] }))).rejects.toThrow(/only empty sheets/);
  await expect(open(await writeXlsx({ sheets: [{ name: 'A', rows: [['alert']] }] }))).rejects.toThrow(
    /no column disposition, reason/,
  );
  const mixed = Buffer.concat([
    Buffer.from('alert;disposition;reason\nN1;true_match;fór\n', 'latin1'),
    Buffer.from('N2;true_match;fór\n'),
  ]);
  await expect(open(mixed, 'csv')).rejects.toThrow(/in two encodings: line 3 is UTF-8, line 2 is/);
});

it('a workbook that unpacks to more than it says, or says too much, is refused before it is unpacked', async () => {
  const bytes = await render([toAlert('A')], facts);
  const patch = (unpacked: number): Buffer => {
    const copy = Buffer.from(bytes);
    const entry = copy.lastIndexOf('xl/worksheets/sheet1.xml') - 46;
    expect(copy.readUInt32LE(entry)).toBe(0x02014b50);
    copy.writeUInt32LE(unpacked, entry + 24);
    return copy;
  };
  await expect(open(patch(2_000_000_000))).rejects.toThrow(/unpacks to more than 200 times its size/);
  await expect(open(patch(0))).rejects.toThrow(/is damaged or incomplete/);
  await expect(open(patch(50))).rejects.toThrow(/is damaged or incomplete/);
});

it('cells come as in a roster: formulas by their stored value, days as days, and hidden sheets are read too', async () => {
  const toRow = (at: number, cells: string): string => `<row r="${at}">${cells}</row>`;
  const shared = (at: number): string => `<c t="s"><v>${at}</v></c>`;
  const headings = toRow(1, [0, 1, 2, 3].map(shared).join(''));
  const formula = '<c t="str"><f>"true"&amp;"_match"</f><v>true_match</v></c>';
  const sheets = {
    Open: [
      headings,
      toRow(2, `<c t="inlineStr"><is><t>N1</t></is></c>${formula}${shared(4)}<c s="1"><v>27896</v></c>`),
    ],
    Mine: [headings, toRow(3, '<c><v>12345678901</v></c>')],
  };
  const texts = [
    '<t>alert</t>',
    '<t>disposition</t>',
    '<t>reason</t>',
    '<t>name</t>',
    '<r><t>not </t></r><r><t>him</t></r>',
  ];
  const made = { sheets, texts, formats: ['dd.mm.yyyy'], hidden: ['Mine'], is1904: true };
  expect(await open(await makeWorkbook(made))).toEqual([
    [2, 'N1', '1980-05-17'],
    [3, '12345678901', ''],
  ]);
  const unsaved = { A: [headings, toRow(2, '<c t="inlineStr"><is><t>N1</t></is></c><c><f>A1</f></c>')] };
  await expect(open(await makeWorkbook({ ...made, sheets: unsaved }))).rejects.toThrow(/formula without its value/);
});
