import { open, readFile, stat } from 'node:fs/promises';
import { Uint8ArrayReader, ZipReader } from '@zip.js/zip.js';
import { readXlsx, streamXlsxRows } from 'hucre/xlsx';
import { RosterError } from '../../errors.js';
import { findOddFile } from '../../files.js';
import type { ListPlace } from '../../reports/text.js';
import { openCsvTable } from '../../roster/csv/csv-table.js';
import { inspectEncoding } from '../../roster/csv/encodings.js';
import type { TableReading, TableRecord } from '../../roster/table-reading.js';
import { type DispositionVerdict, dispositionVerdicts } from '../../vocabulary.js';
import type { Reviewer } from './people.js';

/** How a list is imported. Without `apply` everything is tried and nothing is stored; `partial` stores the valid rows although others fail. */
export interface DecisionImport {
  path: string;
  reviewer: Reviewer;
  apply: boolean;
  partial: boolean;
}

/** A row of a filled list, read by the names of its columns. */
interface FilledListRow extends ListPlace {
  /** Why the row cannot be read, or null. */
  fault: string | null;
  /** The trimmed text in a column; empty for a missing column. */
  pick(name: string): string;
}

interface RawTable extends Pick<TableReading, 'headers' | 'records' | 'close'> {
  /** Null for a CSV file. */
  sheet: string | null;
}

/** A kind of list, by its columns. */
export interface WantedList {
  names: readonly string[];
  required: readonly string[];
  /** What such a list is, for messages. */
  origin: string;
  /** Whether a cell shows that its sheet belongs to a list, also where the headings are missing. */
  isTrace(cell: string): boolean;
  /** A list that lacks a required column is not found, instead of an error. */
  isOptional?: boolean;
}

/** A list in a CSV file, or on all sheets of a workbook that have its headings. */
export interface ListTable {
  isFound: boolean;
  /** Read on demand; the file is closed after the last one. */
  rows: AsyncGenerator<FilledListRow, void>;
  /** The reviewers' own sheets without its headings, by name, each with its first line that has a trace of a list. */
  unread: ReadonlyMap<string, number | null>;
  /** The encoding of a CSV file that is only known by its letters. */
  guessedEncoding: string | null;
}

/**
 * Opens a CSV file or a workbook; the first bytes of the file decide which. Columns are found by name in any case and spacing, a workbook's
 * headers by the `required` ones. Throws RosterError when the file is neither, is not readable, lacks a required column, or repeats a column.
 */
export async function openListTable(path: string, wanted: WantedList): Promise<ListTable> {
  const { names, required, origin, isOptional = false } = wanted;
  const odd = findOddFile(path);
  if (odd !== null)
    throw new RosterError('roster_unreadable', `${path} ${odd}. Save the list as a file and give its path.`);
  const { tables, ...about } = await ((await isWorkbook(path))
    ? openWorkbookTables(path, wanted)
    : openCsvList(path, names));
  const closeAll = async (): Promise<void> => {
    for (const table of tables) await table.close();
  };
  for (const { headers, sheet } of tables) {
    const folded = headers.map(foldHeader);
    const missing = required.filter((name) => !folded.includes(name));
    if (missing.length > 0) {
      await closeAll();
      if (isOptional) return { isFound: false, rows: readListRows([]), ...about };
      throw new RosterError('columns_missing', `${path} has no column ${missing.join(', ')}. It must be ${origin}.`);
    }
    const repeated = names.filter((name) => folded.indexOf(name) !== folded.lastIndexOf(name));
    if (repeated.length > 0) {
      await closeAll();
      const where = sheet === null ? path : `${path}, sheet ${sheet},`;
      const columns = repeated.map((name) => `${name} (${toOrdinals(folded, name)})`).join(', ');
      throw new RosterError('columns_repeated', `${where} has columns twice: ${columns}. Keep one of each.`);
    }
  }
  return { isFound: true, rows: readListRows(tables), ...about };
}

type OpenedTables = Pick<ListTable, 'unread' | 'guessedEncoding'> & { tables: readonly RawTable[] };

/** Spreadsheets save CSV in the code page of the system, so the encoding of a file that is not UTF is guessed by its letters. */
async function openCsvList(path: string, names: readonly string[]): Promise<OpenedTables> {
  const { encoding, doubts } = inspectEncoding(await readStart(path, sampleBytes), 'auto', path);
  if (doubts.length > 0) throw new RosterError('encoding', `${path}: ${doubts.join('; ')}.`);
  const isOurs = (header: string): boolean => names.includes(foldHeader(header));
  const source = { path, delimiter: 'auto', encoding, header: true } as const;
  const table = await openCsvTable(source, isOurs).catch(adviseOnEncoding);
  const guessedEncoding = encoding.startsWith('utf-') ? null : encoding;
  return { tables: [{ ...table, sheet: null }], unread: new Map(), guessedEncoding };
}

