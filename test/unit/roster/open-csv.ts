import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { RosterError } from '../../../src/errors.js';
import { openCsvTable } from '../../../src/roster/csv/csv-table.js';
import type { CsvSettings } from '../../../src/roster/settings.js';
import type { LineTally, TableReading, TableRecord } from '../../../src/roster/table-reading.js';

/** What differs from a CSV with a header of which everything is detected. */
export interface CsvOptions extends Partial<Omit<CsvSettings, 'path'>> {
  mapped?: readonly string[];
}

/** A table read to its end. */
export interface CsvContent {
  headers: readonly string[];
  records: TableRecord[];
  tally: LineTally;
  digest: string;
}

/** Opens files of a CSV table. */
export async function openCsv(path: string | string[], options: CsvOptions = {}): Promise<TableReading> {
  const { mapped = [], ...given } = options;
  return openCsvTable({ path, delimiter: 'auto', encoding: 'auto', header: true, ...given }, (header) =>
    mapped.includes(header),
  );
}

/** All that a reading gives. */
export async function collectTable(reading: TableReading): Promise<CsvContent> {
  const records: TableRecord[] = [];
  for await (const batch of reading.records) records.push(...batch);
  return { headers: reading.headers, records, tally: reading.tally(), digest: reading.digest() };
}

/** Writes files into a temporary folder, which is removed after `use`. */
export async function withFiles<T>(
  files: Readonly<Record<string, string | Buffer>>,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-csv-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), content);
    }
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads one file of the given content. */
export async function readCsv(content: string | Buffer, options: CsvOptions = {}): Promise<CsvContent> {
  return withFiles({ 'roster.csv': content }, async (folder) =>
    collectTable(await openCsv(join(folder, 'roster.csv'), options)),
  );
}

/** The RosterError that a reading ends with. */
export async function failCsv(reading: Promise<unknown>): Promise<RosterError> {
  const error: unknown = await reading.catch((thrown: unknown) => thrown);
  if (!(error instanceof RosterError)) throw new Error('expected a RosterError', { cause: error });
  return error;
}

/** Each record in short: its line, and its fields or its fault. */
export function summariseRecords(records: readonly TableRecord[]): string[] {
  return records.map(({ line, fields, fault }) => `${line} ${fault ?? fields.join('|')}`);
}

/** What a tally leaves unexplained; 0 when it adds up. */
export function countUnexplained({ lines, headers, blanks, continuations, records }: LineTally): number {
  return lines - headers - blanks - continuations - records;
}
