import type { BigIntStats } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, type Gunzip } from 'node:zlib';
import { RosterError, readErrorCode } from '../../errors.js';
import { findOddFile } from '../../files.js';

const chunkBytes = 128 * 1024;

/** Chunks of bytes; `return()` closes their source. */
type ByteChunks = AsyncGenerator<Buffer, void, undefined>;

/**
 * Reads a file from start to end. Throws RosterError `roster_not_found`, `roster_unreadable`, `roster_broken_off` when
 * reading fails half-way, or `roster_changed` when the file changes meanwhile.
 */
export async function* readFileChunks(path: string): ByteChunks {
  const file = await openFile(path);
  try {
    const before = await file.stat({ bigint: true });
    let offset = 0n;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null);
      if (bytesRead === 0) break;
      offset += BigInt(bytesRead);
      yield buffer.subarray(0, bytesRead);
    }
    checkUnchanged(path, before, await file.stat({ bigint: true }), offset);
  } catch (error) {
    if (error instanceof RosterError) throw error;
    if (readCode(error) === 'EISDIR') {
      throw new RosterError(
        'roster_unreadable',
        `${path} is a folder. Name a CSV file, or a pattern such as ${path}/*.csv.`,
        { cause: error },
      );
    }
    throw new RosterError('roster_broken_off', `${path}: reading broke off (${readCode(error)}).`, { cause: error });
  } finally {
    await file.close();
  }
}

function checkUnchanged(path: string, before: BigIntStats, after: BigIntStats, offset: bigint): void {
  if (before.size === after.size && before.mtimeNs === after.mtimeNs && offset === after.size) return;
  throw new RosterError(
    'roster_changed',
    `${path} was changed while it was read (${before.size} bytes at the start, ${after.size} at the end, ${offset} read). ` +
      'Start when the export is complete; export under another name and rename the file at the end.',
  );
}

async function openFile(path: string): Promise<FileHandle> {
  const odd = findOddFile(path);
  if (odd !== null) {
    throw new RosterError(
      'roster_unreadable',
      `${path} ${odd}. Write the rows to a file and name it, or send them to standard input and name -.`,
    );
  }
  try {
    return await open(path);
  } catch (error) {
    if (readCode(error) === 'ENOENT') {
      throw new RosterError(
        'roster_not_found',
        `${path}: there is no such file. Check the path; a relative one starts at ${process.cwd()}.`,
        { cause: error },
      );
    }
    throw new RosterError(
      'roster_unreadable',
      `${path} cannot be opened (${readCode(error)}). Check the file and this user's right to read it.`,
      { cause: error },
    );
  }
}

/** The code of the operating system. */
export const readCode = (error: unknown): string => readErrorCode(error) ?? 'unknown';

/** Whether a path is a regular file that begins like a ZIP archive, as a workbook does. A missing file is reported when it is opened. */
export async function isZipFile(path: string): Promise<boolean> {
  return path !== standardInput && (await readStart(path, zipBytes.length))?.toString('latin1') === zipBytes;
}

/** Reads the first bytes of a regular file; null for a path that is none or cannot be read: opening it as a roster reports that. */
export async function readStart(path: string, length: number): Promise<Buffer | null> {
  // Opening a pipe would wait for its writer, and closing it would end the writer.
  const file = findOddFile(path) === null ? await open(path).catch(() => null) : null;
  try {
    const found = await file?.read(Buffer.alloc(length), 0, length, 0).catch(() => undefined);
    return found === undefined ? null : found.buffer.subarray(0, found.bytesRead);
  } finally {
    await file?.close();
  }
}

const firstBytes = 64 * 1024;

/** The path that means standard input. */
export const standardInput = '-';

/**
 * The bytes of a source, unpacked if packed by gzip, whatever its name; `onBytes` receives the original bytes in
 * order. Throws RosterError `not_a_table` for a workbook, a picture and other formats.
 */
