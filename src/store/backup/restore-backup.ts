import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { BackupError } from '../../errors.js';
import { findOddFile } from '../../files.js';
import { type Database, readColumn, readValue, type Transaction } from '../database/database.js';
import {
  createMigrationTable,
  layMigration,
  type Migration,
  packagedMigrations,
  readLanded,
  readMigrations,
} from '../database/migrate.js';
import { restoredKey } from '../leases.js';
import { runIdSql } from '../runs.js';
import {
  type BackupSummary,
  describeTables,
  headerSchema,
  listTables,
  quoteName,
  type TableColumns,
} from './write-backup.js';

/** A line of a backup; a text is a row of the table before it. */
const lineSchema = z.union([
  z.string(),
  headerSchema,
  z.strictObject({ table: z.string(), columns: z.array(z.string()) }),
  z.strictObject({ sequences: z.record(z.string(), z.number().nullable()) }),
  z.strictObject({ end: z.object({ rows: z.record(z.string(), z.number()), sha256: z.string() }) }),
]);
type Line = z.infer<typeof lineSchema>;

/**
 * The lines of a backup. What comes before the end may be of a file that was damaged: only when all have come are they proven by their digest.
 * Throws BackupError `backup_missing`, `backup_unreadable`, `backup_broken`, or `backup_format` for a format that is not known.
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
      throw new BackupError('backup_broken', `${path} was altered or damaged: its digest is another`);
    }
    isOver = isEnd;
    if (!isEnd) digest.update(text).update('\n');
    yield line;
  }
  if (!isOver) throw new BackupError('backup_broken', `${path} is cut: its end is missing`);
}

function parseLine(path: string, number: number, text: string): Line {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = number === 1 ? 'is no backup' : `was altered or damaged at line ${number}`;
    throw new BackupError('backup_broken', `${path} ${reason}`, { cause: error });
  }
  const line = lineSchema.safeParse(value).data;
  const isHeader = typeof line === 'object' && 'schema' in line;
  if (number === 1 && !isHeader) {
    throw new BackupError(
      'backup_format',
      `${path} is no backup of Nightscreen, or one of a newer version: \`nightscreen backup\` writes those that can be restored`,
    );
  }
  if (line !== undefined && isHeader === (number === 1)) return line;
  throw new BackupError('backup_broken', `${path} was altered or damaged: line ${number} does not belong there`);
}

/** In UTF-16 units. No row that we write comes near. */
const longestLine = 256 * 1_024 * 1_024;

/** The lines of a file that gzip has compressed, without their ends; throws BackupError when it is missing, cannot be read, or is cut. */
async function* readTexts(path: string): AsyncGenerator<string> {
  const odd = findOddFile(path);
  if (odd !== null) throw new BackupError('backup_unreadable', `${path} ${odd}`);
  const content = new PassThrough({ encoding: 'utf8' });
  // What goes wrong comes to whoever reads the text.
  pipeline(createReadStream(path), createGunzip(), content).catch(() => undefined);
  let rest = '';
  try {
    for await (const chunk of content) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
      if (rest.length > longestLine) {
        throw new BackupError('backup_broken', `${path} is no backup: a line of it is too long`);
      }
    }
  } catch (error) {
    throw toBackupError(path, error);
  } finally {
    content.destroy();
  }
  if (rest !== '') throw new BackupError('backup_broken', `${path} is cut: its last line has no end`);
}

function toBackupError(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code !== 'string' || error instanceof BackupError) return error;
  const fail = (kind: string, words: string) => new BackupError(kind, `${path} ${words}`, { cause: error });
  if (code === 'ENOENT') return new BackupError('backup_missing', `there is no file ${path}`, { cause: error });
  if (code === 'EISDIR') return fail('backup_unreadable', 'is a folder, and no file');
  if (code === 'EACCES' || code === 'EPERM') return fail('backup_unreadable', `may not be read by this user (${code})`);
  if (code === 'Z_BUF_ERROR') return fail('backup_broken', 'is cut: its end is missing');
  return code.startsWith('Z_')
    ? fail('backup_broken', 'cannot be read: it is not compressed as a backup is, or was damaged')
    : fail('backup_unreadable', `cannot be read (${code})`);
}

