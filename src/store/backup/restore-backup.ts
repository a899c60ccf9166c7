import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { BackupError, readErrorCode } from '../../errors.js';
import { findOddFile } from '../../files.js';
import { type Database, readColumn, readValue, type Transaction } from '../database/database.js';
import { restoredKey } from '../database/leases.js';
import {
  createMigrationTable,
  layMigration,
  type Migration,
  packagedMigrations,
  readLanded,
  readMigrations,
} from '../database/migrate.js';
import { rawSql, sql } from '../database/statement.js';
import { runIdSql } from '../runs.js';
import { type BackupSummary, describeTables, headerSchema, listTables, quoteName } from './format.js';
import { saveRestoration } from './restoration.js';

/** A line of a backup; a text is a row of the last table line. */
const lineSchema = z.union([
  z.string(),
  headerSchema,
  z.strictObject({ table: z.string(), columns: z.array(z.string()) }),
  z.strictObject({ sequences: z.record(z.string(), z.number().nullable()) }),
  z.strictObject({ end: z.object({ rows: z.record(z.string(), z.number()), sha256: z.string() }) }),
]);
type Line = z.infer<typeof lineSchema>;

/**
 * Reads the lines of a backup. They are valid only once all have come, because the digest is at the end. Throws BackupError `backup_missing`,
 * `backup_unreadable`, `backup_broken`, or `backup_format` for an unknown format.
 */
export async function* readBackup(path: string): AsyncGenerator<Line> {
  const digest = createHash('sha256');
  let number = 0;
  let isOver = false;
  for await (const text of readTexts(path)) {
    number += 1;
    const line = parseLine(path, number, text);
    const isEnd = typeof line === 'object' && 'end' in line;
    if (isOver || (isEnd && line.end.sha256 !== digest.digest('hex'))) {
      throw new BackupError('backup_broken', `${path} was altered or damaged: its digest differs`);
    }
    isOver = isEnd;
    if (!isEnd) digest.update(text).update('\n');
    yield line;
  }
  if (!isOver) throw new BackupError('backup_broken', `${path} is truncated: its end is missing`);
}

function parseLine(path: string, number: number, text: string): Line {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = number === 1 ? 'is not a backup' : `was altered or damaged at line ${number}`;
    throw new BackupError('backup_broken', `${path} ${reason}`, { cause: error });
  }
  const line = lineSchema.safeParse(value).data;
  const isHeader = typeof line === 'object' && 'schema' in line;
  if (number === 1 && !isHeader) {
    throw new BackupError(
      'backup_format',
      `${path} is not a backup of Nightscreen, or is one of a newer version. Restore a file that \`nightscreen db backup FILE\` has written.`,
    );
  }
  if (line !== undefined && isHeader === (number === 1)) return line;
  throw new BackupError('backup_broken', `${path} was altered or damaged: line ${number} is unexpected`);
}

/** In UTF-16 units: of the header, and of a row, whose longest text is an answer of the service. */
const longestHeader = 1_048_576;
const longestLine = 256 * 1_048_576;
const chunkSize = 262_144;

/** The lines of a gzip file without their ends; throws BackupError when it is missing, unreadable, truncated, or one of its lines is too long. */
async function* readTexts(path: string): AsyncGenerator<string> {
  const odd = findOddFile(path);
  if (odd !== null) throw new BackupError('backup_unreadable', `${path} ${odd}`);
  const content = new PassThrough({ encoding: 'utf8', highWaterMark: chunkSize });
  // The reader of the text gets the errors.
  pipeline(createReadStream(path), createGunzip({ chunkSize }), content).catch(() => undefined);
  let most = longestHeader;
  let parts: string[] = [];
  let length = 0;
  try {
    for await (const chunk of content) {
      const pieces = String(chunk).split('\n');
      const rest = pieces.pop() ?? '';
      for (const piece of pieces) {
        yield parts.length === 0 ? piece : `${parts.join('')}${piece}`;
        parts = [];
        length = 0;
        most = longestLine;
      }
      if (rest !== '') parts.push(rest);
      length += rest.length;
      if (length > most)
        throw new BackupError('backup_broken', `${path} is not a backup: one of its lines is too long`);
    }
  } catch (error) {
    throw toBackupError(path, error);
  } finally {
    content.destroy();
  }
  if (length > 0) throw new BackupError('backup_broken', `${path} is truncated: its last line has no end`);
}

