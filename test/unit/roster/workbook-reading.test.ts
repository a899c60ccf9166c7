import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MadeWorkbook, makeWorkbook, toRows } from '../../helpers/make-workbook.js';
import { type CsvOptions, collectTable, failCsv, openCsv, readCsv, withFiles } from './open-csv.js';

const read = async (given: MadeWorkbook, options: CsvOptions = {}) => readCsv(await makeWorkbook(given), options);
const fail = async (given: MadeWorkbook, options: CsvOptions = {}) => failCsv(read(given, options));

/** The text of one cell by its XML, in a workbook with this format as style 1. */
async function readCell(cell: string, format = 'General', others: Partial<MadeWorkbook> = {}): Promise<string> {
  const rows = ['<row r="1"><c r="A1" t="str"><v>h</v></c><c r="B1" t="str"><v>k</v></c></row>'];
  const row = `<row r="2"><c r="A2" t="str"><v>x</v></c>${cell}</row>`;
  const { records } = await read({ sheets: { A: [...rows, row] }, formats: [format], ...others });
  return records[0]?.fields[1] ?? '';
}
const numbered = (stored: string): string => `<c r="B2" s="1"><v>${stored}</v></c>`;

describe('a cell of a workbook', () => {
  it.each([
    ['a day', '29358', 'yyyy\\-mm\\-dd', '1980-05-17'],
    ['a day in a local format', '29358', '[$-407]d. mmmm yyyy;@', '1980-05-17'],
    ['a day with a time', '29358.75', 'dd/mm/yyyy hh:mm', '1980-05-17'],
    ['a month', '29342', 'mmm yyyy', '1980-05'],
    ['a year', '29342', 'yyyy', '1980'],
    ['the first day', '1', 'd/m/yy', '1900-01-01'],
    ['the day before the one that never was', '59', 'd/m/yy', '1900-02-28'],
    ['the day that never was', '60', 'd/m/yy', '1900-02-29'],
    ['the day after it', '61', 'd/m/yy', '1900-03-01'],
    ['no day', '0', 'd/m/yy', '0'],
    ['a time', '0.5', 'hh:mm', '0.5'],
  ])('gives %s as the day that it is', async (_, stored, format, expected) => {
    expect(await readCell(numbered(stored), format)).toBe(expected);
  });

  it('counts days from where the workbook does', async () => {
    expect(await readCell(numbered('27896'), 'yyyy-mm-dd', { is1904: true })).toBe('1980-05-17');
    expect(await readCell(numbered('0'), 'yyyy-mm-dd', { is1904: true })).toBe('1904-01-01');
    const parts = { 'docProps/app.xml': '<Properties><Application>LibreOffice/7.4</Application></Properties>' };
    expect(await readCell(numbered('2'), 'yyyy-mm-dd', { parts })).toBe('1900-01-01');
    expect(await readCell('<c r="B2" t="d"><v>1980-05-17T00:00:00</v></c>')).toBe('1980-05-17');
  });

  it.each([
    ['leading zeros', '71', '000000', '000071'],
    ['a letter and zeros', '71', '"K-"0000', 'K-0071'],
    ['a letter and any number', '71', '"K-"General', 'K-71'],
    ['groups', '123456789', '000-00-0000', '123-45-6789'],
    ['more digits than zeros', '1234567', '\\K0000', 'K1234567'],
    ['thousands, which are no part of an id', '1234567', '#,##0', '1234567'],
    ['eleven digits, which the spreadsheet shows rounded', '12345678901', 'General', '12345678901'],
    ['digits as a Java program writes them', '1.2345678E7', 'General', '12345678'],
    ['a decimal zero', '71.0', 'General', '71'],
    ['a rounded number', '1234567890123450', '0', '1.23456789012345E+15'],
    ['a rounded power', '1E+16', 'General', '1.0E+16'],
    ['a fraction', '12.5', '0.00', '12.5'],
  ])('gives an id with %s', async (_, stored, format, expected) => {
    expect(await readCell(numbered(stored), format)).toBe(expected);
  });

  it.each([
    ['a number', '<c r="B2"><f>A1*2</f><v>42</v></c>', '42'],
    ['a text', '<c r="B2" t="str"><f>A1&amp;"x"</f><v>Ann &amp; Co</v></c>', 'Ann & Co'],
    ['an empty text', '<c r="B2" t="str"><f>""</f><v></v></c>', ''],
    ['another formula', '<c r="B2"><f t="shared" si="0"/><v>7</v></c>', '7'],
    ['an error', '<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c>', '#DIV/0!'],
  ])('gives the stored value of a formula: %s', async (_, cell, expected) => {
    expect(await readCell(cell)).toBe(expected);
  });

  it.each([
    '<c r="B2"><f>A1*2</f></c>',
    '<c r="B2"><f>A1*2</f><v/></c>',
    '<c r="B2" t="str"><f>A1</f></c>',
    '<c r="B2"><f t="shared" si="0"/><v></v></c>',
  ])('refuses a formula without its value and names the cell: %s', async (cell) => {
    const sheets = { Kunden: ['<row r="1"><c t="str"><v>h</v></c></row>', `<row r="2">${cell}</row>`] };
    expect(await fail({ sheets })).toMatchObject({
      code: 'formula_without_value',
      message: expect.stringContaining('the cell B2 on the sheet Kunden'),
    });
  });

  it.each([
    ['a shared text', '<c r="B2" t="s"><v>1</v></c>', 'Ölmann'],
    ['a rich text without its pronunciation', '<c r="B2" t="s"><v>0</v></c>', 'Anna Maria'],
    [
      'an inline text',
      '<c r="B2" t="inlineStr"><is><r><t>A</t></r><r><t xml:space="preserve"> B</t></r></is></c>',
      'A B',
    ],
    ['marked text', '<c r="B2" t="inlineStr"><is><t/><t><![CDATA[A & B]]></t></is></c>', 'A & B'],
    ['a line break', '<c r="B2" t="str"><v>A_x000A_B</v></c>', 'A\nB'],
    ['an escaped escape', '<c r="B2" t="str"><v>_x005F_x000A_</v></c>', '_x000A_'],
    ['a truth value', '<c r="B2" t="b"><v>1</v></c>', 'TRUE'],
  ])('gives %s', async (_, cell, expected) => {
    const texts = [
      '<r><t xml:space="preserve">Anna </t></r><r><t>Maria</t></r><rPh sb="0"><t>x</t></rPh>',
      '<t>Ölmann</t>',
    ];
    expect(await readCell(cell, 'General', { texts })).toBe(expected);
  });
});