/** A backup that is whole and can be restored. */
interface CheckedBackup {
  path: string;
  /** Of its lines. */
  sha256: string;
  /** Those of its schema. */
  migrations: readonly Migration[];
}

/** Reads a backup to its end; throws BackupError unless it is whole and of a schema that this program knows, and the signal's reason. */
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

/** What was put back, and what is not as it was in the backup. */
export interface RestoreSummary extends BackupSummary {
  /** Mails that waited: they may have been sent since the backup. */
  heldMails: readonly number[];
  /** Messages to webhooks, and changes that are in none yet: they are sent, again where they were sent since. */
  waitingMessages: number;
  /** Runs that go on from here, by name: where they ended since the backup, their reports stand already. */
  openRuns: readonly string[];
}

/** What rows of one statement come to, in UTF-16 units, and how many they are at most. */
const batchLength = 2_000_000;
const mostRows = 5_000;

/**
 * Puts a backup back into an empty database, at the schema that it was made at; `migrate` brings it on from there. What is written is one
 * transaction. Throws BackupError when the database is not empty or the file has changed since it was checked, and the signal's reason.
 */
export async function restoreBackup(
  database: Database,
  { path, sha256, migrations }: CheckedBackup,
  signal: AbortSignal,
): Promise<RestoreSummary> {
  await createMigrationTable(database);
  return database.transaction(async (transaction) => {
    await transaction.execute('set local idle_in_transaction_session_timeout = 0');
    // Whoever else begins something here waits, and finds all of it or nothing.
    await transaction.execute('lock table schema_migration in access exclusive mode');
    const tables = listTables(migrations);
    await makeSchema(transaction, migrations);
    const putBack = await liftChecks(transaction, tables);
    await transaction.execute(`truncate ${tables.map(quoteName).join(', ')}`);
    const { sha256: loaded, ...summary } = await load(transaction, path, tables, signal);
    if (loaded !== sha256) throw new BackupError('backup_broken', `${path} was changed while it was read`);
    await putBack();
    const quieted = await quietRestored(transaction, new Set(tables), summary.header.createdAt);
    // Without statistics the first run would be planned as if the tables were empty.
    await transaction.execute(`analyze ${tables.map(quoteName).join(', ')}`);
    return { ...summary, ...quieted };
  });
}

/** Makes the tables as they were in the backup, or sees that they are there and empty. */
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
    `the database has the schema ${landed.length} already, and the backup is of schema ${wanted.length}: restore into a new database without any table, or a new folder`,
  );
}

/** Rows that a migration has brought itself do not count. */
const broughtAlong = new Set(['customer_block']);

async function requireEmpty(transaction: Transaction, tables: readonly string[]): Promise<void> {
  await transaction.execute(`lock table ${tables.map(quoteName).join(', ')} in access exclusive mode`);
  for (const table of tables.filter((name) => !broughtAlong.has(name))) {
    const sql = `select exists (select from ${quoteName(table)}) as present`;
    if (!(await readValue(transaction, z.boolean(), sql))) continue;
    throw new BackupError(
      'database_not_empty',
      `the database is not empty (table ${table} has rows), and a backup is never mixed with anything: restore into a new database, or a new folder`,
    );
  }
}

async function load(
  transaction: Transaction,
  path: string,
  tables: readonly string[],
  signal: AbortSignal,
): Promise<BackupSummary & { sha256: string }> {
  const described = await describeTables(transaction, tables);
  let header: BackupSummary['header'] | undefined;
  let end: { rows: BackupSummary['rows']; sha256: string } | undefined;
  let target: TableColumns | undefined;
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
    else if ('table' in line) target = findTarget(described, line);
    else if ('sequences' in line) await restoreSequences(transaction, line.sequences);
    else ({ end } = line);
  }
  if (!header || !end) throw new BackupError('backup_broken', `${path} is cut: its end is missing`);
  return { header, ...end };
}

function findTarget(
  described: ReadonlyMap<string, TableColumns>,
  { table, columns }: { table: string; columns: readonly string[] },
): TableColumns {
  const target = described.get(table);
  if (target && JSON.stringify(target.columns) === JSON.stringify(columns)) return target;
  throw new BackupError('backup_other_tables', `the table ${table} of the backup is not one that its schema has`);
}