function toBackupError(path: string, error: unknown): unknown {
  const code = readErrorCode(error);
  if (code === null || error instanceof BackupError) return error;
  const fail = (kind: string, words: string) => new BackupError(kind, `${path} ${words}`, { cause: error });
  if (code === 'ENOENT') return new BackupError('backup_missing', `there is no file ${path}`, { cause: error });
  if (code === 'EISDIR') return fail('backup_unreadable', 'is a folder, not a file');
  if (code === 'EACCES' || code === 'EPERM')
    return fail('backup_unreadable', `is not readable for this user (${code})`);
  if (code === 'Z_BUF_ERROR') return fail('backup_broken', 'is truncated: its end is missing');
  return code.startsWith('Z_')
    ? fail('backup_broken', 'cannot be read: it is not compressed like a backup, or is damaged')
    : fail('backup_unreadable', `cannot be read (${code})`);
}

/** A complete backup that can be restored; `sha256` is the digest of its lines. */
interface CheckedBackup {
  path: string;
  sha256: string;
  migrations: readonly Migration[];
}

/** Reads a backup to its end; throws BackupError unless it is complete and has a known schema, and the signal's reason. */
export async function checkBackup(path: string, signal: AbortSignal): Promise<CheckedBackup> {
  const packaged = await readMigrations(packagedMigrations());
  let migrations: readonly Migration[] = [];
  let sha256 = '';
  for await (const line of readBackup(path)) {
    signal.throwIfAborted();
    if (typeof line === 'string') continue;
    if ('schema' in line) migrations = findMigrations(path, line, packaged);
    if ('end' in line) ({ sha256 } = line.end);
  }
  return { path, sha256, migrations };
}

function findMigrations(
  path: string,
  { migrations, version }: BackupSummary['header'],
  packaged: readonly Migration[],
): readonly Migration[] {
  return migrations.map((wanted, index) => {
    const known = packaged[index];
    if (!known) {
      throw new BackupError(
        'backup_newer',
        `${path} comes from a newer version (${version}, with ${wanted.name}): restore it with that version or a later one`,
      );
    }
    if (known.sha256 === wanted.sha256 && known.version === wanted.version) return known;
    throw new BackupError(
      'backup_other_schema',
      `${path} comes from a version (${version}) with a different migration ${wanted.name}: restore it with that version`,
    );
  });
}

/** What was restored, and what differs from the backup. */
export interface RestoreSummary extends BackupSummary {
  /** Queued mails are held, because they may have been sent since the backup. */
  heldMails: readonly number[];
  /** The number of webhook messages and unsent changes. They are sent, possibly for the second time. */
  waitingMessages: number;
  /** Runs that can be resumed. If they have ended since the backup, their reports exist already. */
  openRuns: readonly string[];
}

/** The size of the rows of one statement in UTF-16 units, and their greatest number. */
const batchLength = 2_000_000;
const mostRows = 5_000;

/**
 * Restores a backup into an empty database in one transaction, with the schema of the backup; `migrate` updates it afterwards. Throws
 * BackupError when the database is not empty or the file has changed since its check, and the signal's reason. `reportFolders`: the names in
 * the folder of reports, by which the lost runs are known.
 */
export async function restoreBackup(
  database: Database,
  { path, sha256, migrations }: CheckedBackup,
  signal: AbortSignal,
  reportFolders: readonly string[] = [],
): Promise<RestoreSummary> {
  await createMigrationTable(database);
  return database.transaction(async (transaction) => {
    await transaction.execute('set local idle_in_transaction_session_timeout = 0');
    // Others wait for this lock, and then find all of the backup or nothing.
    await transaction.execute('lock table schema_migration in access exclusive mode');
    const tables = listTables(migrations);
    await makeSchema(transaction, migrations);
    const restoreChecks = await dropChecks(transaction, tables);
    await transaction.execute(`truncate ${tables.map(quoteName).join(', ')}`);
    const { sha256: loaded, ...summary } = await load(transaction, path, tables, signal);
    if (loaded !== sha256) throw new BackupError('backup_broken', `${path} was changed while it was read`);
    await restoreChecks();
    const { createdAt } = summary.header;
    const quieted = await quietRestored(transaction, createdAt);
    await saveRestoration(transaction, { backupAt: new Date(createdAt), folders: reportFolders });
    // Without statistics the planner treats the tables as empty in the first run.
    await transaction.execute(`analyze ${tables.map(quoteName).join(', ')}`);
    return { ...summary, ...quieted };
  });
}

