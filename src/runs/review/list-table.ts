import { open, readFile, stat } from 'node:fs/promises';
import { Uint8ArrayReader, ZipReader } from '@zip.js/zip.js';
import { readXlsx, streamXlsxRows } from 'hucre/xlsx';
import { RosterError } from '../../errors.js';
import { findOddFile } from '../../files.js';
import { openCsvTable } from '../../roster/csv/csv-table.js';
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
interface FilledListRow {
  line: number;
  /** Why the row cannot be read, or null. */
  fault: string | null;
  /** The trimmed text in a column; empty for a missing column. */
  pick(name: string): string;
}

/** The rows of a list, read on demand; the file is closed after the last one. */
type FilledListRows = AsyncGenerator<FilledListRow, void>;

type RawTable = Pick<TableReading, 'headers' | 'records' | 'close'>;

/** A kind of list, by its columns. */
export interface WantedList {
  names: readonly string[];
  required: readonly string[];
  /** What such a list is, for messages. */
  origin: string;
  /** A list that lacks a required column gives null instead of an error. */
  isOptional?: boolean;
}

/**
 * Opens a CSV file or a workbook; the first bytes of the file decide which. Columns are found by name in any case and spacing, a workbook's
 * header by the `required` ones. Throws RosterError when the file is neither, is not readable, lacks a required column, or repeats a column.
 */
export async function openListTable(path: string, wanted: WantedList & { isOptional?: false }): Promise<FilledListRows>;
export async function openListTable(path: string, wanted: WantedList): Promise<FilledListRows | null>;
export async function openListTable(
  path: string,
  { names, required, origin, isOptional = false }: WantedList,
): Promise<FilledListRows | null> {
  const odd = findOddFile(path);
  if (odd !== null)
    throw new RosterError('roster_unreadable', `${path} ${odd}. Save the list as a file and give its path.`);
  const isOurs = (header: string): boolean => names.includes(foldHeader(header));
  const table = (await isWorkbook(path))
    ? await openWorkbookTable(path, (cells) => required.every((name) => cells.map(foldHeader).includes(name)))
    : await openCsvTable({ path, delimiter: 'auto', encoding: 'auto', header: true }, isOurs).catch(adviseOnEncoding);
  const folded = table.headers.map(foldHeader);
  const places = new Map(folded.map((header, index) => [header, index]));
  const missing = required.filter((name) => !places.has(name));
  if (missing.length > 0) {
    await table.close();
    if (isOptional) return null;
    throw new RosterError('columns_missing', `${path} has no column ${missing.join(', ')}. It must be ${origin}.`);
  }
  const repeated = names.filter((name) => folded.indexOf(name) !== folded.lastIndexOf(name));
  if (repeated.length > 0) {
    await table.close();
    const columns = repeated.map((name) => `${name} (${toOrdinals(folded, name)})`).join(', ');
    throw new RosterError('columns_repeated', `${path} has columns twice: ${columns}. Keep one of each.`);
  }
  return readListRows(table, places);
}

async function* readListRows(table: RawTable, places: ReadonlyMap<string, number>): FilledListRows {
  try {
    for await (const batch of table.records) {
      for (const { line, fields, fault } of batch) {
        const pick = (name: string): string => fields[places.get(name) ?? -1]?.trim() ?? '';
        yield { line, fault: fault === null ? null : `the row cannot be read (${fault})`, pick };
      }
    }
  } catch (error) {
    adviseOnEncoding(error);
  } finally {
    await table.close();
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

const foldHeader = (header: string): string =>
  header
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

const saveAs = 'Save it as .xlsx without a password, or as CSV UTF-8';

const zipHeaderLength = 30;

/** Throws RosterError for other files of office programs. */
async function isWorkbook(path: string): Promise<boolean> {
  const start = await readStart(path);
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

/** The first bytes; empty without such a file, because the CSV reader reports patterns and missing files. */
async function readStart(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => null);
  try {
    const found = await file?.read(Buffer.alloc(100), 0, 100, 0).catch(() => undefined);
    return found?.buffer.toString('latin1', 0, found.bytesRead) ?? '';
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

type Cells = readonly string[];
type ListRow = readonly [line: number, cells: Cells];

/**
 * Opens the first sheet of a workbook (XLSX) with a header by `isHeader` near its top, otherwise the first with
 * content. Lines are rows of the sheet, without empty ones. Throws RosterError when the file is no workbook, damaged,
 * protected by a password, empty, or larger than 50 MB, 100 MB unpacked, 20 sheets, 50,000 rows or 256 columns.
 */
async function openWorkbookTable(path: string, isHeader: (cells: Cells) => boolean): Promise<RawTable> {
  const { size } = await stat(path);
  if (size > maxFileBytes) throw refuse('workbook_too_large', `${path} is larger than ${maxFileBytes / 1_000_000} MB`);
  const bytes = await readFile(path);
  await checkArchive(bytes, path);
  let first: readonly ListRow[] | null = null;
  for (const sheet of await listSheets(bytes, path)) {
    const rows = await readRows(bytes, path, sheet, isHeader);
    if (rows.slice(0, headerRows).some(([, cells]) => isHeader(cells))) return toTable(rows, isHeader);
    if (rows.length > 0) first ??= rows;
  }
  if (first === null) throw refuse('roster_empty', `${path} has only empty sheets`);
  return toTable(first, isHeader);
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

async function readRows(
  bytes: Buffer,
  path: string,
  sheet: string,
  isHeader: (cells: Cells) => boolean,
): Promise<readonly ListRow[]> {
  const rows: ListRow[] = [];
  let hasHeader = false;
  await orRefuse(path, async () => {
    for await (const { index, values } of streamXlsxRows(bytes, { sheet })) {
      if (values.length > maxColumns || rows.length > maxRows) {
        throw refuse(
          'workbook_too_large',
          `${path} has more than ${maxColumns} columns or ${maxRows} rows on the sheet ${sheet}`,
        );
      }
      const cells = values.map(toText);
      if (cells.every((cell) => cell === '')) continue;
      rows.push([index + 1, cells]);
      hasHeader ||= isHeader(cells);
      // The header is on another sheet.
      if (rows.length === headerRows && !hasHeader) break;
    }
  });
  return rows;
}

function toTable(rows: readonly ListRow[], isHeader: (cells: Cells) => boolean): RawTable {
  const found = rows.findIndex(([, cells]) => isHeader(cells));
  const place = Math.max(0, found);
  const [, headers] = rows[place] ?? [0, []];
  return {
    headers: headers.map((header) => header.trim().normalize('NFC')),
    records: readAll(rows.slice(place + 1)),
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