const header = ['customer_id', 'name', 'land'];
const mapped = ['customer_id', 'name'];
const table = [header, ['1', 'Ann', 'de'], ['2', 'Bob', '']];

describe('a workbook', () => {
  it('gives the rows, headers and digest that a CSV file gives', async () => {
    const cell = fc.stringMatching(/^[a-zA-Z0-9äß&<>"',;=_ -]{0,8}$/).map((text) => text.trim());
    const rows = fc.array(fc.tuple(fc.stringMatching(/^[a-z]{1,4}$/), cell, cell), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(rows, async (given) => {
        const ofBook = await read({ sheets: { A: toRows([header, ...given]) } }, { mapped });
        const ofCsv = await readCsv(stringify([header, ...given], { quoted: true }), { mapped, delimiter: ',' });
        expect(ofBook).toEqual({ ...ofCsv, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
      }),
      { numRuns: 30 },
    );
  });

  it('names each row by its number, counts blank ones, and rejects one that is wider than the header', async () => {
    const rows = [
      '<row r="2"><c r="A2" t="str"><v>customer_id</v></c><c r="C2" t="str"><v>name</v></c></row>',
      '<x:row r="3" spans="1:3"/><row r="5"><c r="C5" t="str"><v>Ann</v></c><c r="D5" s="0"/></row>',
      '<row hidden="1"><c><v>2</v></c><c/><c/><c><v>9</v></c></row>',
    ];
    const { headers, records, tally } = await read({ sheets: { A: rows } }, { mapped });
    expect(headers).toEqual(['customer_id', '', 'name']);
    expect(records).toEqual([
      { line: 5, file: null, fields: ['', '', 'Ann'], fault: null },
      { line: 6, file: null, fields: ['2', '', '', '9'], fault: 'wrong_column_count' },
    ]);
    expect(tally).toEqual({ lines: 6, headers: 1, blanks: 3, continuations: 0, records: 2 });
  });

  it('is read from a header below a title, which is found, and without a header', async () => {
    const sheets = { A: toRows([['Clients', '', ''], ['', '', ''], ...table]) };
    await withFiles({ 'a.xlsx': await makeWorkbook({ sheets }) }, async (folder) => {
      const reading = await openCsv(join(folder, 'a.xlsx'));
      await reading.close();
      expect(reading.lowerHeader).toEqual({ line: 3 });
    });
    const below = await read({ sheets }, { header: 3, mapped });
    expect(below.headers).toEqual(header);
    expect(below.tally).toMatchObject({ lines: 5, headers: 3, blanks: 0, records: 2 });
    const bare = await read({ sheets: { A: toRows(table.slice(1)) } }, { header: false });
    expect(bare.headers).toEqual(['1', '2', '3']);
    expect(bare.records).toHaveLength(2);
    expect((await fail({ sheets }, { header: 9 })).code).toBe('roster_empty');
  });

  it('reads the configured sheet, or the first visible one with a value', async () => {
    const sheets = { Listen: toRows([['x']]), Leer: [], Kunden: toRows(table), Hilfe: toRows([['a', 'b']]) };
    const first = await read({ sheets, hidden: ['Listen'] }, { mapped });
    expect(first.records).toHaveLength(2);
    expect((await read({ sheets }, { mapped, sheet: 'Kunden' })).records).toEqual(first.records);
    const missing = await fail({ sheets }, { mapped, sheet: 'Firmen' });
    expect(missing).toMatchObject({
      code: 'sheet_missing',
      message: expect.stringContaining('"Listen", "Leer", "Kunden"'),
    });
    expect((await fail({ sheets: { A: [] } })).code).toBe('roster_empty');
  });

  it.each([
    ['the same headers', table],
    [
      'the mapped headers in another order',
      [
        ['note', 'name', 'x', 'customer_id'],
        ['', 'Cy', '', '3'],
      ],
    ],
    ['the headers below a title', [['Firms'], ...table]],
    ['more rows without a header', table.slice(1)],
  ])('is refused when another sheet has %s, until one is named', async (_, other) => {
    const sheets = { Kunden: toRows(table), Firmen: toRows(other) };
    for (const hidden of [[], ['Firmen']]) {
      const error = await fail({ sheets, hidden }, { mapped });
      expect(error).toMatchObject({ code: 'sheets_alike', message: expect.stringContaining('"Kunden", "Firmen"') });
    }
    expect((await read({ sheets }, { mapped, sheet: 'Kunden' })).records).toHaveLength(2);
  });

  it('is one of several files of a roster, with the same columns', async () => {
    const book = await makeWorkbook({ sheets: { A: toRows(table) } });
    await withFiles({ 'a.csv': 'customer_id,name,land\n7,Cy,se\n', 'b.xlsx': book }, async (folder) => {
      const { records } = await collectTable(await openCsv(join(folder, '*'), { mapped }));
      expect(records.map(({ fields }) => fields[0])).toEqual(['7', '1', '2']);
    });
  });

  it.each([
    [
      'a sheet that ends too early',
      { 'xl/worksheets/sheet1.xml': '<worksheet><sheetData><row r="1"><c><v>1</v></c></row>' },
    ],
    ['rows that go back', { 'xl/worksheets/sheet1.xml': '<worksheet><row r="2"><c/></row><row r="1"/></worksheet>' }],
    [
      'a cell without an end',
      { 'xl/worksheets/sheet1.xml': '<worksheet><row><c><v>1</v></c><c><v>2</v></row></worksheet>' },
    ],
    [
      'a cell that comes twice',
      { 'xl/worksheets/sheet1.xml': '<worksheet><row><c r="A1"/><c r="A1"/></row></worksheet>' },
    ],
    [
      'a shared text that is missing',
      { 'xl/worksheets/sheet1.xml': '<worksheet><row><c t="s"><v>9</v></c></row></worksheet>' },
    ],
    ['a link to a sheet that is missing', { 'xl/_rels/workbook.xml.rels': '<Relationships/>' }],
  ])('is refused with %s', async (_, parts) => {
    expect(await fail({ sheets: { A: toRows(table) }, parts })).toMatchObject({ code: 'workbook_unreadable' });
  });

  it('is refused when it is truncated or damaged, and another ZIP file as what it is', async () => {
    const book = await makeWorkbook({ sheets: { A: toRows(table) } });
    const damaged = Buffer.from(book);
    const at = book.indexOf('xl/worksheets/sheet1.xml') + 60;
    damaged[at] = (damaged[at] ?? 0) ^ 0xff;
    for (const bytes of [book.subarray(0, -40), book.subarray(0, 60), damaged]) {
      expect((await failCsv(readCsv(bytes, { mapped }))).code).toBe('workbook_unreadable');
    }
    const other = await fail({ sheets: {}, parts: { '_rels/.rels': '<Relationships/>' } });
    expect(other).toMatchObject({ code: 'not_a_table', message: expect.stringContaining('no Excel workbook') });
  });

  it('is refused when it changes while it is read', async () => {
    const more = Array.from({ length: 600 }, (_, at) => [String(at), `Name ${at}`, 'de']);
    await withFiles(
      { 'a.xlsx': await makeWorkbook({ sheets: { A: toRows([...table, ...more]) } }) },
      async (folder) => {
        const path = join(folder, 'a.xlsx');
        const reading = await openCsv(path, { mapped });
        await appendFile(path, 'x');
        expect((await failCsv(collectTable(reading))).code).toBe('roster_changed');
      },
    );
  });
});
