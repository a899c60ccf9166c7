import { posix } from 'node:path';
import { RosterError } from '../../errors.js';
import { listTags, readAttributes } from '../../xml.js';
import { findHeaderBelow, mostHeaderRows, type ReadRow } from '../header-row.js';
import type { CsvSettings } from '../settings.js';
import { type LineTally, quoteAll, type TableRecord } from '../table-reading.js';
import { openArchive, refuseWorkbook, type WorkbookParts } from './archive.js';
import { type Calendar, decodeText, readStyles, toNumberText, toPlainText } from './cell-text.js';

const maxColumns = 5_000;
const maxRows = 1_048_576;
const maxSheets = 200;
/** The shared texts are held in memory. */
const maxTextBytes = 128 * 1024 * 1024;
const batchSize = 500;
/** So many rows of another sheet are compared with the header. */
const comparedRows = 20;

/** The rows of a sheet with a value, read on demand; a row ends with its last filled cell. */
type FilledRows = AsyncGenerator<ReadRow, void, undefined>;

/** A workbook with the names of its sheets, visible ones first. */
interface OpenedWorkbook {
  sheets: readonly string[];
  readRows(sheet: string): FilledRows;
}

/** Lists the sheets with a value: the one that is read without `csv.sheet` comes first. Throws like `openWorkbookFile`. */
export async function listFilledSheets(path: string): Promise<readonly string[]> {
  const workbook = await openWorkbook(path, path);
  const filled: string[] = [];
  for (const sheet of workbook.sheets) {
    if ((await takeRows(workbook.readRows(sheet), 1)).length > 0) filled.push(sheet);
  }
  return filled;
}

/**
 * Opens a sheet of a workbook (XLSX) and reads its header, with the result of `openCsvFile`. Throws RosterError when the file is no workbook, is
 * damaged or too large, and when another sheet may hold customers too; reading also throws for a formula without a stored value.
 */
export async function openWorkbookFile(
  { path, name, file, tally }: { path: string; name: string; file: string | null; tally: LineTally },
  source: CsvSettings,
  isMapped: (header: string) => boolean,
) {
  const workbook = await openWorkbook(path, name);
  const { sheet, top } = await chooseSheet(workbook, source, name);
  const [first] = top;
  if (first === undefined) {
    throw new RosterError(
      'roster_empty',
      `${name} has no row with a value. Nothing was changed; check the export that writes it.`,
    );
  }
  const width = source.header === false ? Math.max(...top.map(({ cells }) => cells.length)) : first.cells.length;
  const headers = Array.from({ length: width }, (_, index) =>
    source.header === false ? String(index + 1) : (first.cells[index] ?? '').trim().normalize('NFC'),
  );
  if (source.sheet === undefined) await refuseLikeSheets(workbook, sheet, { headers, isMapped, ...source }, name);
  const headerLine = typeof source.header === 'number' ? source.header : 1;
  const headerLines = headerLine - 1 + Number(source.header !== false);
  tally.headers += headerLines;
  tally.blanks += first.line - headerLine;
  tally.lines += headerLines + first.line - headerLine;
  const lastLine = source.header === false ? first.line - 1 : first.line;
  const rows = workbook.readRows(sheet);
  const mayBeTitled = source.header === true && !headers.some(isMapped);
  const records = toRecords(rows, lastLine, (row, blanks): TableRecord => {
    tally.lines += blanks + 1;
    tally.blanks += blanks;
    tally.records += 1;
    const isSound = row.cells.length <= width;
    const padding = Array.from({ length: Math.max(0, width - row.cells.length) }, () => '');
    return { line: row.line, file, fields: [...row.cells, ...padding], fault: isSound ? null : 'wrong_column_count' };
  });
  return {
    headers,
    delimiter: ',',
    lowerHeader: mayBeTitled ? findLowerRow(top) : null,
    records,
    close: async (): Promise<void> => {
      await records.return();
      await rows.return();
    },
  };
}

/** Chooses the configured sheet, or the first with a value, and reads its first rows from the line of the header on. */
async function chooseSheet(workbook: OpenedWorkbook, { sheet, header }: CsvSettings, name: string) {
  const headerLine = typeof header === 'number' ? header : 1;
  const readTop = (each: string) => takeRows(workbook.readRows(each), mostHeaderRows, headerLine);
  if (sheet !== undefined) {
    const found = workbook.sheets.find((each) => each.trim() === sheet);
    if (found !== undefined) return { sheet: found, top: await readTop(found) };
    throw new RosterError(
      'sheet_missing',
      `${name} has no sheet ${JSON.stringify(sheet)}, which \`csv.sheet\` names. Its sheets: ${quoteAll(workbook.sheets)}.`,
    );
  }
  for (const each of workbook.sheets) {
    const top = await readTop(each);
    if (top.length > 0) return { sheet: each, top };
  }
  return { sheet: '', top: [] };
}

/**
 * Throws RosterError `sheets_alike` when another sheet has mapped headers too, or rows as wide as the table: nobody may be left out unseen. Without
 * a header any other sheet with a value may hold customers.
 */
