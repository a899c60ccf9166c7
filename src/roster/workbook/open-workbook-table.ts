import { readFile, stat } from 'node:fs/promises';
import { readXlsx, streamXlsxRows } from 'hucre/xlsx';
import { RosterError } from '../../errors.js';
import type { TableReading, TableRecord } from '../table-reading.js';
import { checkArchive } from './check-archive.js';

const maxFileBytes = 50_000_000;
const limits = { all: 100_000_000, besideSheets: 16_000_000 };
const maxSheets = 20;
const maxRows = 50_000;
const maxColumns = 256;
/** A header stands at the top, below titles at most. */
const headerRows = 20;
const batchSize = 500;

type Cells = readonly string[];
type Row = readonly [line: number, cells: Cells];

/**
 * Opens the first sheet of a workbook (XLSX) that has a row of headers by `isHeader` near its top, else the first with anything on it; lines
 * are rows of the sheet, empty ones left out. Throws RosterError when the file is no workbook, is damaged, has a password, holds nothing or is
 * larger than 50 MB, 100 MB unpacked, 20 sheets, 50,000 rows or 256 columns.
 */
export async function openWorkbookTable(
  path: string,
  isHeader: (cells: Cells) => boolean,
): Promise<Pick<TableReading, 'headers' | 'records' | 'close'>> {
  const { size } = await stat(path);
  if (size > maxFileBytes) throw refuse('workbook_too_large', `${path} is larger than ${maxFileBytes / 1_000_000} MB`);
  const bytes = await readFile(path);
  checkArchive(bytes, path, limits);
  let first: readonly Row[] | null = null;
  for (const sheet of await listSheets(bytes, path)) {
    const rows = await readRows(bytes, path, sheet, isHeader);
    if (rows.slice(0, headerRows).some(([, cells]) => isHeader(cells))) return toTable(rows, isHeader);
    if (rows.length > 0) first ??= rows;
  }
  if (first === null) throw refuse('roster_empty', `${path} has nothing on its sheets`);
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
): Promise<readonly Row[]> {
  const rows: Row[] = [];
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
      // Another sheet is meant.
      if (rows.length === headerRows && !hasHeader) break;
    }
  });
  return rows;
}

function toTable(
  rows: readonly Row[],
  isHeader: (cells: Cells) => boolean,
): Pick<TableReading, 'headers' | 'records' | 'close'> {
  const place = Math.max(
    0,
    rows.findIndex(([, cells]) => isHeader(cells)),
  );
  const headers = rows[place]?.[1] ?? [];
  const records = rows
    .slice(place + 1)
    .map(([line, fields]): TableRecord => ({ line, file: null, fields, fault: null }));
  return {
    headers: headers.map((header) => header.trim().normalize('NFC')),
    records: toBatches(records),
    close: async () => {},
  };
}

async function* toBatches(records: readonly TableRecord[]): AsyncGenerator<readonly TableRecord[]> {
  for (let start = 0; start < records.length; start += batchSize) yield records.slice(start, start + batchSize);
}

function toText(value: string | number | boolean | Date | null): string {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString().slice(0, 10);
  return value === null ? '' : String(value);
}

/** Whatever a reader stumbles over, the file is to blame: it was made elsewhere. */
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
