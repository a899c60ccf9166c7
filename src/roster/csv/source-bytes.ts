import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RosterError } from '../../errors.js';
import { type Chunks, readFileChunks } from './file-chunks.js';
import { gunzipChunks, isGzip } from './gunzip-chunks.js';
import { refuseOtherFormats } from './refuse-other-formats.js';

/** What is gathered before anything is decided by it. */
const firstBytes = 64 * 1024;

/** The path that means standard input. */
export const standardInput = '-';

/**
 * The bytes of a source, unpacked where they are packed by gzip, whatever its name; `onBytes` sees them as they lie, in order.
 * Throws RosterError `not_a_table` for what begins like a workbook, a picture and the like.
 */
export async function* readSourceBytes(path: string, onBytes: (bytes: Buffer) => void): Chunks {
  const raw = watchBytes(
    path === standardInput || path === '/dev/stdin' ? readStandardInput() : readFileChunks(path),
    onBytes,
  );
  try {
    const first = await raw.next();
    if (first.done) return;
    const whole = joinFirst(first.value, raw);
    yield* refuseFormats(isGzip(first.value) ? joinStart(gunzipChunks(whole, path)) : whole, path);
  } finally {
    await raw.return();
  }
}

/** Gives the first chunk with at least `firstBytes`, as far as there are so many. */
async function* joinStart(chunks: Chunks): Chunks {
  const first = await chunks.next();
  if (!first.done) yield* joinFirst(first.value, chunks);
}

async function* joinFirst(first: Buffer, others: Chunks): Chunks {
  try {
    let start = first;
    while (start.length < firstBytes) {
      const next = await others.next();
      if (next.done) break;
      start = Buffer.concat([start, next.value]);
    }
    yield start;
    yield* others;
  } finally {
    await others.return();
  }
}

async function* refuseFormats(chunks: Chunks, path: string): Chunks {
  try {
    const first = await chunks.next();
    if (first.done) return;
    refuseOtherFormats(first.value, path === standardInput ? 'Standard input' : path);
    yield first.value;
    yield* chunks;
  } finally {
    await chunks.return();
  }
}

async function* watchBytes(chunks: Chunks, onBytes: (bytes: Buffer) => void): Chunks {
  for await (const chunk of chunks) {
    onBytes(chunk);
    yield chunk;
  }
}

const chunkBytes = 128 * 1024;

/** What of standard input has been read so far, kept in a file that has no name any more, so that nothing is left of it. */
interface Kept {
  file: FileHandle;
  length: number;
  rest: AsyncIterator<unknown>;
  isWhole: boolean;
}

let keeping: Promise<Kept> | undefined;

/**
 * Reads standard input from its start, each time: a roster is looked at before it is imported, for example to see whether it is as it was.
 * Throws RosterError `roster_broken_off` when reading fails.
 */
async function* readStandardInput(): Chunks {
  keeping ??= keep();
  try {
    const kept = await keeping;
    hold(true);
    for (let offset = 0; ; ) {
      const chunk = offset < kept.length ? await readKept(kept, offset) : await readOn(kept);
      if (chunk === null) return;
      offset += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (error instanceof RosterError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new RosterError('roster_broken_off', `Standard input broke off (${code}).`, { cause: error });
  } finally {
    hold(false);
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
  if (bytesRead === 0) throw new RosterError('roster_broken_off', 'What was kept of standard input is gone.');
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

/** Whoever has given up reading must not be kept from ending by a sender that goes on. */
function hold(isReading: boolean): void {
  if (!isSocket(process.stdin)) return;
  if (isReading) process.stdin.ref();
  else process.stdin.unref();
}

const isSocket = (stream: object): stream is Socket => 'ref' in stream && 'unref' in stream;