/** Throws RosterError for a sheet that no list has read although it has a trace of one: its dispositions would be lost. */
export function refuseTraces(
  path: string,
  unread: readonly (readonly [string, number | null])[],
  required: readonly string[],
): void {
  for (const [sheet, line] of unread) {
    if (line === null) continue;
    throw new RosterError(
      'columns_missing',
      `${path}, sheet ${sheet}, has cells of a list in line ${line}, but no row of headings with ${required.join(', ')}. Copy the headings of the list to its top, or remove the sheet.`,
    );
  }
}

async function* readListRows(tables: readonly RawTable[]): ListTable['rows'] {
  for (const table of tables) {
    const places = new Map(table.headers.map((header, index) => [foldHeader(header), index]));
    try {
      for await (const batch of table.records) {
        for (const { line, fields, fault } of batch) {
          const pick = (name: string): string => fields[places.get(name) ?? -1]?.trim() ?? '';
          const problem = fault === null ? null : `the row cannot be read (${fault})`;
          yield { sheet: table.sheet, line, fault: problem, pick };
        }
      }
    } catch (error) {
      adviseOnEncoding(error);
    } finally {
      await table.close();
    }
  }
}

/** Replaces the advice to configure the encoding, which is possible only for a roster. */
function adviseOnEncoding(error: unknown): never {
  if (!(error instanceof RosterError && error.code === 'encoding')) throw error;
  const [where] = error.message.split('. ');
  throw new RosterError('encoding', `${where}. Save it as CSV UTF-8, or as .xlsx.`, { cause: error });
}

const toOrdinals = (headers: readonly string[], name: string): string =>
  headers.flatMap((header, index) => (header === name ? `column ${index + 1}` : [])).join(' and ');

/** A heading in the form of the names of columns. */
export const foldHeader = (header: string): string =>
  header
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

const saveAs = 'Save it as .xlsx without a password, or as CSV UTF-8';

const zipHeaderLength = 30;

/** Throws RosterError for other files of office programs. */
async function isWorkbook(path: string): Promise<boolean> {
  const start = (await readStart(path, 100)).toString('latin1');
  if (start.startsWith('\xd0\xcf\x11\xe0')) {
    throw new RosterError('not_a_workbook', `${path} has a password or is an old workbook (.xls). ${saveAs}.`);
  }
  if (start.startsWith('mimetypeapplication/vnd.oasis.opendocument', zipHeaderLength)) {
    throw new RosterError('not_a_workbook', `${path} is an OpenDocument file (.ods). ${saveAs}.`);
  }
  if (start.startsWith('PK')) return true;
  if (/\.xlsx$/i.test(path)) {
    throw new RosterError('not_a_workbook', `${path} ends in .xlsx but is not a workbook. ${saveAs}.`);
  }
  return false;
}

/** Ten columns of 10,000 alerts take 2 MB. */
const sampleBytes = 8_000_000;

/** The first bytes; empty without such a file, because the CSV reader reports patterns and missing files. */
async function readStart(path: string, count: number): Promise<Buffer> {
  const file = await open(path, 'r').catch(() => null);
  try {
    const found = await file?.read(Buffer.alloc(count), 0, count, 0).catch(() => undefined);
    return found?.buffer.subarray(0, found.bytesRead) ?? Buffer.alloc(0);
  } finally {
    await file?.close();
  }
}

/** Reads a verdict in any case and spacing; null for any other text. */
export function parseVerdict(text: string): DispositionVerdict | null {
  const folded = text.toLowerCase().replace(/[\s-]+/g, '_');
  return dispositionVerdicts.find((verdict) => verdict === folded) ?? null;
}

const maxFileBytes = 50_000_000;
/** The most unpacked bytes of a workbook. The parts other than sheets are held in memory many times over during reading. */
const limits = { all: 100_000_000, besideSheets: 16_000_000 };
const maxSheets = 20;
const maxRows = 50_000;
const maxColumns = 256;
/** The header is one of the first rows; only titles may precede it. */
const headerRows = 20;

/** Sheets of our workbooks that are only for reading. */
const ownSheets = new Set(['Summary', 'All changes', 'Dossiers', 'Not screened', 'Method', 'How to']);

type Cells = readonly string[];
type ListRow = readonly [line: number, cells: Cells];

/**
 * Opens every sheet of a workbook (XLSX) that has the required headings near its top; without one, the first sheet with content.
 * Lines are rows of the sheet, without empty ones. Throws RosterError when the file is no workbook, damaged,
 * protected by a password, empty, or larger than 50 MB, 100 MB unpacked, 20 sheets, 50,000 rows or 256 columns.
 */
async function openWorkbookTables(path: string, wanted: WantedList): Promise<OpenedTables> {
  const { size } = await stat(path);
  if (size > maxFileBytes) throw refuse('workbook_too_large', `${path} is larger than ${maxFileBytes / 1_000_000} MB`);
  const bytes = await readFile(path);
  await checkArchive(bytes, path);
  const tables: RawTable[] = [];
  const unread = new Map<string, number | null>();
  let first: RawTable | null = null;
  let count = 0;
  for (const sheet of await listSheets(bytes, path)) {
    const { rows, header, trace } = await readSheet(bytes, path, sheet, wanted);
    if (rows.length === 0) continue;
    const table = toTable(sheet, rows, header ?? 0);
    first ??= table;
    if (header === null) {
      if (!ownSheets.has(sheet)) unread.set(sheet, trace);
      continue;
    }
    tables.push(table);
    count += rows.length;
    if (count > maxRows) throw refuse('workbook_too_large', `${path} has more than ${maxRows} rows on its sheets`);
  }
  if (first === null) throw refuse('roster_empty', `${path} has only empty sheets`);
  return { tables: tables.length > 0 ? tables : [first], unread, guessedEncoding: null };
}

