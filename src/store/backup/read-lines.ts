import { createReadStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { BackupError } from '../../errors.js';
import { findOddFile } from '../../files.js';

const newline = 0x0a;
/** In bytes. No row that we write comes near. */
const longestLine = 256 * 1_024 * 1_024;

/** The lines of a file that gzip has compressed, without their ends; throws BackupError when it is missing, cannot be read, or is cut. */
export async function* readLines(path: string): AsyncGenerator<Buffer> {
  const odd = findOddFile(path);
  if (odd !== null) throw new BackupError('backup_unreadable', `${path} ${odd}`);
  const text = new PassThrough();
  const reading = pipeline(createReadStream(path), createGunzip(), text);
  // What goes wrong comes to whoever reads the text.
  reading.catch(() => undefined);
  let parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of text) {
      if (!Buffer.isBuffer(chunk)) continue;
      let begin = 0;
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, begin)) {
        parts.push(chunk.subarray(begin, end));
        yield parts.length === 1 ? chunk.subarray(begin, end) : Buffer.concat(parts);
        parts = [];
        length = 0;
        begin = end + 1;
      }
      parts.push(chunk.subarray(begin));
      length += chunk.length - begin;
      if (length > longestLine)
        throw new BackupError('backup_broken', `${path} is no backup: a line of it is too long`);
    }
  } catch (error) {
    throw toBackupError(path, error);
  } finally {
    text.destroy();
  }
  if (length > 0) throw new BackupError('backup_broken', `${path} is cut: its last line has no end`);
}

function toBackupError(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string' || error instanceof BackupError) return error;
  if (code === 'ENOENT') return new BackupError('backup_missing', `there is no file ${path}`, { cause: error });
  if (code === 'Z_BUF_ERROR')
    return new BackupError('backup_broken', `${path} is cut: its end is missing`, { cause: error });
  if (!code.startsWith('Z_'))
    return new BackupError('backup_unreadable', `${path} ${describe(code)}`, { cause: error });
  const message = `${path} cannot be read: it is not compressed as a backup is, or was damaged`;
  return new BackupError('backup_broken', message, { cause: error });
}

/** Why the system gave nothing of a file, which says nothing about what is in it. */
function describe(code: string): string {
  if (code === 'EISDIR') return 'is a folder, and no file';
  return code === 'EACCES' || code === 'EPERM' ? `may not be read by this user (${code})` : `cannot be read (${code})`;
}
