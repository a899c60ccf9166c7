import { z } from 'zod';
import { BackupError } from '../../errors.js';
import { type Database, readColumn, type Transaction } from '../database/database.js';
import { createMigrationTable, layMigration, type Migration, readLanded } from '../database/migrate.js';
import { restoredKey } from '../leases.js';
import { runIdSql } from '../runs.js';
import {
  type BackupHeader,
  type CheckedBackup,
  describeTables,
  listTables,
  quoteName,
  type RowCounts,
  readBackup,
  type TableColumns,
} from './backup-file.js';

/** What was put back. */
export interface RestoreSummary extends Settled {
  header: BackupHeader;
  rows: RowCounts;
}

/** What rows of one statement come to, in UTF-16 units, and how many they are at most. */
const batchLength = 2_000_000;
const mostRows = 5_000;

const existsRow = z.object({ present: z.boolean() });

/**
 * Puts a backup back into an empty database, at the schema that it was made at; `migrate` brings it on from there. What is written is one
 * transaction. Throws BackupError when the database is not empty or the file has changed since it was checked, and the signal's reason.
 */
export async function restoreBackup(
  database: Database,
  { path, sha256, packaged, migrations }: CheckedBackup,
  signal: AbortSignal,
): Promise<RestoreSummary> {
  await createMigrationTable(database);
  return database.transaction(async (transaction) => {
    await transaction.execute('set local idle_in_transaction_session_timeout = 0');
    // Whoever else begins something here waits, and finds all of it or nothing.
    await transaction.execute('lock table schema_migration in access exclusive mode');
    const tables = listTables(migrations);
    await makeSchema(transaction, packaged, migrations);
    const putBack = await liftChecks(transaction, tables);
    await transaction.execute(`truncate ${tables.map(quoteName).join(', ')}`);
    const loaded = await load(transaction, path, tables, signal);
    if (loaded.sha256 !== sha256) throw new BackupError('backup_broken', `${path} was changed while it was read`);
    await putBack();
    const settled = await settleRestored(transaction, new Set(tables), loaded.header.createdAt);
    // Without statistics the first run would be planned as if the tables were empty.
    await transaction.execute(`analyze ${tables.map(quoteName).join(', ')}`);
    return { header: loaded.header, rows: loaded.rows, ...settled };
  });
}

/** Makes the tables as they were in the backup, or sees that they are there and empty. */
async function makeSchema(
  transaction: Transaction,
  packaged: readonly Migration[],
  wanted: readonly Migration[],
): Promise<void> {
  const landed = await readLanded(transaction, packaged);
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
    const [row] = await transaction.query(existsRow, sql);
    if (!row?.present) continue;
    throw new BackupError(
      'database_not_empty',
      `the database is not empty (table ${table} has rows), and a backup is never mixed with anything: restore into a new database, or a new folder`,
    );
  }
}

interface Loaded {
  header: BackupHeader;
  rows: RowCounts;
  sha256: string;
}

async function load(
  transaction: Transaction,
  path: string,
  tables: readonly string[],
  signal: AbortSignal,
): Promise<Loaded> {
  const described = await describeTables(transaction, tables);
  let header: BackupHeader | undefined;
  let target: TableColumns | undefined;
  let batch: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    signal.throwIfAborted();
    if (target && batch.length > 0) await insertRows(transaction, target, batch);
    batch = [];
    length = 0;
  };
  for await (const part of readBackup(path)) {
    if (part.kind === 'row') {
      batch.push(part.row);
      length += part.row.length;
      if (batch.length >= mostRows || length >= batchLength) await flush();
      continue;
    }
    await flush();
    if (part.kind === 'header') header = part.header;
    else if (part.kind === 'table') target = findTarget(described, part.table, part.columns);
    else if (part.kind === 'sequences') await restoreSequences(transaction, part.sequences);
    else if (header) return { header, rows: part.rows, sha256: part.sha256 };
  }
  throw new BackupError('backup_broken', `${path} is cut: its end is missing`);
}

function findTarget(
  described: ReadonlyMap<string, TableColumns>,
  table: string,
  columns: readonly string[],
): TableColumns {
  const target = described.get(table);
  if (target && JSON.stringify(target.columns) === JSON.stringify(columns)) return target;
  throw new BackupError('backup_other_tables', `the table ${table} of the backup is not one that its schema has`);
}

async function insertRows(
  transaction: Transaction,
  { table, written }: TableColumns,
  rows: readonly string[],
): Promise<void> {
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

/** What is not as it was in the backup. */
interface Settled {
  /** Mails that waited: they may have been sent since the backup. */
  heldMails: readonly number[];
  /** Messages to webhooks, and changes that are in none yet: they are sent, again where they were sent since. */
  waitingMessages: number;
  /** Runs that go on from here, by name: where they ended since the backup, their reports stand already. */
  openRuns: readonly string[];
}

const idRow = z.object({ id: z.number() });
const countRow = z.object({ count: z.number() });

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
    await transaction.query(z.unknown(), 'select setval($1::text::regclass, $2::bigint)', [
      quoteName(name),
      last + (jumps[name] ?? jump),
    ]);
  }
}

/**
 * Sees that a restored database does nothing again on its own that was done since the backup: mails that waited are held until somebody
 * asks for them, and nobody of then holds a lease.
 */
export async function settleRestored(
  transaction: Transaction,
  tables: ReadonlySet<string>,
  createdAt: string,
): Promise<Settled> {
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
  const openRuns = await listOpenRuns(transaction);
  if (!tables.has('outbox')) return { heldMails: [], waitingMessages: 0, openRuns };
  await transaction.execute('update outbox set claimed_by = null, claimed_until = null where claimed_by is not null');
  const held = await transaction.query(
    idRow,
    `update outbox set state = 'given_up', last_error = $1
     where state = 'queued' and kind <> 'webhook' returning outbox_id as id`,
    [`held by the restore of a backup of ${createdAt}: it may have been sent since`],
  );
  const [waiting] = await transaction.query(
    countRow,
    `select (select count(*) from outbox where state = 'queued')
       ${tables.has('webhook_event') ? '+ (select count(*) from webhook_event)' : ''} as count`,
  );
  return {
    heldMails: held.map(({ id }) => id).toSorted((one, other) => one - other),
    waitingMessages: waiting?.count ?? 0,
    openRuns,
  };
}

function listOpenRuns(transaction: Transaction): Promise<string[]> {
  // Those that another of the kind has followed are not gone on with.
  return readColumn(
    transaction,
    z.string(),
    `select ${runIdSql('run')} as name from run
     where state in ('running', 'stopped') and not exists (
       select from run as later
       where later.kind = run.kind and later.roster_id is not distinct from run.roster_id and later.run_id > run.run_id
     )
     order by run_id`,
  );
}
