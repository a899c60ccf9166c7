import { z } from 'zod';
import type { Queryable } from '../database/database.js';
import type { Migration } from '../database/migrate.js';
import { sql } from '../database/statement.js';

/** The name and version of the format. */
export const backupSchema = 'nightscreen/backup/1';

const migrationSchema = z.object({ version: z.number().int(), name: z.string(), sha256: z.string() });
/**
 * The first line of a backup. A backup is lines of JSON, compressed by gzip: a header; for each table a line with its columns, then one line for
 * each row in the text form of Postgres; the last number of each sequence, null for an unused one; and an end line with the number of rows of
 * each table and the SHA-256 (hex) of all lines before it, line ends included.
 */
export const headerSchema = z.object({
  schema: z.literal(backupSchema),
  createdAt: z.iso.datetime(),
  /** The version of Nightscreen. */
  version: z.string(),
  dialect: z.enum(['postgres', 'embedded']),
  organisations: z.array(z.string()),
  migrations: z.array(migrationSchema),
});

/** The content of a backup: the number of `rows` by table. */
export interface BackupSummary {
  header: z.infer<typeof headerSchema>;
  rows: Readonly<Record<string, number>>;
}

const columnRow = z.object({ table: z.string(), columns: z.array(z.string()), written: z.array(z.string()) });

/** Quotes a name for SQL. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The columns of these tables in the order of a row's text form, and those that are not generated (`written`); missing tables are left out. */
export async function describeTables(database: Queryable, tables: readonly string[]) {
  const rows = await database.query(
    columnRow,
    sql`select class.relname::text as "table", array_agg(attname::text order by attnum) as columns,
       array_agg(attname::text order by attnum) filter (where attgenerated = '') as written
     from pg_class class join pg_attribute attribute on attrelid = class.oid and attnum > 0 and not attisdropped
     where class.relnamespace = (select oid from pg_namespace where nspname = current_schema())
       and class.relkind in ('r', 'p') and class.relname = any (${tables})
     group by class.relname
     -- What is partitioned by runs comes after them.
     order by class.relname <> 'run', class.relname`,
  );
  return new Map(rows.map((row) => [row.table, row]));
}

const statement =
  /^[^\S\r\n\u2028\u2029]*(?:create\s+table\s+(?:if\s+not\s+exists\s+)?(?<made>\w+)|drop\s+table\s+(?:if\s+exists\s+)?(?<dropped>[\w\s,]+);)/gim;

/**
 * The tables that these migrations have made, in this order. Unlogged tables are left out, because their rows are transient and do not survive a
 * crash either.
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