async function insertRows(
  transaction: Transaction,
  target: TableColumns | undefined,
  rows: readonly string[],
): Promise<void> {
  if (!target) throw new BackupError('backup_broken', 'the backup has rows of no table');
  const { table, written } = target;
  const [name, columns] = [quoteName(table), written.map(quoteName).join(', ')];
  // Each text is read as Postgres has written it: no value goes through a type of ours.
  await transaction.execute(
    `insert into ${name} (${columns}) overriding system value select ${columns} from unnest($1::${name}[])`,
    [[...rows]],
  );
}

const constraintRow = z.object({ table: z.string(), name: z.string(), definition: z.string() });

/**
 * Lifts what would refuse rows because of the order in which they come, or because they are not written as a run or a reviewer writes them:
 * references between tables, constraints that older rows may break, and triggers. Gives how to put it all back, which checks every
 * reference anew; until then nothing must be committed.
 */
async function liftChecks(transaction: Transaction, tables: readonly string[]): Promise<() => Promise<void>> {
  const constraints = await transaction.query(
    constraintRow,
    `select class.relname::text as "table", conname::text as name, pg_get_constraintdef(constrained.oid) as definition
     from pg_constraint constrained join pg_class class on class.oid = constrained.conrelid
     where class.relnamespace = (select oid from pg_namespace where nspname = current_schema())
       and class.relname = any ($1::text[]) and (contype = 'f' or contype = 'c' and not convalidated)
     order by 1, 2`,
    [[...tables]],
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

/** How far a number jumps that may have been given to somebody since the backup. Of runs a person reads and types the number. */
const jump = 1_000_000;
const jumps: Readonly<Record<string, number>> = { run_run_id_seq: 1_000 };

/**
 * Sets the sequences beyond whatever was given since the backup: a run, a mail, an item or a change of state of that time has a number that
 * somebody outside knows, and must not be taken for another.
 */
async function restoreSequences(
  transaction: Transaction,
  sequences: Readonly<Record<string, number | null>>,
): Promise<void> {
  for (const [name, last] of Object.entries(sequences)) {
    if (last === null) continue;
    const next = last + (jumps[name] ?? jump);
    await transaction.query(z.unknown(), 'select setval($1::text::regclass, $2::bigint)', [quoteName(name), next]);
  }
}

/**
 * Sees that a restored database does nothing again on its own that was done since the backup: mails that waited are held until somebody
 * asks for them, and nobody of then holds a lease.
 */
export async function quietRestored(transaction: Transaction, tables: ReadonlySet<string>, createdAt: string) {
  // A process from before may have taken epochs that the backup does not know: all later ones are above any of those. Each taking raises an
  // epoch by one, so the milliseconds of the clock are far above.
  await transaction.execute(
    `update lease set expires_at = acquired_at,
       epoch = greatest(epoch, (extract(epoch from clock_timestamp()) * 1000)::bigint)`,
  );
  await transaction.execute(
    `insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at)
     select $1, (extract(epoch from clock_timestamp()) * 1000)::bigint, 'restore', now(), now(), now()
     on conflict (lease_key) do nothing`,
    [restoredKey],
  );
  // Those that another of the kind has followed are not gone on with.
  const openRuns = await readColumn(
    transaction,
    z.string(),
    `select ${runIdSql('run')} as name from run
     where state in ('running', 'stopped') and not exists (
       select from run as later
       where later.kind = run.kind and later.roster_id is not distinct from run.roster_id and later.run_id > run.run_id
     )
     order by run_id`,
  );
  if (!tables.has('outbox')) return { heldMails: [], waitingMessages: 0, openRuns };
  await transaction.execute('update outbox set claimed_by = null, claimed_until = null where claimed_by is not null');
  const held = await readColumn(
    transaction,
    z.number(),
    `update outbox set state = 'given_up', last_error = $1
     where state = 'queued' and kind <> 'webhook' returning outbox_id as id`,
    [`held by the restore of a backup of ${createdAt}: it may have been sent since`],
  );
  const waitingMessages = await readValue(
    transaction,
    z.number(),
    `select (select count(*) from outbox where state = 'queued')
       ${tables.has('webhook_event') ? '+ (select count(*) from webhook_event)' : ''} as count`,
  );
  return {
    heldMails: held.toSorted((one, other) => one - other),
    waitingMessages,
    openRuns,
  };
}
