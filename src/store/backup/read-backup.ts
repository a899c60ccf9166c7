import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { BackupError } from '../../errors.js';
import {
  type BackupHeader,
  endSchema,
  headerSchema,
  type RowCounts,
  sequencesSchema,
  tableSchema,
} from './backup-format.js';
import { readLines } from './read-lines.js';

/** A part of a backup, in the order of the file; rows belong to the table before them. */
export type BackupPart =
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