async function refuseLikeSheets(
  workbook: OpenedWorkbook,
  sheet: string,
  {
    headers,
    header,
    isMapped,
  }: Pick<CsvSettings, 'header'> & {
    headers: readonly string[];
    isMapped: (header: string) => boolean;
  },
  name: string,
): Promise<void> {
  const mapped = headers.filter(isMapped);
  const wanted = mapped.length > 0 ? mapped : headers;
  for (const other of workbook.sheets.filter((each) => each !== sheet)) {
    const rows = await takeRows(workbook.readRows(other), comparedRows);
    const hasHeaders = rows.some(({ cells }) => {
      const found = new Set(cells.map((cell) => cell.trim().normalize('NFC')));
      return wanted.filter((each) => found.has(each)).length >= Math.min(2, wanted.length);
    });
    const width = Math.max(0, ...rows.map(({ cells }) => cells.length));
    if (!hasHeaders && width !== headers.length && (header !== false || width === 0)) continue;
    throw new RosterError(
      'sheets_alike',
      `${name}: the sheets ${quoteAll([sheet, other])} may both hold customers, and only one is read. ` +
        `Put all customers on one sheet, or write \`sheet: ${JSON.stringify(sheet)}\` under its \`csv:\`.`,
    );
  }
}

async function takeRows(rows: FilledRows, most: number, firstLine = 1): Promise<readonly ReadRow[]> {
  const taken: ReadRow[] = [];
  for await (const row of rows) {
    if (row.line >= firstLine) taken.push(row);
    if (taken.length === most) break;
  }
  return taken;
}

function findLowerRow(rows: readonly ReadRow[]): { line: number } | null {
  const width = Math.max(...rows.map(({ cells }) => cells.length));
  const even = rows.map(({ line, cells }) => ({
    line,
    cells: Array.from({ length: width }, (_, index) => cells[index]?.trim() ?? ''),
  }));
  const found = findHeaderBelow(even);
  return found === undefined ? null : { line: found.line };
}

