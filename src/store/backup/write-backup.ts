import { createHash } from 'node:crypto';
import { z } from 'zod';
import { StoreError } from '../../errors.js';
import { type Database, DatabaseError, type Queryable, readColumn, type Transaction } from '../database/database.js';
import { type Migration, packagedMigrations, readLanded, readMigrations } from '../database/migrate.js';

/** The name and version of the format. */
export const backupSchema = 'nightscreen/backup/1';

const migrationSchema = z.object({ version: z.number().int(), name: z.string(), sha256: z.string() });
/**
 * The first line of a backup. A backup is lines of JSON, compressed by gzip: a header; for each table a line with its columns and then a
 * line for each row, which is the text form of the row as Postgres writes and reads it; the last number of each sequence, null for one that
 * has given none; and an end line with the number of rows of each table and the SHA-256 (hex) of all lines before, line ends included.
 */
export const headerSchema = z.object({
  schema: z.literal(backupSchema),
  createdAt: z.iso.datetime(),
  /** Of Nightscreen. */
  version: z.string(),
  dialect: z.enum(['postgres', 'embedded']),
  /** Names of the organisations in it. */
  organisations: z.array(z.string()),
  migrations: z.array(migrationSchema),
});

/** What a backup holds, `rows` by table. */
export interface BackupSummary {
  header: z.infer<typeof headerSchema>;
  rows: Readonly<Record<string, number>>;
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

/** What a batch of rows should come to, in UTF-16 units, and the most rows of one. */
const batchLength = 2_000_000;
const mostRows = 5_000;
/** How many are read before anything is known of their size. */
const fewestRows = 20;

const rowShape = z.object({ row: z.string() });
const sequenceRow = z.object({ last: z.number().nullable() });

/**
 * Writes all that the database holds, as of one moment, whatever is committed meanwhile; in memory is one batch of rows. It changes nothing,
 * also in a database that is older than the program. Throws StoreError `nothing_to_back_up` where there is no database of ours, SchemaError
 * where the schema is not one that this program knows, and the signal's reason.
 */
export async function writeBackup(
  database: Database,
  request: {
    /** Of Nightscreen. */
    version: string;
    now: Date;
    signal: AbortSignal;
    /** Takes lines of the backup, each with its line end; the next ones come when it has done with these. */
    write: (lines: string) => Promise<void>;
  },
): Promise<BackupSummary> {
  const packaged = await readMigrations(packagedMigrations());
  return database.transaction(
    async (transaction) => {
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
    // Its lines are written as they are read.
    { runsOnce: true },
  );
}

const toLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Refuses a table that would be missing from the backup: one that no migration of ours or extension made, or a partition of one. */
async function requireKnown(transaction: Transaction, tables: readonly string[]): Promise<void> {
  const unknown = await readColumn(
    transaction,
    z.string(),
    `select relname::text as name from pg_class class
     where relnamespace = (select oid from pg_namespace where nspname = current_schema())
       and relkind in ('r', 'p', 'f', 'm') and relpersistence = 'p' and relname <> all ($1::text[])
       and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = class.oid and deptype = 'e')
     order by 1`,
    [['schema_migration', ...tables]],
  );
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

/** Sequences that are of no column. */
const looseSequences = ['screening_request_block'];

async function readSequences(
  transaction: Transaction,
  tables: readonly string[],
): Promise<Readonly<Record<string, number | null>>> {
  const sequences: Record<string, number | null> = {};
  // Those of the tables' columns, and those that stand beside them.
  const names = await readColumn(
    transaction,
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
  for (const name of names) {
    const sql = `select case when is_called then last_value end as last from ${quoteName(name)}`;
    const [row] = await transaction.query(sequenceRow, sql);
    sequences[name] = row?.last ?? null;
  }
  return sequences;
}
