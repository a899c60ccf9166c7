import { readFile, stat } from 'node:fs/promises';
import { readXlsx, streamXlsxRows } from 'hucre/xlsx';
import { RosterError } from '../errors.js';
import type { TableReading, TableRecord } from './table-reading.js';

const maxFileBytes = 50_000_000;
/** The most unpacked bytes of a workbook. The parts other than sheets are held in memory many times over during reading. */
const limits = { all: 100_000_000, besideSheets: 16_000_000 };
const maxSheets = 20;
const maxRows = 50_000;
const maxColumns = 256;
/** The header is one of the first rows; only titles may precede it. */
const headerRows = 20;
const batchSize = 500;

type Cells = readonly string[];
type Row = readonly [line: number, cells: Cells];

/**
 * Opens the first sheet of a workbook (XLSX) with a header by `isHeader` near its top, otherwise the first with
 * content. Lines are rows of the sheet, without empty ones. Throws RosterError when the file is no workbook, damaged,
 * protected by a password, empty, or larger than 50 MB, 100 MB unpacked, 20 sheets, 50,000 rows or 256 columns.
 */
export async function openWorkbookTable(
  path: string,
  isHeader: (cells: Cells) => boolean,
): Promise<Pick<TableReading, 'headers' | 'records' | 'close'>> {
  const { size } = await stat(path);
  if (size > maxFileBytes) throw refuse('workbook_too_large', `${path} is larger than ${maxFileBytes / 1_000_000} MB`);
  const bytes = await readFile(path);
  checkArchive(bytes, path);
  let first: readonly Row[] | null = null;
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
      // The header is on another sheet.
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

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const endLength = 22;
const entryLength = 46;
const longestComment = 0xffff;
const deflated = 8;
const isDescribedBehind = 0x0008;
const maxEntries = 2_000;
const isSheet = /^xl\/worksheets\/[^/]+\.xml$/i;

/**
 * Checks by the directory of a ZIP archive that it unpacks to no more than the limits. The unpacking code must limit each entry to the size in
 * the directory. Throws RosterError `not_a_workbook` when it is no archive, truncated or too large.
 */
function checkArchive(bytes: Buffer, name: string): void {
  const end = findEnd(bytes);
  if (end === null) throw refuseArchive(`${name} is no workbook, or it is incomplete: save it again as .xlsx`);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count > maxEntries) throw refuseArchive(`${name} is no workbook: it has ${count} parts`);
  let allBytes = 0;
  let besideBytes = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + entryLength > bytes.length || bytes.readUInt32LE(at) !== entryMark) {
      throw refuseArchive(`${name} is damaged: save it again as .xlsx`);
    }
    const packed = bytes.readUInt32LE(at + 20);
    const unpacked = bytes.readUInt32LE(at + 24);
    const isUnsized =
      bytes.readUInt16LE(at + 10) === deflated &&
      unpacked === 0 &&
      (packed > 2 || (bytes.readUInt16LE(at + 8) & isDescribedBehind) !== 0);
    const nameLength = bytes.readUInt16LE(at + 28);
    const entry = bytes.toString('utf8', at + entryLength, at + entryLength + nameLength);
    allBytes += unpacked;
    if (!isSheet.test(entry)) besideBytes += unpacked;
    if (isUnsized || allBytes > limits.all || besideBytes > limits.besideSheets) {
      throw refuseArchive(`${name} unpacks to more than a working list ever does: save its sheet as CSV UTF-8`);
    }
    at += entryLength + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
}

/** The start of the closing record; a comment may follow it. */
function findEnd(bytes: Buffer): number | null {
  const first = Math.max(0, bytes.length - endLength - longestComment);
  for (let at = bytes.length - endLength; at >= first; at -= 1) if (bytes.readUInt32LE(at) === endMark) return at;
  return null;
}

const refuseArchive = (message: string): RosterError => new RosterError('not_a_workbook', `${message}.`);
