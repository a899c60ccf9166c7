import { createHash } from 'node:crypto';
import { z } from 'zod';
import { StoreError } from '../../errors.js';
import { type Database, DatabaseError, type Transaction } from '../database/database.js';
import { packagedMigrations, readLanded, readMigrations } from '../database/migrate.js';
import {
  type BackupHeader,
  backupSchema,
  describeTables,
  listPermanentTables,
  listSequences,
  listTables,
  quoteName,
  type RowCounts,
} from './backup-file.js';

/** What a batch of rows should come to, in UTF-16 units, and the most rows of one. */
const batchLength = 2_000_000;
const mostRows = 5_000;
/** How many are read before anything is known of their size. */
const fewestRows = 20;

/** Of whom and when a backup is, and where its lines go. */
export interface BackupRequest {
  /** Of Nightscreen. */
  version: string;
  now: Date;
  signal: AbortSignal;
  /** Takes lines of the backup, each with its line end; the next ones come when it has done with these. */
  write: (lines: string) => Promise<void>;
}

/** What a backup holds. */
export interface BackupSummary {
  header: BackupHeader;
  rows: RowCounts;
}

const rowShape = z.object({ row: z.string() });
const organisationRow = z.object({ name: z.string() });
const sequenceRow = z.object({ last: z.number().nullable() });

/**
 * Writes all that the database holds, as of one moment, whatever is committed meanwhile; in memory is one batch of rows. It changes nothing,
 * also in a database that is older than the program. Throws StoreError `nothing_to_back_up` where there is no database of ours, SchemaError
 * where the schema is not one that this program knows, and the signal's reason.
 */
export async function writeBackup(database: Database, request: BackupRequest): Promise<BackupSummary> {
  const packaged = await readMigrations(packagedMigrations());
  return database.transaction(async (transaction) => {
    await transaction.execute('set transaction isolation level repeatable read, read only');
    // However long it takes to write a batch, and whatever the server's defaults are.
    await transaction.execute('set local idle_in_transaction_session_timeout = 0');
    await transaction.execute('set local extra_float_digits = 1');
    await holdSchema(transaction);
    const landed = await readLanded(transaction, packaged);
    const digest = createHash('sha256');
    const write = async (lines: string): Promise<void> => {
      request.signal.throwIfAborted();
      digest.update(lines);
      await request.write(lines);
    };
    const header: BackupHeader = {
      schema: backupSchema,
      createdAt: request.now.toISOString(),
      version: request.version,
      dialect: database.dialect,
      organisations: (await transaction.query(organisationRow, 'select name from organisation order by 1')).map(
        ({ name }) => name,
      ),
      migrations: landed.map(({ version, name, sha256 }) => ({ version, name, sha256 })),
    };
    await write(toLine(header));
    const tables = listTables(landed);
    await requireKnown(transaction, tables);
    const rows: Record<string, number> = {};
    for (const [table, { columns }] of await describeTables(transaction, tables)) {
      await write(toLine({ table, columns }));
      rows[table] = await writeRows(transaction, table, write);
    }
    await write(toLine({ sequences: await readSequences(transaction, tables) }));
    await request.write(toLine({ end: { rows, sha256: digest.digest('hex') } }));
    return { header, rows };
  }, runsOnce);
}

// Its lines are written as they are read.
const runsOnce = { runsOnce: true };

const toLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Its rows are the header of a backup. Tables that are not logged are left out as well. */
const leftOut = 'schema_migration';

/** A table that would be missing from the backup without a word: one that no migration of ours made, or a partition of one. */
async function requireKnown(transaction: Transaction, tables: readonly string[]): Promise<void> {
  const unknown = (await listPermanentTables(transaction)).filter((name) => !tables.includes(name) && name !== leftOut);
  if (unknown.length === 0) return;
  throw new StoreError(
    'unknown_tables',
    `the backup would not be whole: Nightscreen does not know ${unknown.map((name) => `table ${name}`).join(', ')} of its schema. Move what is not of Nightscreen to another schema or database (alter table NAME set schema OTHER), and back up again`,
  );
}

/** No migration begins until the backup is done, and one that goes on is waited for. */
async function holdSchema(transaction: Transaction): Promise<void> {
  try {
    await transaction.execute('lock table schema_migration in share mode');
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.sqlState !== '42P01') throw error;
    throw new StoreError(
      'nothing_to_back_up',
      'there is nothing to back up: the database has no tables of Nightscreen',
    );
  }
}

async function writeRows(
  transaction: Transaction,
  table: string,
  write: (lines: string) => Promise<void>,
): Promise<number> {
  const name = quoteName(table);
  await transaction.execute(`declare backup_rows no scroll cursor for select (each.*)::text as row from ${name} each`);
  let count = 0;
  for (let wanted = fewestRows; ; ) {
    const batch = await transaction.query(rowShape, `fetch forward ${wanted} from backup_rows`);
    const lines = batch.map(({ row }) => toLine(row)).join('');
    if (lines !== '') await write(lines);
    count += batch.length;
    if (batch.length < wanted) break;
    wanted = Math.max(1, Math.min(mostRows, wanted * 4, Math.floor((batchLength * batch.length) / lines.length)));
  }
  await transaction.execute('close backup_rows');
  return count;
}

async function readSequences(
  transaction: Transaction,
  tables: readonly string[],
): Promise<Readonly<Record<string, number | null>>> {
  const sequences: Record<string, number | null> = {};
  for (const name of await listSequences(transaction, tables)) {
    const sql = `select case when is_called then last_value end as last from ${quoteName(name)}`;
    const [row] = await transaction.query(sequenceRow, sql);
    sequences[name] = row?.last ?? null;
  }
  return sequences;
}
