import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { RosterError } from '../../errors.js';
import type { LineTally, TableReading, TableRecord } from '../table-reading.js';
import { compareHeaders } from './compare-headers.js';
import { type CsvFile, openCsvFile } from './csv-file.js';
import type { CsvSource } from './csv-source.js';
import { findFiles } from './find-files.js';
import { standardInput } from './source-bytes.js';

/** The most records of one batch. */
const batchSize = 500;

type Batches = AsyncGenerator<readonly TableRecord[], void, undefined>;

/** A CSV table, with how its first file is written. */
export interface CsvTable extends TableReading {
  delimiter: string;
}

/** What goes through all files of a table. */
interface Progress {
  tally: LineTally;
  /** Bytes read so far, as they lie. */
  doneBytes: number;
  /** Of all files together; null where one has no size, such as a pipe. */
  totalBytes: number | null;
  /** Of the files read to their ends, in order. */
  digests: Buffer[];
  open: CsvFile | null;
  isEnded: boolean;
}

/**
 * Opens the files of a CSV table and reads the header of the first; `isMapped` says which headers the mapping asks for.
 * Throws RosterError when a pattern matches nothing, a file cannot be read, or there are no records, unless `mayBeEmpty` lets a header
 * alone pass; while `records` are read
 * also when a later file has another header or is empty.
 */
export async function openCsvTable(
  source: CsvSource,
  isMapped: (header: string) => boolean,
  mayBeEmpty = false,
): Promise<CsvTable> {
  const paths = await findFiles([source.path].flat());
  const progress: Progress = {
    tally: { lines: 0, headers: 0, blanks: 0, continuations: 0, records: 0 },
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
  const batches = readFiles(first, paths, openAt, isMapped, progress);
  try {
    const head = await batches.next();
    if (head.done && !(mayBeEmpty && source.header)) {
      throw new RosterError(
        'roster_empty',
        `${name} has ${source.header ? 'a header and no rows' : 'no rows'}. Nothing was changed; check the export that writes it.`,
      );
    }
    const { headers, delimiter } = first;
    return { ...toReading(name, headers, withHead(head.done ? [] : head.value, batches), progress), delimiter };
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
      if (!progress.isEnded) throw new RosterError('roster_not_read', `${source}: has not been read to its end.`);
      return joinDigests(progress.digests);
    },
    tally: () => {
      const { headers, blanks, continuations, records } = progress.tally;
      return { ...progress.tally, lines: headers + blanks + continuations + records };
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
    // What is missing is told when its turn comes.
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

/** One file has its own digest, so that it can be compared with what `sha256sum` says. */
function joinDigests(digests: readonly Buffer[]): string {
  const [only] = digests;
  if (only !== undefined && digests.length === 1) return only.toString('hex');
  return createHash('sha256').update(Buffer.concat(digests)).digest('hex');
}

/** Lines are counted where they are split, and again by what became of them. */
function checkTally({ lines, headers, blanks, continuations, records }: LineTally, name: string): void {
  const sum = headers + blanks + continuations + records;
  if (lines === sum) return;
  throw new RosterError('lines_lost', `${name}: ${lines} lines were read, and ${sum} of them accounted for.`);
}
