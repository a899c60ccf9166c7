import { createHash } from 'node:crypto';
import { lstat, readdir, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { StoreError } from '../errors.js';
import { readPassingName, writeWhole } from '../mail/write-whole.js';
import type { BackupSummary } from '../store/backup/write-backup.js';

const compress = promisify(gzip);
/** In UTF-16 units: what is compressed at once. */
const blockLength = 1_000_000;

/** A backup's file as it was written. */
export interface WrittenBackup extends BackupSummary {
  bytes: number;
  /** Of the file (hex). */
  sha256: string;
}

/**
 * Writes a backup into a file for its owner's eyes only, whole or not at all; what stood there before is replaced then. `fill` writes the
 * lines. What a backup that was killed more than a day ago left there is removed. Throws StoreError `backup_not_written` when the disk is full or the folder cannot be written to.
 */
export async function writeBackupFile(
  path: string,
  fill: (write: (lines: string) => Promise<void>) => Promise<BackupSummary>,
): Promise<WrittenBackup> {
  await removeStale(path);
  const digest = createHash('sha256');
  let bytes = 0;
  let block = '';
  let written: WrittenBackup | undefined;
  try {
    await writeWhole(path, async (file) => {
      // Blocks that are compressed one by one are one file to gzip.
      const flush = async (): Promise<void> => {
        const compressed = await compress(block);
        block = '';
        bytes += compressed.length;
        digest.update(compressed);
        await file.appendFile(compressed);
      };
      const summary = await fill(async (lines) => {
        block += lines;
        if (block.length >= blockLength) await flush();
      });
      await flush();
      written = { ...summary, bytes, sha256: digest.digest('hex') };
      return path;
    });
  } catch (error) {
    throw toNotWritten(path, error);
  }
  if (!written) throw new StoreError('backup_not_written', `${path} was not written`);
  return written;
}

const staleMs = 24 * 3_600_000;

/** A killed backup leaves what it had written, with names and decisions; one that goes on is written to all the time. */
async function removeStale(path: string): Promise<void> {
  const folder = dirname(path);
  const kind = extname(path);
  for (const name of await readdir(folder).catch(() => [])) {
    const former = readPassingName(name);
    // Under names such as $(date +%F).backup each night has another.
    if (former === undefined || !(former === basename(path) || (kind !== '' && extname(former) === kind))) continue;
    const facts = await lstat(join(folder, name)).catch(() => null);
    const isOurs = facts?.isFile() === true && facts.uid === process.geteuid?.();
    if (isOurs && Date.now() - facts.mtimeMs > staleMs) await rm(join(folder, name), { force: true });
  }
}

function toNotWritten(path: string, error: unknown): unknown {
  const isOfSystem = error instanceof Error && 'syscall' in error && 'code' in error;
  if (!isOfSystem) return error;
  const remedy =
    error.code === 'ENOENT'
      ? `the folder ${dirname(path)} is not there: make it, or name another file`
      : 'make room there or give the right, or name another file';
  const message = `the backup cannot be written to ${path}: ${remedy}; nothing was left`;
  return new StoreError('backup_not_written', message, { cause: error });
}
