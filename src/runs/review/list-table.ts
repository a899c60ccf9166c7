import { open } from 'node:fs/promises';
import { RosterError } from '../../errors.js';
import { findOddFile } from '../../files.js';
import { openCsvTable } from '../../roster/csv/csv-table.js';
import type { TableReading, TableRecord } from '../../roster/table-reading.js';
import { openWorkbookTable } from '../../roster/workbook-table.js';
import { type DispositionVerdict, dispositionVerdicts } from '../../vocabulary.js';
import type { Reviewer } from './people.js';

/** How a list is imported. Without `apply` everything is tried and nothing is stored; `partial` stores the valid rows although others fail. */
export interface DecisionImport {
  path: string;
  reviewer: Reviewer;
  apply: boolean;
  partial: boolean;
}

/** A filled list, read by the names of its columns. */
export interface ListTable {
  records: TableReading['records'];
  has(name: string): boolean;
  /** The trimmed text of a row in a column; empty for a missing column. */
  pick(fields: readonly string[], name: string): string;
  close(): Promise<void>;
}

interface WantedList {
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
export async function openListTable(path: string, wanted: WantedList & { isOptional?: false }): Promise<ListTable>;
export async function openListTable(path: string, wanted: WantedList): Promise<ListTable | null>;
export async function openListTable(
  path: string,
  { names, required, origin, isOptional = false }: WantedList,
): Promise<ListTable | null> {
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
  return {
    records: advise(table.records),
    has: (name) => places.has(name),
    pick: (fields, name) => fields[places.get(name) ?? -1]?.trim() ?? '',
    close: () => table.close(),
  };
}

async function* advise(records: ListTable['records']): AsyncGenerator<readonly TableRecord[]> {
  try {
    yield* records;
  } catch (error) {
    adviseOnEncoding(error);
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
