import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { z } from 'zod';
import { BackupError } from '../../errors.js';
import { findOddFile } from '../../files.js';
import {
  type BackupHeader,
  endSchema,
  headerSchema,
  type RowCounts,
  sequencesSchema,
  tableSchema,
} from './backup-format.js';

/** A part of a backup, in the order of the file; rows belong to the table before them. */
type BackupPart =
  | { kind: 'header'; header: BackupHeader }
  | { kind: 'table'; table: string; columns: readonly string[] }
  | { kind: 'row'; row: string }
  | { kind: 'sequences'; sequences: Readonly<Record<string, number | null>> }
  | { kind: 'end'; rows: RowCounts; sha256: string };

/**
 * The parts of a backup, one after another. What comes before the end may be of a file that was damaged: only when the end has come are the
 * digest and all counts proven. Throws BackupError `backup_missing`, `backup_unreadable`, `backup_broken`, or `backup_format` for a format that is not known.
 */
export async function* readBackup(path: string): AsyncGenerator<BackupPart> {
  const digest = createHash('sha256');
  const counts: Record<string, number> = {};
  let table: string | undefined;
  let number = 0;
  let end: BackupPart | undefined;
  let stage: 'header' | 'tables' | 'end' | 'over' = 'header';
  for await (const line of readLines(path)) {
    number += 1;
    const value = parse(path, number, line);
    if (stage === 'header') {
      yield { kind: 'header', header: toHeader(path, value) };
      stage = 'tables';
    } else if (stage === 'tables' && typeof value === 'string' && table !== undefined) {
      counts[table] = (counts[table] ?? 0) + 1;
      yield { kind: 'row', row: value };
    } else if (stage === 'tables' && isOf(tableSchema, value)) {
      table = value.table;
      counts[table] = 0;
      yield { kind: 'table', ...value };
    } else if (stage === 'tables' && isOf(sequencesSchema, value)) {
      stage = 'end';
      yield { kind: 'sequences', sequences: value.sequences };
    } else if (stage === 'end' && isOf(endSchema, value)) {
      const { rows, sha256 } = value.end;
      const names = new Set([...Object.keys(rows), ...Object.keys(counts)]);
      const isWhole = sha256 === digest.digest('hex') && [...names].every((name) => rows[name] === counts[name]);
      if (!isWhole) throw new BackupError('backup_broken', `${path} was altered or damaged: its digest is another`);
      end = { kind: 'end', rows, sha256 };
      stage = 'over';
    } else {
      throw new BackupError('backup_broken', `${path} was altered or damaged: line ${number} does not belong there`);
    }
    if (!end) digest.update(line).update('\n');
  }
  if (!end) throw new BackupError('backup_broken', `${path} is cut: its end is missing`);
  yield end;
}

const isOf = <Shape>(schema: z.ZodType<Shape>, value: unknown): value is Shape => schema.safeParse(value).success;

function parse(path: string, number: number, line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch (error) {
    const reason = number === 1 ? 'is no backup' : `was altered or damaged at line ${number}`;
    throw new BackupError('backup_broken', `${path} ${reason}`, { cause: error });
  }
}

function toHeader(path: string, value: unknown): BackupHeader {
  const header = headerSchema.safeParse(value);
  if (header.success) return header.data;
  throw new BackupError(
    'backup_format',
    `${path} is no backup of Nightscreen, or one of a newer version: \`nightscreen backup\` writes those that can be restored`,
  );
}

const newline = 0x0a;
/** In bytes. No row that we write comes near. */
const longestLine = 256 * 1_024 * 1_024;

/** The lines of a file that gzip has compressed, without their ends; throws BackupError when it is missing, cannot be read, or is cut. */
async function* readLines(path: string): AsyncGenerator<Buffer> {
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
