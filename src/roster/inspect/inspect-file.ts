import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import { openCsvTable } from '../csv/csv-table.js';
import { detectEncoding } from '../csv/detect-encoding.js';
import type { EncodingLabel } from '../csv/encodings.js';
import { guessEncoding } from '../csv/guess-encoding.js';
import { readSourceBytes } from '../csv/source-bytes.js';
import type { RosterRow } from '../customer.js';
import { readRoster } from '../read-roster.js';
import { type RosterSettings, rosterSettingsSchema } from '../settings.js';
import type { LineTally, TableReading } from '../table-reading.js';
import { profileColumn } from './column-profile.js';
import { type ColumnGuess, guessColumns } from './guess-columns.js';
import { looksLikeHeader } from './guess-header.js';

/** What is said about a file before anybody has described it. */
export interface InspectionRequest {
  path: string;
  /** The roster's name in the configuration to paste. */
  name: string;
  /** Where they are not to be guessed. */
  delimiter?: string | undefined;
  encoding?: string | undefined;
  header?: boolean | undefined;
}

/** What a file looks like, and what it would become under the mapping that was guessed. */
export interface FileInspection {
  path: string;
  encoding: string;
  delimiter: string;
  hasHeader: boolean;
  headers: readonly string[];
  guess: ColumnGuess;
  /** The entry of `rosters:` to paste, or null where too little could be guessed to read a single row. */
  settings: RosterSettings | null;
  /** The first rows as they would be read. */
  firstRows: readonly RosterRow[];
  /** Of the whole file, under that mapping. */
  counts: { customers: number; rejected: number; rejectedBecause: Readonly<Record<string, number>> };
  tally: LineTally;
}

const sampleSize = 10_000;
const encodingSampleBytes = 4 * 1024 * 1024;
const shownRows = 10;

/**
 * Reads a file nobody has described yet: how it is written, which columns hold what, and what its rows would become. Throws RosterError
 * where it cannot be read.
 */
export async function inspectFile(request: InspectionRequest): Promise<FileInspection> {
  const { path, name, delimiter = 'auto' } = request;
  const encoding = request.encoding ?? (await findEncoding(path));
  const asFound = rosterSettingsSchema.parse({ name, csv: { path, delimiter, encoding, header: false } });
  if (asFound.csv === undefined) throw new TypeError('a CSV source was asked for');
  const table = await openCsvTable(asFound.csv, () => false);
  const sample = await readSample(table);
  const [first = [], ...others] = sample;
  const hasHeader = request.header ?? looksLikeHeader(first, others);
  const headers = hasHeader ? first.map((cell) => cell.trim().normalize('NFC')) : table.headers;
  const rows = hasHeader ? others : sample;
  const profiles = headers.map((header, index) =>
    profileColumn(
      header,
      rows.map((fields) => fields[index] ?? ''),
    ),
  );
  const guess = guessColumns(profiles);
  const csv = { path, delimiter: table.delimiter, encoding, ...(hasHeader ? {} : { header: false }) };
  const found = { path, encoding, delimiter: table.delimiter, hasHeader, headers, guess };
  const parsed = rosterSettingsSchema.safeParse({ name, csv, columns: guess.columns });
  if (!parsed.success || guess.columns.id === undefined || guess.columns.name === undefined) {
    const { records, headers: _, ...others } = table.tally();
    const tally = hasHeader ? { ...others, headers: 1, records: records - 1 } : table.tally();
    return {
      ...found,
      settings: null,
      firstRows: [],
      counts: { customers: 0, rejected: 0, rejectedBecause: {} },
      tally,
    };
  }
  return { ...found, settings: parsed.data, ...(await readWhole(parsed.data)) };
}

/** The name that a file suggests for its roster. */
export const toRosterName = (path: string): string =>
  basename(path)
    .replace(/(\.(csv|tsv|txt|gz))+$/i, '')
    .replace(/[^\p{L}\p{N}_-]+/gu, '-')
    .replace(/^-+|-+$/g, '') || 'default';

/** By the byte order mark or the first megabytes; what is no UTF-8 is guessed by its letters. */
async function findEncoding(path: string): Promise<EncodingLabel> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of readSourceBytes(path, () => undefined)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= encodingSampleBytes) break;
  }
  const bytes = Buffer.concat(chunks);
  const detected = detectEncoding(bytes, 'auto', path);
  // A character may be cut at the end of the sample.
  const isSound = detected !== 'utf-8' || isUtf8(bytes) || [1, 2, 3].some((cut) => isUtf8(bytes.subarray(0, -cut)));
  return isSound ? detected : (guessEncoding(bytes) ?? detected);
}

async function readSample(table: TableReading): Promise<readonly (readonly string[])[]> {
  const sample: (readonly string[])[] = [];
  try {
    for await (const records of table.records) {
      for (const { fields, fault } of records) if (fault === null) sample.push(fields);
      if (sample.length >= sampleSize) break;
    }
  } finally {
    await table.close();
  }
  return sample;
}

async function readWhole(settings: RosterSettings): Promise<Pick<FileInspection, 'firstRows' | 'counts' | 'tally'>> {
  const reading = await readRoster(settings, () => undefined);
  const firstRows: RosterRow[] = [];
  const rejectedBecause: Record<string, number> = {};
  let [customers, rejected] = [0, 0];
  try {
    for await (const rows of reading.rows) {
      firstRows.push(...rows.slice(0, shownRows - firstRows.length));
      for (const row of rows) {
        if (row.kind === 'customer') {
          customers += 1;
          continue;
        }
        rejected += 1;
        const { reason } = row.rejected;
        rejectedBecause[reason] = (rejectedBecause[reason] ?? 0) + 1;
      }
    }
    return { firstRows, counts: { customers, rejected, rejectedBecause }, tally: reading.tally() };
  } finally {
    await reading.close();
  }
}