export async function* readSourceBytes(path: string, onBytes: (bytes: Buffer) => void): ByteChunks {
  const source = path === standardInput || path === '/dev/stdin' ? readStandardInput() : readFileChunks(path);
  const raw = watchBytes(source, onBytes);
  try {
    const given = await takeStart(raw);
    const { chunks } = isGzip(given.start) ? await takeStart(gunzipChunks(given.chunks, path)) : given;
    let isStart = true;
    for await (const chunk of chunks) {
      if (isStart) refuseOtherFormats(chunk, path === standardInput ? 'Standard input' : path);
      isStart = false;
      yield chunk;
    }
  } finally {
    await raw.return();
  }
}

async function* watchBytes(chunks: ByteChunks, onBytes: (bytes: Buffer) => void): ByteChunks {
  for await (const chunk of chunks) {
    onBytes(chunk);
    yield chunk;
  }
}

/** Reads the start of a source, at least `firstBytes` if there are so many, and gives it with all chunks. */
async function takeStart(chunks: ByteChunks): Promise<{ start: Buffer; chunks: ByteChunks }> {
  let start: Buffer = Buffer.alloc(0);
  while (start.length < firstBytes) {
    const next = await chunks.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  return { start, chunks: startWith(start, chunks) };
}

/** Gives what was read of a source already, unless it is empty, and the rest; `return()` closes the source. */
export async function* startWith<Item extends { length: number }>(
  start: Item,
  others: AsyncGenerator<Item, void, undefined>,
): AsyncGenerator<Item, void, undefined> {
  try {
    if (start.length > 0) yield start;
    yield* others;
  } finally {
    await others.return();
  }
}

/** The part of standard input that was read so far. Its file has no name any more, so nothing of it remains. */
interface Kept {
  file: FileHandle;
  length: number;
  rest: AsyncIterator<unknown>;
  isWhole: boolean;
}

let keeping: Promise<Kept> | undefined;

/**
 * Reads standard input from its start each time: a roster is inspected before it is imported. Throws RosterError
 * `roster_broken_off` when reading fails.
 */
async function* readStandardInput(): ByteChunks {
  keeping ??= keep();
  try {
    const kept = await keeping;
    keepAlive(true);
    for (let offset = 0; ; ) {
      const chunk = offset < kept.length ? await readKept(kept, offset) : await readOn(kept);
      if (chunk === null) return;
      offset += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (error instanceof RosterError) throw error;
    throw new RosterError('roster_broken_off', `Standard input broke off (${readCode(error)}).`, { cause: error });
  } finally {
    keepAlive(false);
  }
}

async function keep(): Promise<Kept> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-input-'));
  const file = await open(join(folder, 'input'), 'wx+', 0o600);
  await rm(folder, { recursive: true });
  return { file, length: 0, rest: process.stdin[Symbol.asyncIterator](), isWhole: false };
}

async function readKept({ file, length }: Kept, offset: number): Promise<Buffer> {
  const wanted = Math.min(chunkBytes, length - offset);
  const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, offset);
  if (bytesRead === 0) throw new RosterError('roster_broken_off', 'The stored part of standard input cannot be read.');
  return buffer.subarray(0, bytesRead);
}

async function readOn(kept: Kept): Promise<Buffer | null> {
  if (kept.isWhole) return null;
  const next = await kept.rest.next();
  if (next.done) {
    kept.isWhole = true;
    return null;
  }
  const chunk = Buffer.isBuffer(next.value) ? next.value : Buffer.from(String(next.value));
  await kept.file.write(chunk, 0, chunk.length, kept.length);
  kept.length += chunk.length;
  return chunk;
}

/** When nothing reads any more, a sender that continues must not keep the process alive. */
function keepAlive(isReading: boolean): void {
  if (!isSocket(process.stdin)) return;
  if (isReading) process.stdin.ref();
  else process.stdin.unref();
}

const isSocket = (stream: object): stream is Socket => 'ref' in stream && 'unref' in stream;

const unpackedChunkBytes = 64 * 1024;

/** So many unpacked bytes may not come from less than the `maxRatio`th part of them: no roster packs better. */
const stretchBytes = 4 * 1024 * 1024;
const maxRatio = 200;

