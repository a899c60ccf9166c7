import { open } from 'node:fs/promises';
import { RosterError } from '../../errors.js';
import { findOddFile } from '../../files.js';
import { openCsvTable } from '../../roster/csv/csv-table.js';
import { inspectEncoding } from '../../roster/csv/encodings.js';
import { isZipFile, refuseOtherFormats } from '../../roster/csv/source-bytes.js';
import type { ReadRow } from '../../roster/header-row.js';
import type { TableReading, TableRecord } from '../../roster/table-reading.js';
import { openWorkbook, toRecords } from '../../roster/workbook/workbook-file.js';
import { type DispositionVerdict, dispositionVerdicts } from '../../vocabulary.js';
import type { Reviewer } from './people.js';

/** How a list is imported. Without `apply` everything is tried and nothing is stored; `partial` stores the valid rows although others fail. */
export interface DecisionImport {
  path: string;
  reviewer: Reviewer;
  apply: boolean;
  partial: boolean;
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
export type ListTable = Awaited<ReturnType<typeof openListTable>>;

/**
 * Opens a CSV file or a workbook; the first bytes of the file decide which. Columns are found by name in any case and spacing, a workbook's
 * headers by the `required` ones. Throws RosterError when the file is neither, is not readable, lacks a required column, or repeats a column.
 */
export async function openListTable(path: string, wanted: WantedList) {
  const { names, required, origin, isOptional = false } = wanted;
  const odd = findOddFile(path);
  if (odd !== null)
    throw new RosterError('roster_unreadable', `${path} ${odd}. Save the list as a file and give its path.`);
  const { tables, ...about } = await ((await isZipFile(path))
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

interface OpenedTables {
  tables: readonly RawTable[];
  /** The reviewers' own sheets without the headings of a list, by name, each with its first line that has a trace of a list. */
  unread: ReadonlyMap<string, number | null>;
  /** The encoding of a CSV file that is only known by its letters. */
  guessedEncoding: string | null;
}

/** Spreadsheets save CSV in the code page of the system, so the encoding of a file that is not UTF is guessed by its letters. */
async function openCsvList(path: string, names: readonly string[]): Promise<OpenedTables> {
  const start = await readStart(path);
  refuseOtherFormats(start, path);
  const { encoding, doubts } = inspectEncoding(start, 'auto', path);
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

/** Reads rows by the names of their columns, on demand; the file is closed after the last one. `fault`: why a row cannot be read. */
async function* readListRows(tables: readonly RawTable[]) {
  for (const table of tables) {
    const places = new Map(table.headers.map((header, index) => [foldHeader(header), index]));
    try {
      for await (const batch of table.records) {
        for (const { line, fields, fault } of batch) {
          /** The trimmed text in a column; empty for a missing column. */
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

/** Ten columns of 10,000 alerts take 2 MB. */
const sampleBytes = 8_000_000;

/** The first bytes; empty without such a file, because the CSV reader reports patterns and missing files. */
async function readStart(path: string): Promise<Buffer> {
  const file = await open(path, 'r').catch(() => null);
  try {
    const found = await file?.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0).catch(() => undefined);
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

/** The header is one of the first rows; only titles may precede it. */
const headerRows = 20;

/** Sheets of our workbooks that are only for reading. */
const ownSheets = new Set(['Summary', 'All changes', 'Dossiers', 'Not screened', 'Method', 'How to']);

/** Opens every sheet of a workbook that has the required headings near its top; without one, the first sheet with a value. */
async function openWorkbookTables(path: string, wanted: WantedList): Promise<OpenedTables> {
  const workbook = await openWorkbook(path, path);
  const tables: RawTable[] = [];
  const unread = new Map<string, number | null>();
  let first: RawTable | null = null;
  for (const sheet of workbook.sheets) {
    const isOwn = ownSheets.has(sheet);
    const { top, isList, trace } = await scanSheet(workbook.readRows(sheet), wanted, isOwn);
    if (top === null) continue;
    const toRecord = ({ line, cells }: ReadRow): TableRecord => ({ line, file: null, fields: cells, fault: null });
    const table = {
      sheet,
      headers: top.cells.map((cell) => cell.trim().normalize('NFC')),
      records: toRecords(workbook.readRows(sheet), top.line, toRecord),
      close: async () => {},
    };
    first ??= table;
    if (isList) tables.push(table);
    else if (!isOwn) unread.set(sheet, trace);
  }
  if (first === null) throw new RosterError('roster_empty', `${path} has only empty sheets.`);
  return { tables: tables.length > 0 ? tables : [first], unread, guessedEncoding: null };
}

/** Finds the headings of a list, or the first row and the first line with a trace of a list; of our own sheets it reads only the top. */
async function scanSheet(rows: AsyncIterable<ReadRow>, { required, isTrace }: WantedList, isOwn: boolean) {
  let first: ReadRow | null = null;
  let trace: number | null = null;
  let count = 0;
  for await (const row of rows) {
    first ??= row;
    count += 1;
    const headings = row.cells.map(foldHeader);
    const isList = count <= headerRows && required.every((name) => headings.includes(name));
    if (isList) return { top: row, isList, trace: null };
    if (row.cells.some(isTrace)) trace ??= row.line;
    if (count >= headerRows && (isOwn || trace !== null)) break;
  }
  return { top: first, isList: false, trace };
}
