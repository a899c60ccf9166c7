import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { RosterError } from '../../errors.js';
import type { CsvSettings } from '../settings.js';
import type { LineTally, TableReading, TableRecord } from '../table-reading.js';
import { openCsvFile } from './csv-file.js';
import { findFiles } from './find-files.js';
import { standardInput } from './source-bytes.js';

const batchSize = 500;

type CsvFile = Awaited<ReturnType<typeof openCsvFile>>;
type Batches = AsyncGenerator<readonly TableRecord[], void, undefined>;

interface Progress {
  tally: LineTally;
  /** Bytes read so far, still packed. */
  doneBytes: number;
  totalBytes: number | null;
  digests: Buffer[];
  open: CsvFile | null;
  isEnded: boolean;
}

/**
 * Opens the files of a CSV table and reads the header of the first. Throws RosterError when a pattern matches no file,
 * a file is unreadable, or there are no records; `mayBeEmpty` permits a header alone. Reading `records` also throws
 * for a later file with another header or without content.
 */
export async function openCsvTable(
  source: CsvSettings,
  isMapped: (header: string) => boolean,
  mayBeEmpty = false,
): Promise<TableReading & { delimiter: string }> {
  const paths = await findFiles([source.path].flat());
  const progress: Progress = {
    tally: { lines: 0, headers: 0, blanks: 0, continuations: 0, records: 0, ...(source.skipRows && { skipped: 0 }) },
    doneBytes: 0,
    totalBytes: await sumSizes(paths),
    digests: [],
    open: null,
    isEnded: false,
  };
  const name = [source.path].flat().map(toName).join(', ');
  const openAt = async (index: number): Promise<CsvFile> => {
    const hash = createHash('sha256');
    const path = paths[index] ?? '';
    const place = {
      path,
      name: toName(path),
      file: paths.length > 1 ? toName(path) : null,
      tally: progress.tally,
      onBytes: (bytes: Buffer) => {
        hash.update(bytes);
        progress.doneBytes += bytes.length;
      },
    };
    const file = await openCsvFile(place, source, isMapped);
    const records = noteEnd(file.records, () => progress.digests.push(hash.digest()));
    progress.open = { ...file, records };
    return progress.open;
  };
  const first = await openAt(0);
  const batches = leaveOut(readFiles(first, paths, openAt, isMapped, progress), source.skipRows, progress.tally);
  try {
    const head = await batches.next();
    if (head.done && !(mayBeEmpty && source.header)) {
      throw new RosterError(
        'roster_empty',
        `${name} has ${source.header ? 'a header and no rows' : 'no rows'}. Nothing was changed; check the export that writes it.`,
      );
    }
    const { headers, delimiter, lowerHeader } = first;
    const reading = toReading(name, headers, withHead(head.done ? [] : head.value, batches), progress);
    return { ...reading, delimiter, lowerHeader };
  } catch (error) {
    await progress.open?.close();
    throw error;
  }
}

function toReading(source: string, headers: readonly string[], records: Batches, progress: Progress): TableReading {
  return {
    source,
    headers,
    records,
    digest: () => {
      if (!progress.isEnded) throw new RosterError('roster_not_read', `${source} has not been read to its end.`);
      return joinDigests(progress.digests);
    },
    tally: () => {
      return { ...progress.tally, lines: sumLines(progress.tally) };
    },
    progress: () => {
      const { doneBytes, totalBytes } = progress;
      return totalBytes === null ? null : { doneBytes, totalBytes };
    },
    close: async () => {
      await records.return();
      await progress.open?.close();
    },
  };
}

async function sumSizes(paths: readonly string[]): Promise<number | null> {
  let sum = 0;
  for (const path of paths) {
    const found = await stat(path).catch(() => null);
    // A missing file is reported when it is opened.
    if (found?.isFile() !== true) return null;
    sum += found.size;
  }
  return sum;
}

async function* readFiles(
  first: CsvFile,
  paths: readonly string[],
  openAt: (index: number) => Promise<CsvFile>,
  isMapped: (header: string) => boolean,
  progress: Progress,
): Batches {
  for (let index = 0; index < paths.length; index += 1) {
    const file = index === 0 ? first : await openAt(index);
    try {
      if (index > 0) {
        const firstPath = toName(paths[0] ?? '');
        compareHeaders(firstPath, first.headers, toName(paths[index] ?? ''), file.headers, isMapped);
      }
      for await (const records of file.records) {
        for (let start = 0; start < records.length; start += batchSize) {
          yield records.length <= batchSize ? records : records.slice(start, start + batchSize);
        }
      }
    } finally {
      await file.close();
    }
  }
  checkTally(progress.tally, paths.join(', '));
  progress.isEnded = true;
}

