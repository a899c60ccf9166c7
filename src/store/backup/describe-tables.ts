import { z } from 'zod';
import type { Queryable } from '../database.js';

const columnRow = z.object({ table: z.string(), columns: z.array(z.string()), written: z.array(z.string()) });
const nameRow = z.object({ name: z.string() });

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
export async function listPermanentTables(database: Queryable): Promise<readonly string[]> {
  const rows = await database.query(
    nameRow,
    `select relname::text as name from pg_class class
     where relnamespace = (select oid from pg_namespace where nspname = current_schema())
       and relkind in ('r', 'p', 'f', 'm') and relpersistence = 'p'
       and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = class.oid and deptype = 'e')
     order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** The sequences of these tables' columns, and those that stand beside them, by name. */
export async function listSequences(database: Queryable, tables: readonly string[]): Promise<readonly string[]> {
  const rows = await database.query(
    nameRow,
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
  return rows.map(({ name }) => name);
}

/** Sequences that are of no column. */
const looseSequences = ['screening_request_block'];