/** Makes the tables of the backup, or checks that they exist and are empty. */
async function makeSchema(transaction: Transaction, wanted: readonly Migration[]): Promise<void> {
  const landed = await readLanded(transaction, await readMigrations(packagedMigrations()));
  if (landed.length === 0) {
    for (const migration of wanted) await layMigration(transaction, migration);
    return;
  }
  await requireEmpty(transaction, listTables(landed));
  if (landed.length === wanted.length) return;
  throw new BackupError(
    'database_of_other_schema',
    `the database has schema ${landed.length}, but the backup has schema ${wanted.length}. Restore into a new database without tables, or into a new folder.`,
  );
}

async function requireEmpty(transaction: Transaction, tables: readonly string[]): Promise<void> {
  await transaction.execute(`lock table ${tables.map(quoteName).join(', ')} in access exclusive mode`);
  for (const table of tables) {
    if (!(await readValue(transaction, z.boolean(), `select exists (select from ${quoteName(table)}) as present`)))
      continue;
    throw new BackupError(
      'database_not_empty',
      `the database is not empty: table ${table} has rows. Restore into a new database, or into a new folder.`,
    );
  }
}

async function load(transaction: Transaction, path: string, tables: readonly string[], signal: AbortSignal) {
  const described = await describeTables(transaction, tables);
  let header: BackupSummary['header'] | undefined;
  let end: { rows: BackupSummary['rows']; sha256: string } | undefined;
  let target: ReturnType<typeof findTarget> | undefined;
  let batch: string[] = [];
  let length = 0;
  for await (const line of readBackup(path)) {
    const isRow = typeof line === 'string';
    if (isRow) {
      batch.push(line);
      length += line.length;
    }
    if (isRow && batch.length < mostRows && length < batchLength) continue;
    signal.throwIfAborted();
    if (batch.length > 0) await insertRows(transaction, target, batch);
    [batch, length] = [[], 0];
    if (isRow) continue;
    if ('schema' in line) header = line;
    else if ('table' in line) {
      // A backup begins with them: what is partitioned by runs comes later.
      if (target?.table === 'run') await openRunRanges(transaction);
      target = findTarget(described, line);
    } else if ('sequences' in line) await restoreSequences(transaction, line.sequences);
    else ({ end } = line);
  }
  if (!header || !end) throw new BackupError('backup_broken', `${path} is truncated: its end is missing`);
  return { header, ...end };
}

/** Opens the partitions of the restored runs. */
async function openRunRanges(transaction: Transaction): Promise<void> {
  await transaction.execute(
    'select open_run_range(first_run) from (select distinct run_id >> 8 << 8 as first_run from run) range',
  );
}

function findTarget(
  described: Awaited<ReturnType<typeof describeTables>>,
  { table, columns }: { table: string; columns: readonly string[] },
) {
  const target = described.get(table);
  if (target && JSON.stringify(target.columns) === JSON.stringify(columns)) return target;
  throw new BackupError('backup_other_tables', `the schema of the backup has no table ${table} with these columns`);
}

async function insertRows(
  transaction: Transaction,
  target: ReturnType<typeof findTarget> | undefined,
  rows: readonly string[],
): Promise<void> {
  if (!target) throw new BackupError('backup_broken', 'the backup has rows without a table');
  const { table, written } = target;
  const [name, columns] = [rawSql(quoteName(table)), rawSql(written.map(quoteName).join(', '))];
  // Postgres reads each text as it has written it; no value is converted to a JavaScript type.
  await transaction.execute(
    sql`insert into ${name} (${columns}) overriding system value select ${columns} from unnest(${rows}::${name}[])`,
  );
}

