import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, type Gunzip } from 'node:zlib';
import { RosterError } from '../../errors.js';
import type { Chunks } from './file-chunks.js';

const chunkBytes = 64 * 1024;

/** Each stretch of this many unpacked bytes must have taken at least the `maxRatio`th part of it in the file: no roster packs better. */
const stretchBytes = 4 * 1024 * 1024;
const maxRatio = 200;

const firstMagic = 0x1f;
const secondMagic = 0x8b;

/** Tells by its first two bytes whether a file is packed by gzip. */
export function isGzip(start: Buffer): boolean {
  return start[0] === firstMagic && start[1] === secondMagic;
}

/**
 * Unpacks gzip data; throws RosterError `roster_broken_off` where they are cut off, damaged or followed by something else,
 * `gzip_bomb` where they unpack to more than `maxRatio` times their size.
 */
export async function* gunzipChunks(packed: Chunks, path: string): Chunks {
  let givenBytes = 0;
  const counted = async function* () {
    for await (const chunk of packed) {
      givenBytes += chunk.length;
      yield chunk;
    }
  };
  const gunzip = createGunzip({ chunkSize: chunkBytes });
  const flow = pipeline(Readable.from(counted(), { highWaterMark: 1 }), gunzip);
  // The reader below meets the same error.
  flow.catch(() => undefined);
  const checkRatio = createRatioCheck(gunzip, path);
  try {
    for await (const chunk of gunzip) {
      const bytes: Buffer = chunk;
      checkRatio(bytes.length);
      yield bytes;
    }
    if (gunzip.bytesWritten !== givenBytes) {
      throw new RosterError('roster_broken_off', `${path}: something that is not gzip follows behind the gzip data.`);
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
        `${path} unpacks to more than ${maxRatio} times its size, which no table does. It was not read on.`,
      );
    }
    unpackedBytes = 0;
    packedBytes = gunzip.bytesWritten;
  };
}

function toGzipError(error: unknown, path: string): unknown {
  if (error instanceof RosterError || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : 'unknown';
  const told = code === 'Z_BUF_ERROR' ? 'end too early: the file is incomplete' : `are damaged (${code})`;
  return new RosterError('roster_broken_off', `${path}: its gzip data ${told}. Fetch or write the file again.`, {
    cause: error,
  });
}
