import { type FileHandle, open } from 'node:fs/promises';
import { RosterError } from '../errors.js';

const chunkBytes = 256 * 1024;

/**
 * Reads a file from start to end, showing each chunk to `onChunk` before it is given out; throws RosterError `roster_not_found`,
 * `roster_unreadable`, or `roster_broken_off` when reading fails half-way.
 */
export async function* readChunks(
  path: string,
  onChunk: (chunk: Buffer) => void,
): AsyncGenerator<Buffer, void, undefined> {
  const file = await openFile(path);
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null);
      if (bytesRead === 0) return;
      const chunk = buffer.subarray(0, bytesRead);
      onChunk(chunk);
      yield chunk;
    }
  } catch (error) {
    if (readCode(error) === 'EISDIR') {
      throw new RosterError('roster_unreadable', `${path} is a folder. Name one CSV file.`, { cause: error });
    }
    throw new RosterError('roster_broken_off', `${path}: reading broke off (${readCode(error)}).`, { cause: error });
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path);
  } catch (error) {
    if (readCode(error) === 'ENOENT') {
      const hint = /[*?[]/.test(path) ? ' A roster is one file; patterns are not read.' : '';
      throw new RosterError(
        'roster_not_found',
        `No roster at ${path}.${hint} Check the path; a relative one starts at ${process.cwd()}.`,
        { cause: error },
      );
    }
    throw new RosterError('roster_unreadable', `${path} cannot be opened (${readCode(error)}).`, { cause: error });
  }
}

function readCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
