import { z } from 'zod';
import { BackupError } from '../../errors.js';
import type { Database, Transaction } from '../database.js';
import { createMigrationTable, layMigration, readLanded } from '../migrate.js';
import type { Migration } from '../migration-files.js';
import type { BackupHeader, RowCounts } from './backup-format.js';
import type { CheckedBackup } from './check-backup.js';
import { describeTables, quoteName, type TableColumns } from './describe-tables.js';
import { liftChecks } from './lift-checks.js';
import { listTables } from './list-tables.js';
import { readBackup } from './read-backup.js';
import { restoreSequences, type Settled, settleRestored } from './settle-restored.js';

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
