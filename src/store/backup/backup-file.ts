import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { BackupError } from '../../errors.js';
import { findOddFile } from '../../files.js';
import { type Queryable, readColumn } from '../database/database.js';
import { type Migration, packagedMigrations, readMigrations } from '../database/migrate.js';

/** The name and version of the format. */
export const backupSchema = 'nightscreen/backup/1';

const migrationSchema = z.object({ version: z.number().int(), name: z.string(), sha256: z.string() });
/**
 * The first line of a backup. A backup is lines of JSON, compressed by gzip: a header; for each table a line with its columns and then a
 * line for each row, which is the text form of the row as Postgres writes and reads it; the sequences; and an end line.
 */
const headerSchema = z.object({
  schema: z.literal(backupSchema),
  createdAt: z.iso.datetime(),
  /** Of Nightscreen. */
  version: z.string(),
  dialect: z.enum(['postgres', 'embedded']),
  /** Names of the organisations in it. */
  organisations: z.array(z.string()),
  migrations: z.array(migrationSchema),
});
/** What a backup says about itself. */
export type BackupHeader = z.infer<typeof headerSchema>;

/** The line before the rows of a table; its columns are in the order of the rows' fields. */
const tableSchema = z.strictObject({ table: z.string(), columns: z.array(z.string()) });

/** The line behind the rows of all tables: the last number that each sequence has given, null for one that has given none. */
const sequencesSchema = z.strictObject({ sequences: z.record(z.string(), z.number().nullable()) });

/** The last line: how many rows each table has, and the SHA-256 (hex) of all lines before, line ends included. */
const endSchema = z.strictObject({
  end: z.object({ rows: z.record(z.string(), z.number()), sha256: z.string() }),
});

/** How many rows each table has. */
export type RowCounts = Readonly<Record<string, number>>;

/** A backup that is whole and can be restored. */
export interface CheckedBackup {
  path: string;
  /** Of its lines. */
  sha256: string;
  /** All that this program brings, and those of the backup's schema. */
  packaged: readonly Migration[];
  migrations: readonly Migration[];
}

/** Reads a backup to its end; throws BackupError unless it is whole and of a schema that this program knows, and the signal's reason. */
export async function checkBackup(path: string, signal: AbortSignal): Promise<CheckedBackup> {
  const packaged = await readMigrations(packagedMigrations());
  let migrations: readonly Migration[] = [];
  for await (const part of readBackup(path)) {
    signal.throwIfAborted();
    if (part.kind === 'header') migrations = findMigrations(path, part.header, packaged);
    if (part.kind === 'end') return { path, sha256: part.sha256, packaged, migrations };
  }
  throw new BackupError('backup_broken', `${path} is cut: its end is missing`);
}

function findMigrations(
  path: string,
  { migrations, version }: BackupHeader,
  packaged: readonly Migration[],
): readonly Migration[] {
  return migrations.map((wanted, index) => {
    const known = packaged[index];
    if (!known) {
      throw new BackupError(
        'backup_newer',
        `${path} is of a newer version (${version}, with ${wanted.name}): restore it with that version or a later one`,
      );
    }
    if (known.sha256 === wanted.sha256 && known.version === wanted.version) return known;
    throw new BackupError(
      'backup_other_schema',
      `${path} is of a version (${version}) whose migration ${wanted.name} was another: restore it with that version`,
    );
  });
}

const columnRow = z.object({ table: z.string(), columns: z.array(z.string()), written: z.array(z.string()) });

/** A table: all its columns in the order of a row's text form, and those that can be written (the others are generated). */
export type TableColumns = z.infer<typeof columnRow>;

/** A name as SQL takes it, whatever it is. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The columns of these tables; one that is not there is left out. */
export async function describeTables(
  database: Queryable,
  tables: readonly string[],
): Promise<ReadonlyMap<string, TableColumns>> {
  const rows = await database.query(
    columnRow,
    `select class.relname::text as "table", array_agg(attname::text order by attnum) as columns,
       array_agg(attname::text order by attnum) filter (where attgenerated = '') as written
     from pg_class class join pg_attribute attribute on attrelid = class.oid and attnum > 0 and not attisdropped
     where class.relnamespace = (select oid from pg_namespace where nspname = current_schema())
       and class.relkind = 'r' and class.relname = any ($1::text[])
     group by class.relname`,
    [[...tables]],
  );
  return new Map(rows.map((row) => [row.table, row]));
}

/** The tables of our schema that outlive a crash, partitions among them; those of an extension are the extension's. */
export function listPermanentTables(database: Queryable): Promise<readonly string[]> {
  return readColumn(
    database,
    z.string(),
    `select relname::text as name from pg_class class
     where relnamespace = (select oid from pg_namespace where nspname = current_schema())
       and relkind in ('r', 'p', 'f', 'm') and relpersistence = 'p'
       and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = class.oid and deptype = 'e')
     order by 1`,
  );
}

/** The sequences of these tables' columns, and those that stand beside them, by name. */
export function listSequences(database: Queryable, tables: readonly string[]): Promise<readonly string[]> {
  return readColumn(
    database,
    z.string(),
    `select sequence.relname::text as name
     from pg_class sequence
     left join pg_depend owned on owned.classid = 'pg_class'::regclass and owned.objid = sequence.oid
       and owned.refclassid = 'pg_class'::regclass and owned.deptype in ('i', 'a')
     left join pg_class owner on owner.oid = owned.refobjid
     where sequence.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and sequence.relkind = 'S'
       and (owner.relname = any ($1::text[]) or owner.oid is null and sequence.relname = any ($2::text[]))
     order by 1`,
    [[...tables], looseSequences],
  );
}

/** Sequences that are of no column. */
const looseSequences = ['screening_request_block'];

const statement =
  /^\s*(?:create\s+table\s+(?:if\s+not\s+exists\s+)?(?<made>\w+)|drop\s+table\s+(?:if\s+exists\s+)?(?<dropped>[\w\s,]+);)/gim;

/**
 * The tables that these migrations have made, in the order in which they were made. Tables that are not logged are left out: what is in
 * them is on its way only, and is gone after a crash as well.
 */
export function listTables(migrations: readonly Pick<Migration, 'sql'>[]): readonly string[] {
  const tables = new Set<string>();
  for (const { sql } of migrations) {
    for (const { groups } of sql.matchAll(statement)) {
      if (groups?.['made'] !== undefined) tables.add(groups['made']);
      for (const name of (groups?.['dropped'] ?? '').split(',')) tables.delete(name.trim());
    }
  }
  return [...tables];
}

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
