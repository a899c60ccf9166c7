import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { RosterError } from '../../errors.js';
import type { CsvSettings } from '../settings.js';
import { type LineTally, startTally, type TableReading, type TableRecord } from '../table-reading.js';
import { openCsvFile } from './csv-file.js';
import { findFiles } from './find-files.js';
import { isZipFile, readFileChunks, standardInput, startWith } from './source-bytes.js';

const batchSize = 500;

type TableFile = Pick<Awaited<ReturnType<typeof openCsvFile>>, 'headers' | 'delimiter' | 'records' | 'close'> & {
  lowerHeader: { line: number } | null;
};
type Batches = AsyncGenerator<readonly TableRecord[], void, undefined>;

/** Opens a CSV file or a workbook; the first bytes decide which. */
async function openFile(...[place, source, isMapped]: Parameters<typeof openCsvFile>): Promise<TableFile> {
  if (!(await isZipFile(place.path))) return openCsvFile(place, source, isMapped);
  const { openWorkbookFile } = await import('../workbook/workbook-file.js');
  const file = await openWorkbookFile(place, source, isMapped);
  // From its opening on, a workbook that changes is refused; so these are the bytes that are read.
  for await (const bytes of readFileChunks(place.path)) place.onBytes(bytes);
  return file;
}

/**
 * Opens the files of a CSV table, of which any may be a workbook, and reads the header of the first. Throws RosterError when a pattern matches no file,
 * a file is unreadable, or there are no records; `mayBeEmpty` permits a header alone. Reading `records` also throws
 * for a later file with another header or without content.
 */
export async function openCsvTable(
  source: CsvSettings,
  isMapped: (header: string) => boolean,
  mayBeEmpty = false,
): Promise<TableReading & { delimiter: string }> {
  const paths = await findFiles([source.path].flat());
  const name = [source.path].flat().map(toName).join(', ');
  const totalBytes = await sumSizes(paths);
  const { skipRows } = source;
  const tally: LineTally = { ...startTally(), ...(skipRows && { skipped: 0 }) };
  const digests: Buffer[] = [];
  let doneBytes = 0;
  let isEnded = false;
  const openAt = async (index: number) => {
    const hash = createHash('sha256');
    const path = paths[index] ?? '';
    const place = {
      path,
      name: toName(path),
      file: paths.length > 1 ? toName(path) : null,
      tally,
      onBytes: (bytes: Buffer) => {
        hash.update(bytes);
        doneBytes += bytes.length;
      },
    };
    return { ...(await openFile(place, source, isMapped)), hash, name: place.name };
  };
  const first = await openAt(0);
  let open: TableFile = first;
  async function* readFiles(): Batches {
    for (let index = 0; index < paths.length; index += 1) {
      const file = index === 0 ? first : await openAt(index);
      open = file;
      try {
        compareHeaders(first, file, isMapped);
        for await (const records of file.records) {
          for (let start = 0; start < records.length; start += batchSize) {
            yield records.length <= batchSize ? records : records.slice(start, start + batchSize);
          }
        }
        digests.push(file.hash.digest());
      } finally {
        await file.close();
      }
    }
    checkTally(tally, paths.join(', '));
    isEnded = true;
  }
  const batches = leaveOut(readFiles(), skipRows, tally);
  try {
    const head = await batches.next();
    if (head.done && !(mayBeEmpty && source.header)) {
      throw new RosterError(
        'roster_empty',
        `${name} has ${source.header ? 'a header and no rows' : 'no rows'}. Nothing was changed; check the export that writes it.`,
      );
    }
    const records = startWith(head.done ? [] : head.value, batches);
    const { headers, delimiter, lowerHeader } = first;
    return {
      source: name,
      headers,
      delimiter,
      lowerHeader,
      records,
      digest: () => {
        if (!isEnded) throw new RosterError('roster_not_read', `${name} has not been read to its end.`);
        return joinDigests(digests);
      },
      tally: () => ({ ...tally, lines: sumLines(tally) }),
      progress: () => (totalBytes === null ? null : { doneBytes, totalBytes }),
      close: async () => {
        await records.return();
        await open.close();
      },
    };
  } catch (error) {
    await open.close();
    throw error;
  }
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

const shownLength = 60;

/**
 * Throws RosterError `headers_differ` unless both files have the same columns in the same order. The first line of a
 * file without a header is a customer's row, so a header is quoted only when `isMapped` recognises one of its file.
 */
function compareHeaders(
  first: { name: string; headers: readonly string[] },
  other: typeof first,
  isMapped: (header: string) => boolean,
): void {
  const count = Math.max(first.headers.length, other.headers.length);
  const at = Array.from({ length: count }, (_, index) => index).find(
    (index) => first.headers[index] !== other.headers[index],
  );
  if (at === undefined) return;
  const [expected, found] = [first, other].map(({ headers }) => {
    const header = headers[at];
    if (header === undefined) return 'missing';
    return headers.some(isMapped) ? JSON.stringify(header.slice(0, shownLength)) : 'another one';
  });
  throw new RosterError(
    'headers_differ',
    `The files of one roster must have the same columns in the same order: column ${at + 1} is ${expected} in ${first.name} and ${found} in ${other.name}. ` +
      '`nightscreen roster inspect FILE` shows the headers of each.',
  );
}

/**
 * Opens each file and reads its header. Throws the RosterError that reading all of them would throw for the first file
 * that is unreadable, not written as declared, or has other columns than the first.
 */
export async function checkHeaders(
  paths: readonly string[],
  source: CsvSettings,
  isMapped: (header: string) => boolean,
): Promise<void> {
  let first: Parameters<typeof compareHeaders>[0] | undefined;
  for (const path of paths) {
    const tally = startTally();
    const file = await openFile({ path, name: path, file: path, tally, onBytes: () => undefined }, source, isMapped);
    await file.close();
    const named = { name: path, headers: file.headers };
    first ??= named;
    compareHeaders(first, named, isMapped);
  }
}