const firstMagic = 0x1f;
const secondMagic = 0x8b;

const isGzip = (start: Buffer): boolean => start[0] === firstMagic && start[1] === secondMagic;

/**
 * Unpacks gzip data. Throws RosterError `roster_broken_off` when they are truncated, damaged or followed by other
 * data, and `gzip_bomb` when they unpack to more than `maxRatio` times their size.
 */
async function* gunzipChunks(packed: ByteChunks, path: string): ByteChunks {
  let givenBytes = 0;
  const counted = async function* () {
    for await (const chunk of packed) {
      givenBytes += chunk.length;
      yield chunk;
    }
  };
  const gunzip = createGunzip({ chunkSize: unpackedChunkBytes });
  const flow = pipeline(Readable.from(counted(), { highWaterMark: 1 }), gunzip);
  // The reader below throws the same error.
  flow.catch(() => undefined);
  const checkRatio = createRatioCheck(gunzip, path);
  try {
    for await (const chunk of gunzip) {
      const bytes: Buffer = chunk;
      checkRatio(bytes.length);
      yield bytes;
    }
    if (gunzip.bytesWritten !== givenBytes) {
      throw new RosterError('roster_broken_off', `${path}: other data follows the gzip data.`);
    }
  } catch (error) {
    throw toGzipError(error, path);
  } finally {
    gunzip.destroy();
    await packed.return();
  }
}

function createRatioCheck(gunzip: Gunzip, path: string): (length: number) => void {
  let unpackedBytes = 0;
  let packedBytes = 0;
  return (length) => {
    unpackedBytes += length;
    if (unpackedBytes < stretchBytes) return;
    if ((gunzip.bytesWritten - packedBytes) * maxRatio < unpackedBytes) {
      throw new RosterError(
        'gzip_bomb',
        `${path} unpacks to more than ${maxRatio} times its size, which no table does. Reading stopped there.`,
      );
    }
    unpackedBytes = 0;
    packedBytes = gunzip.bytesWritten;
  };
}

function toGzipError(error: unknown, path: string): unknown {
  if (error instanceof RosterError || !(error instanceof Error)) return error;
  const code = readCode(error);
  const fault = code === 'Z_BUF_ERROR' ? 'end too early: the file is incomplete' : `are damaged (${code})`;
  return new RosterError('roster_broken_off', `${path}: its gzip data ${fault}. Fetch or write the file again.`, {
    cause: error,
  });
}

const exportSheet = 'Export its sheet as CSV UTF-8';

const zipBytes = 'PK\x03\x04';

const formats: readonly { bytes: string; what: string; advice: string }[] = [
  { bytes: zipBytes, what: 'an Excel workbook or another ZIP file', advice: `${exportSheet}, or unpack it` },
  { bytes: 'PK\x05\x06', what: 'an empty ZIP file', advice: 'Fetch or write the file again' },
  {
    bytes: '\xd0\xcf\x11\xe0',
    what: 'an old Excel workbook (.xls), or a file with a password',
    advice: 'Save it as .xlsx without a password, or as CSV UTF-8',
  },
  { bytes: '%PDF', what: 'a PDF', advice: 'Ask for the table itself, exported as CSV UTF-8' },
  { bytes: 'SQLite format 3\0', what: 'an SQLite database', advice: 'Export its table as CSV UTF-8' },
  { bytes: '\x89PNG', what: 'a picture (PNG)', advice: 'Ask for the table itself, exported as CSV UTF-8' },
  { bytes: '\xff\xd8\xff', what: 'a picture (JPEG)', advice: 'Ask for the table itself, exported as CSV UTF-8' },
];

/** Throws RosterError `not_a_table` for the first bytes of another format. */
export function refuseOtherFormats(start: Buffer, path: string): void {
  const format = formats.find(({ bytes }) => start.subarray(0, bytes.length).toString('latin1') === bytes);
  if (format === undefined) return;
  throw new RosterError('not_a_table', `${path} is ${format.what}, not CSV. ${format.advice}.`);
}