async function listSheets(bytes: Buffer, path: string): Promise<readonly string[]> {
  const names: string[] = [];
  const note = ({ name }: { name: string }): boolean => {
    names.push(name);
    return false;
  };
  await orRefuse(path, () => readXlsx(bytes, { sheets: note }));
  if (names.length > maxSheets) throw refuse('workbook_too_large', `${path} has more than ${maxSheets} sheets`);
  return names;
}

interface SheetRows {
  /** Without a header only the first rows. */
  rows: ListRow[];
  /** The index of the header in `rows`. */
  header: number | null;
  /** The first line with a trace of a list. */
  trace: number | null;
}

async function readSheet(bytes: Buffer, path: string, sheet: string, wanted: WantedList): Promise<SheetRows> {
  const read: SheetRows = { rows: [], header: null, trace: null };
  const isHeader = (cells: Cells): boolean => {
    const headings = cells.map(foldHeader);
    return wanted.required.every((name) => headings.includes(name));
  };
  await orRefuse(path, async () => {
    for await (const { index, values } of streamXlsxRows(bytes, { sheet })) {
      if (values.length > maxColumns || read.rows.length > maxRows) {
        throw refuse(
          'workbook_too_large',
          `${path} has more than ${maxColumns} columns or ${maxRows} rows on the sheet ${sheet}`,
        );
      }
      const cells = values.map(toText);
      if (cells.every((cell) => cell === '')) continue;
      const isTop = read.rows.length < headerRows;
      if (read.header === null && isTop && isHeader(cells)) read.header = read.rows.length;
      if (read.header === null && cells.some(wanted.isTrace)) read.trace ??= index + 1;
      if (read.header !== null || isTop) read.rows.push([index + 1, cells]);
      else if (ownSheets.has(sheet)) break;
    }
  });
  return read;
}

function toTable(sheet: string, rows: readonly ListRow[], header: number): RawTable {
  const [, headers] = rows[header] ?? [0, []];
  return {
    sheet,
    headers: headers.map((cell) => cell.trim().normalize('NFC')),
    records: readAll(rows.slice(header + 1)),
    close: async () => {},
  };
}

async function* readAll(rows: readonly ListRow[]): AsyncGenerator<readonly TableRecord[]> {
  yield rows.map(([line, fields]) => ({ line, file: null, fields, fault: null }));
}

function toText(value: string | number | boolean | Date | null): string {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString().slice(0, 10);
  return value === null ? '' : String(value);
}

/** Every error of the reader is reported as a fault of the file. */
async function orRefuse<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RosterError) throw error;
    throw refuse('not_a_workbook', `${path} cannot be read as a workbook: save it again as .xlsx or CSV`, error);
  }
}

const refuse = (code: string, message: string, cause?: unknown): RosterError =>
  new RosterError(code, `${message}.`, { cause });

const maxEntries = 2_000;
const isSheet = /^xl\/worksheets\/[^/]+\.xml$/i;

/**
 * Checks by the directory of a ZIP archive that it unpacks to no more than the limits. The unpacking code must limit each entry to the size in
 * the directory. Throws RosterError `not_a_workbook` when it is no archive, truncated or too large.
 */
async function checkArchive(bytes: Buffer, name: string): Promise<void> {
  const refuseArchive = (message: string): RosterError => refuse('not_a_workbook', `${name} ${message}`);
  let entries = 0;
  let allBytes = 0;
  let besideBytes = 0;
  const directory = new ZipReader(new Uint8ArrayReader(bytes)).getEntriesGenerator();
  for (;;) {
    const { done, value: entry } = await directory.next().catch((error: unknown) => {
      throw refuse('not_a_workbook', `${name} is no workbook, or it is incomplete: save it again as .xlsx`, error);
    });
    if (done || entry === undefined) return;
    entries += 1;
    if (entries > maxEntries) throw refuseArchive(`is no workbook: it has more than ${maxEntries} parts`);
    const { filename, compressedSize, uncompressedSize, compressionMethod, bitFlag, zip64 } = entry;
    // The sizes of such an entry are elsewhere in the archive, and may be any.
    const isDescribedBehind = bitFlag?.dataDescriptor === true && (compressedSize === 0 || uncompressedSize === 0);
    const isUnsized =
      zip64 || (compressionMethod !== 0 && (isDescribedBehind || (uncompressedSize === 0 && compressedSize > 2)));
    allBytes += uncompressedSize;
    if (!isSheet.test(filename)) besideBytes += uncompressedSize;
    if (isUnsized || allBytes > limits.all || besideBytes > limits.besideSheets) {
      throw refuseArchive('unpacks to more than a working list ever does: save its sheet as CSV UTF-8');
    }
  }
}