/** Leaves out the rows whose first cell begins with one of the prefixes, and counts them. */
async function* leaveOut(batches: Batches, prefixes: readonly string[] | undefined, tally: LineTally): Batches {
  if (prefixes === undefined) return yield* batches;
  const isLeftOut = ({ fields: [first = ''] }: TableRecord): boolean =>
    prefixes.some((prefix) => first.trimStart().startsWith(prefix));
  for await (const records of batches) {
    const kept = records.filter((record) => !isLeftOut(record));
    tally.skipped = (tally.skipped ?? 0) + records.length - kept.length;
    tally.records -= records.length - kept.length;
    if (kept.length > 0) yield kept;
  }
}

async function* withHead(head: readonly TableRecord[], batches: Batches): Batches {
  try {
    if (head.length > 0) yield head;
    yield* batches;
  } finally {
    await batches.return();
  }
}

async function* noteEnd(records: Batches, onEnd: () => void): Batches {
  try {
    yield* records;
    onEnd();
  } finally {
    await records.return();
  }
}

function toName(path: string): string {
  return path === standardInput ? 'standard input' : path;
}

/** A single file keeps its own digest, to compare with `sha256sum`. */
function joinDigests(digests: readonly Buffer[]): string {
  const [only] = digests;
  if (only !== undefined && digests.length === 1) return only.toString('hex');
  return createHash('sha256').update(Buffer.concat(digests)).digest('hex');
}

const sumLines = ({ headers, blanks, continuations, records, skipped = 0 }: LineTally): number =>
  headers + blanks + continuations + records + skipped;

function checkTally(tally: LineTally, name: string): void {
  const sum = sumLines(tally);
  if (tally.lines === sum) return;
  throw new RosterError('lines_lost', `${name}: ${tally.lines} lines were read, but ${sum} are accounted for.`);
}

const mostShown = 20;
const shownLength = 60;

/**
 * Throws RosterError `headers_differ` unless both files have the same columns in the same order. The first line of a
 * file without a header is a customer's row. So headers are quoted only when `isMapped` recognises one in the first
 * file, and those of the other file only when the first has the same.
 */
function compareHeaders(
  firstPath: string,
  first: readonly string[],
  otherPath: string,
  other: readonly string[],
  isMapped: (header: string) => boolean,
): void {
  if (first.length === other.length && first.every((header, index) => header === other[index])) return;
  const name = first.some(isMapped) ? quote : namePlace;
  const missing = first.flatMap((header, index) => (other.includes(header) ? [] : [name(header, index)]));
  const added = other.flatMap((header, index) => (first.includes(header) ? [] : [namePlace(header, index)]));
  const differences = [
    missing.length > 0 ? `lacks ${list(missing)}` : '',
    added.length > 0 ? `has another header in ${list(added)}` : '',
    missing.length + added.length === 0 ? describeOrder(first, other, name) : '',
  ].filter((difference) => difference !== '');
  const doubt =
    missing.length === first.length ? '; they have no header in common, so perhaps one file has no header' : '';
  throw new RosterError(
    'headers_differ',
    `The files of one roster must have the same columns in the same order: compared with ${firstPath}, ${otherPath} ${differences.join(' and ')}${doubt}. ` +
      '`nightscreen roster inspect FILE` shows the headers of each.',
  );
}

type Naming = (header: string, index: number) => string;

function describeOrder(first: readonly string[], other: readonly string[], name: Naming): string {
  const at = first.findIndex((header, index) => header !== other[index]);
  const found = other[at];
  if (found === undefined) return `has ${other.length} columns instead of ${first.length}`;
  return `has ${name(found, first.indexOf(found))} as column ${at + 1} instead of ${name(first[at] ?? '', at)}`;
}

const quote: Naming = (header) => JSON.stringify(header.slice(0, shownLength));

const namePlace: Naming = (_, index) => `column ${index + 1}`;

const list = (named: readonly string[]): string =>
  named.slice(0, mostShown).join(', ') + (named.length > mostShown ? ' ...' : '');

/**
 * Opens each file and reads its header. Throws the RosterError that reading all of them would throw for the first file
 * that is unreadable, not written as declared, or has other columns than the first.
 */
export async function checkHeaders(
  paths: readonly string[],
  source: CsvSettings,
  isMapped: (header: string) => boolean,
): Promise<void> {
  let first: { path: string; headers: readonly string[] } | undefined;
  for (const path of paths) {
    const tally = { lines: 0, headers: 0, blanks: 0, continuations: 0, records: 0 };
    const file = await openCsvFile({ path, name: path, file: path, tally, onBytes: () => undefined }, source, isMapped);
    await file.close();
    first ??= { path, headers: file.headers };
    compareHeaders(first.path, first.headers, path, file.headers, isMapped);
  }
}