/** Gives the rows after a line in batches; `toRecord` receives the count of blank rows before each. */
export async function* toRecords(
  rows: FilledRows,
  lastLine: number,
  toRecord: (row: ReadRow, blanks: number) => TableRecord,
): AsyncGenerator<readonly TableRecord[], void, undefined> {
  let batch: TableRecord[] = [];
  let last = lastLine;
  for await (const row of rows) {
    if (row.line <= last) continue;
    batch.push(toRecord(row, row.line - last - 1));
    last = row.line;
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * Opens a workbook (XLSX). Throws RosterError when the file is none, is damaged or too large. Reading rows also throws for a formula without a
 * stored value, and at the end of a sheet when the file was changed meanwhile.
 */
export async function openWorkbook(path: string, name: string): Promise<OpenedWorkbook> {
  const archive = await openArchive(path, name);
  const root = await findPart(archive, '', 'officeDocument');
  const xml = root === undefined || !/\.xml$/i.test(root.path) ? '' : await archive.readText(root.path);
  const tags = listTags(xml, 'sheet');
  if (root === undefined || tags.length === 0) {
    throw new RosterError(
      'not_a_table',
      `${name} is a ZIP file and no Excel workbook (.xlsx). Unpack it, or save its sheet as .xlsx or CSV UTF-8.`,
    );
  }
  const parts = await listParts(archive, root.path);
  const ofType = (type: string) => parts.find((part) => part.type === type)?.path;
  const sheets = new Map<string, string>();
  const isHidden = (sheet: ReadonlyMap<string, string>): boolean => /hidden/i.test(sheet.get('state') ?? '');
  const listed = [...tags.filter((sheet) => !isHidden(sheet)), ...tags.filter(isHidden)];
  if (listed.length > maxSheets) throw refuseWorkbook(name, `has more than ${maxSheets} sheets`);
  for (const sheet of listed) {
    const part = parts.find(({ id }) => id === sheet.get('id'));
    // A sheet of another type is a chart or a macro.
    if (part === undefined) throw refuseWorkbook(name, `is incomplete: its sheet ${sheet.get('name')} is missing`);
    if (part.type === 'worksheet') sheets.set(sheet.get('name') ?? '', part.path);
  }
  const stylePath = ofType('styles');
  const textPath = ofType('sharedStrings');
  const is1904 = listTags(xml, 'workbookPr').some((each) => /^(1|true)$/.test(each.get('date1904') ?? ''));
  const isOfLibreOffice = (await archive.readText('docProps/app.xml')).includes('<Application>LibreOffice');
  const calendar = is1904 ? '1904' : isOfLibreOffice ? 'LibreOffice' : '1900';
  const styles = stylePath === undefined ? [] : readStyles(await archive.readText(stylePath));
  const texts: string[] = [];
  if (textPath !== undefined && archive.has(textPath)) {
    for await (const { text } of archive.readElements(textPath, 'si', 'sst', maxTextBytes)) {
      texts.push(toPlainText(text));
    }
  }
  return {
    sheets: [...sheets.keys()],
    readRows: (sheet) => readRows(archive, { path: sheets.get(sheet) ?? '', sheet, name, texts, styles, calendar }),
  };
}

/** The parts to which a part refers; a type is the last word of its address. */
async function listParts(archive: WorkbookParts, of: string) {
  const [, folder = '', base = ''] = /^(.*\/)?([^/]*)$/.exec(of) ?? [];
  return listTags(await archive.readText(`${folder}_rels/${base}.rels`), 'Relationship').map((each) => {
    const target = each.get('Target') ?? '';
    const path = posix.normalize(target.startsWith('/') ? target : folder + target);
    return { id: each.get('Id'), type: each.get('Type')?.split('/').at(-1), path };
  });
}

const findPart = async (archive: WorkbookParts, of: string, type: string) =>
  (await listParts(archive, of)).find((part) => part.type === type);

interface SheetSource {
  path: string;
  sheet: string;
  name: string;
  texts: readonly string[];
  styles: ReturnType<typeof readStyles>;
  calendar: Calendar;
}

async function* readRows(archive: WorkbookParts, source: SheetSource): FilledRows {
  let last = 0;
  for await (const { text: row } of archive.readElements(source.path, 'row', 'worksheet')) {
    const [opening = ''] = /^<[^>]*>/.exec(row) ?? [];
    const line = Number(readAttributes(opening).get('r') ?? last + 1);
    if (!Number.isInteger(line) || line <= last || line > maxRows) {
      throw refuseWorkbook(source.name, `has a row ${line} after row ${last} on the sheet ${source.sheet}`);
    }
    last = line;
    const cells = opening.endsWith('/>') ? [] : readCells(row, opening.length, line, source);
    if (cells.some((cell) => cell.trim() !== '')) yield { line, cells };
  }
  await archive.checkUnchanged();
}

function readCells(row: string, start: number, line: number, source: SheetSource): readonly string[] {
  const cell = /\s*<((?:[\w.-]+:)?c)((?:\s[^>]*?)?)(?:\/>|>(.*?)<\/\1\s*>)/sy;
  cell.lastIndex = start;
  const cells: string[] = [];
  let column = 0;
  let end = start;
  for (let found = cell.exec(row); found !== null; found = cell.exec(row)) {
    end = cell.lastIndex;
    const [, , opening = '', content = ''] = found;
    const attributes = readAttributes(opening);
    const place = attributes.get('r');
    const at = place === undefined ? column + 1 : toColumn(place);
    if (at <= column) throw refuseWorkbook(source.name, `has the cell ${place} twice on the sheet ${source.sheet}`);
    column = at;
    const text = content === '' ? '' : readCell(attributes, content, { place: place ?? `${at}/${line}`, ...source });
    if (text.trim() === '') continue;
    if (column > maxColumns) {
      throw new RosterError(
        'too_many_columns',
        `${source.name}: row ${line} has more than ${maxColumns} columns; a table has at most ${maxColumns}.`,
      );
    }
    while (cells.length < column - 1) cells.push('');
    cells.push(text);
  }
  // A cell that is not read would be missing without a word.
  if (/<(?:[\w.-]+:)?c[\s/>]/.test(row.slice(end))) {
    throw refuseWorkbook(source.name, `has an unreadable cell in row ${line} on the sheet ${source.sheet}`);
  }
  return cells;
}

/** The number of a column from a place such as AB12. */
function toColumn(place: string): number {
  let column = 0;
  for (const letter of place.replace(/[^A-Za-z]/g, '').toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
  return column;
}

const value = /<(?:[\w.-]+:)?v(?:\s[^>]*?)?(?:\/>|>(.*?)<\/(?:[\w.-]+:)?v\s*>)/s;

function readCell(
  attributes: ReadonlyMap<string, string>,
  content: string,
  { place, name, sheet, texts, styles, calendar }: SheetSource & { place: string },
): string {
  const type = attributes.get('t') ?? 'n';
  if (type === 'inlineStr') return toPlainText(content);
  const found = value.exec(content);
  const stored = decodeText(found?.[1] ?? '');
  if (/<(?:[\w.-]+:)?f[\s/>]/.test(content) && (found === null || (stored === '' && type !== 'str'))) {
    throw new RosterError(
      'formula_without_value',
      `${name}: the cell ${place} on the sheet ${sheet} holds a formula without its value. Open the workbook in a spreadsheet program, save it and start again.`,
    );
  }
  if (type === 'n') return toNumberText(stored, styles[Number(attributes.get('s') ?? 0)], calendar);
  if (type === 's' && stored !== '') {
    const text = texts[Number(stored)];
    if (text === undefined) throw refuseWorkbook(name, `lacks the text of the cell ${place} on the sheet ${sheet}`);
    return text;
  }
  if (type === 'b') return stored.trim() === '1' || stored.trim() === 'true' ? 'TRUE' : 'FALSE';
  return type === 'd' ? stored.trim().slice(0, 'yyyy-mm-dd'.length) : stored;
}
