import { afterEach } from 'vitest';
import { z } from 'zod';
import { type Database, readColumn, readValue } from '../../src/store/database/database.js';

/**
 * Gives databases as `open` does, for one test each: once it is over, the rows and sequences of its database are put back as they were, and
 * the next test has it. One whose schema the test has changed, or in which something still works, is not given again. Call it where hooks
 * may be registered.
 *
 * A connection that does not know our tables yet makes the first night on a database twice as long as the next (0.35 s of processor time),
 * and the copy of a database takes 0.1 s.
 */
export function reuseDatabases(open: () => Promise<Database>): () => Promise<Database> {
  const free: { database: Database; putBack: () => Promise<boolean> }[] = [];
  const given: typeof free = [];
  afterEach(() => {
    free.push(...given.splice(0));
  });
  const openNext = async () => {
    const used = free.pop();
    if (used !== undefined && (await used.putBack())) return used;
    const database = await open();
    return { database, putBack: await rememberContent(database) };
  };
  return async () => {
    const next = await openNext();
    given.push(next);
    return asAnother(next.database);
  };
}

/** All that a test may have changed besides rows: a database in which this differs is not used again. */
const schemaSql = `
  select md5(concat(
    (select string_agg(concat_ws(' ', oid, relname, relkind, relacl, reloptions), ',' order by oid) from pg_class where relpersistence <> 't'),
    (select string_agg(concat_ws(' ', attrelid, attname, attnotnull, attacl), ',' order by attrelid, attnum)
     from pg_attribute where attrelid >= 16384 and attnum > 0),
    (select string_agg(concat_ws(' ', oid, proname, proacl, md5(prosrc)), ',' order by oid) from pg_proc where oid >= 16384),
    (select string_agg(concat_ws(' ', oid, tgname, tgenabled), ',' order by oid) from pg_trigger),
    (select string_agg(oid::text, ',' order by oid) from pg_constraint),
    (select string_agg(concat_ws(' ', nspname, nspacl), ',' order by oid) from pg_namespace where nspname !~ '^pg_')
  ))`;

const isBusySql = `
  select exists (select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle')`;

const tableRow = z.object({ name: z.string(), columns: z.string() });
const tablesSql = `
  select attrelid::regclass::text as name, string_agg(quote_ident(attname), ', ' order by attnum) as columns
  from pg_attribute join pg_class on pg_class.oid = attrelid
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    and attnum > 0 and not attisdropped and attgenerated = ''
  group by attrelid order by 1`;

const sequencesSql = `
  select format('select setval(%L, %s, %L)', schemaname || '.' || sequencename, coalesce(last_value, start_value), last_value is not null)
  from pg_sequences`;

/** Reads all rows and sequences; gives what puts them back, or says that this cannot be done. */
async function rememberContent(database: Database): Promise<() => Promise<boolean>> {
  const schema = await readValue(database, z.string(), schemaSql);
  const tables = await database.query(tableRow, tablesSql);
  const sequences = await readColumn(database, z.string(), sequencesSql);
  const all = tables.map(({ name }) => `select '${name}' as name, ${name}::text as content from ${name}`);
  const rows = await database.query(z.object({ name: z.string(), content: z.string() }), all.join(' union all '));
  return async () => {
    if (await readValue(database, z.boolean(), isBusySql)) return false;
    if ((await readValue(database, z.string(), schemaSql)) !== schema) return false;
    await database.transaction(async (transaction) => {
      const empty = tables.map(({ name }) => `delete from ${name}`);
      // Without triggers and references. To truncate takes five times as long: each table and index gets new files.
      await transaction.runScript([`set local session_replication_role = replica`, ...empty, ...sequences].join('; '));
      for (const { name, columns } of tables) {
        const content = rows.filter((row) => row.name === name).map((row) => row.content);
        if (content.length === 0) continue;
        await transaction.execute(
          `insert into ${name} (${columns}) overriding system value
           select ${columns} from (select (content::${name}).* from unnest($1::text[]) content) one`,
          [content],
        );
      }
    });
    return true;
  };
}

/** The same database as another object: what the program remembers of one does not reach the next test. */
const asAnother = (database: Database): Database => ({
  dialect: database.dialect,
  query: (row, sql, parameters) => database.query(row, sql, parameters),
  execute: (sql, parameters) => database.execute(sql, parameters),
  transaction: (work, options) => database.transaction(work, options),
  cursor: (row, sql, parameters, batchSize) => database.cursor(row, sql, parameters, batchSize),
  runScript: (sql) => database.runScript(sql),
  close: () => database.close(),
});
