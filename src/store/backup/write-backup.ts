import { createHash } from 'node:crypto';
import { z } from 'zod';
import { StoreError } from '../../errors.js';
import { type Database, DatabaseError, readColumn, readValue, type Transaction } from '../database/database.js';
import { packagedMigrations, readLanded, readMigrations } from '../database/migrate.js';
import { sql } from '../database/statement.js';
import { type BackupSummary, backupSchema, describeTables, listTables, quoteName } from './format.js';

/** The target size of a batch of rows in UTF-16 units, and the most rows of one. */
const batchLength = 2_000_000;
const mostRows = 5_000;
/** The size of the first batch, while the length of rows is unknown. */
const fewestRows = 20;

const rowShape = z.object({ row: z.string() });

/**
 * Writes the whole content of the database as of one moment, with one batch of rows in memory. It changes nothing, also not in a database of an
 * older version. Throws StoreError `nothing_to_back_up` without tables of Nightscreen, SchemaError for an unknown schema, and the signal's
 * reason.
 */
export async function writeBackup(
  database: Database,
  request: {
    /** The version of Nightscreen. */
    version: string;
    now: Date;
    signal: AbortSignal;
    /** Writes lines, each with its line end; the next ones come after it resolves. */
    write: (lines: string) => Promise<void>;
  },
): Promise<BackupSummary> {
  const packaged = await readMigrations(packagedMigrations());
  return database.transaction(
    async (transaction) => {
      await transaction.execute('set transaction isolation level repeatable read, read only');
      // Writing a batch may take longer than the server's default.
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
      const organisations = await readColumn(transaction, z.string(), 'select name from organisation order by 1');
      const header: BackupSummary['header'] = {
        schema: backupSchema,
        createdAt: request.now.toISOString(),
        version: request.version,
        dialect: database.dialect,
        organisations,
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
    },
    // The lines are written while they are read, so the transaction cannot be repeated.
    { runsOnce: true },
  );
}

const toLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Refuses tables that would be missing from the backup: those that neither a migration of Nightscreen nor an extension has made. */
async function requireKnown(transaction: Transaction, tables: readonly string[]): Promise<void> {
  const unknown = await readColumn(
    transaction,
    z.string(),
    sql`select relname::text as name from pg_class class
     where relnamespace = (select oid from pg_namespace where nspname = current_schema())
       and relkind in ('r', 'p', 'f', 'm') and not relispartition and relpersistence = 'p' and relname <> all (${['schema_migration', ...tables]})
       and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = class.oid and deptype = 'e')
     order by 1`,
  );
  if (unknown.length === 0) return;
  throw new StoreError(
    'unknown_tables',
    `the backup would be incomplete: Nightscreen does not know ${unknown.map((name) => `table ${name}`).join(', ')} of its schema. Move foreign tables to another schema or database (alter table NAME set schema OTHER), and back up again`,
  );
}

/** Waits for a migration in progress, and keeps others from starting until the backup is done. */
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

async function writeRows(transaction: Transaction, table: string, write: (lines: string) => Promise<void>) {
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

async function readSequences(transaction: Transaction, tables: readonly string[]) {
  const sequences: Record<string, number | null> = {};
  const names = await readColumn(
    transaction,
    z.string(),
    sql`select sequence.relname::text as name
     from pg_class sequence
     join pg_depend owned on owned.classid = 'pg_class'::regclass and owned.objid = sequence.oid
       and owned.refclassid = 'pg_class'::regclass and owned.deptype in ('i', 'a')
     join pg_class owner on owner.oid = owned.refobjid
     where sequence.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and sequence.relkind = 'S'
       and owner.relname = any (${tables})
     order by 1`,
  );
  for (const name of names) {
    const last = `select case when is_called then last_value end as last from ${quoteName(name)}`;
    sequences[name] = await readValue(transaction, z.number().nullable(), last);
  }
  return sequences;
}