const constraintRow = z.object({ table: z.string(), name: z.string(), definition: z.string() });

/**
 * Drops the checks that would refuse rows of a restore: references between tables, constraints that older rows may break, and triggers. Gives a
 * function that restores them and checks every reference; nothing may be committed before that.
 */
async function dropChecks(transaction: Transaction, tables: readonly string[]): Promise<() => Promise<void>> {
  const constraints = await transaction.query(
    constraintRow,
    sql`select class.relname::text as "table", conname::text as name, pg_get_constraintdef(constrained.oid) as definition
     from pg_constraint constrained join pg_class class on class.oid = constrained.conrelid
     where class.relnamespace = (select oid from pg_namespace where nspname = current_schema())
       and class.relname = any (${tables}) and conparentid = 0 and (contype = 'f' or contype = 'c' and not convalidated)
     order by 1, 2`,
  );
  const names = tables.map(quoteName);
  for (const name of names) await transaction.execute(`alter table ${name} disable trigger user`);
  for (const { table, name } of constraints) {
    await transaction.execute(`alter table ${quoteName(table)} drop constraint ${quoteName(name)}`);
  }
  return async () => {
    for (const { table, name, definition } of constraints) {
      await transaction.execute(`alter table ${quoteName(table)} add constraint ${quoteName(name)} ${definition}`);
    }
    for (const name of names) await transaction.execute(`alter table ${name} enable trigger user`);
  };
}

/** The distance by which a sequence jumps. It is small for runs, because people type their numbers. */
const jump = 1_000_000;
const jumps: Readonly<Record<string, number>> = { run_run_id_seq: 1_000 };

/**
 * Sets the sequences beyond the numbers that were given since the backup. People and systems outside may know those numbers of runs, mails,
 * alerts and state changes, so they must not be given again.
 */
async function restoreSequences(transaction: Transaction, sequences: Readonly<Record<string, number | null>>) {
  for (const [name, last] of Object.entries(sequences)) {
    if (last === null) continue;
    const next = last + (jumps[name] ?? jump);
    await transaction.query(z.unknown(), sql`select setval(${quoteName(name)}::text::regclass, ${next}::bigint)`);
  }
}

/**
 * Keeps a restored database from repeating what was done since the backup: queued mails are held until a person sends them, and all leases are
 * ended.
 */
export async function quietRestored(transaction: Transaction, createdAt: string) {
  // A process from before the restore may hold an epoch that the backup does not know. New epochs must be above it. An epoch grows by one for
  // each acquisition, so the milliseconds of the clock are far above.
  await transaction.execute(
    `update lease set expires_at = 'epoch',
       epoch = greatest(epoch, (extract(epoch from clock_timestamp()) * 1000)::bigint)`,
  );
  await transaction.execute(
    sql`insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at)
     select ${restoredKey}, (extract(epoch from clock_timestamp()) * 1000)::bigint, 'restore', now(), now(), now()
     on conflict (lease_key) do nothing`,
  );
  // A run with a later run of the same kind is not resumed.
  const openRuns = await readColumn(
    transaction,
    z.string(),
    sql`select ${runIdSql('run')} as name from run
     where state in ('running', 'stopped') and not exists (
       select from run as later
       where later.kind = run.kind and later.roster_id is not distinct from run.roster_id and later.run_id > run.run_id
     )
     order by run_id`,
  );
  await transaction.execute('update outbox set claimed_by = null, claimed_until = null where claimed_by is not null');
  const held = await readColumn(
    transaction,
    z.number(),
    sql`update outbox set state = 'given_up', last_error = ${`held by the restore of a backup of ${createdAt}: it may have been sent since`}
     where state = 'queued' and kind <> 'webhook' returning outbox_id as id`,
  );
  const waitingMessages = await readValue(
    transaction,
    z.number(),
    "select (select count(*) from outbox where state = 'queued') + (select count(*) from webhook_event) as count",
  );
  return { heldMails: held.toSorted((one, other) => one - other), waitingMessages, openRuns };
}
