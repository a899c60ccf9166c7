import type { BigIntStats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { RosterError } from '../../errors.js';
import { findOddFile } from '../../files.js';

const chunkBytes = 128 * 1024;

/** Bytes as they come; `return()` gives up the rest and lets go of what they come from. */
export type Chunks = AsyncGenerator<Buffer, void, undefined>;

/**
 * Reads a file from start to end; throws RosterError `roster_not_found`, `roster_unreadable`, `roster_broken_off` when reading fails
 * half-way, or `roster_changed` when somebody writes to the file meanwhile.
 */
export async function* readFileChunks(path: string): Chunks {
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
    `${path} was changed while it was read (${before.size} bytes at first, ${after.size} at last, ${offset} read). ` +
      'Start when the export is complete; let it write under another name and rename the file at the end.',
  );
}

async function openFile(path: string): Promise<FileHandle> {
  const odd = findOddFile(path);
  if (odd !== null) {
    throw new RosterError(
      'roster_unreadable',
      `${path} ${odd}. Write the rows into a file and name that, or send them to standard input and name -.`,
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
    throw new RosterError('roster_unreadable', `${path} cannot be opened (${readCode(error)}).`, { cause: error });
  }
}

function readCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
