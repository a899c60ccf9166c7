import { type Chunks, readFileChunks } from './file-chunks.js';
import { gunzipChunks, isGzip } from './gunzip-chunks.js';
import { refuseOtherFormats } from './refuse-other-formats.js';
import { readStandardInput } from './standard-input.js';

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
