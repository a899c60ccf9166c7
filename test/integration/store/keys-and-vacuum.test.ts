import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';

/** A handful of rows that everything belongs to, and that nothing deletes. */
const neverDeleted = ['organisation', 'account', 'roster', 'run'];

/** Updated row by row while they hold a row per customer, dossier or alert, or all the time. */
const updatedTables = [
  'account_pace',
  'alert',
  'customer',
  'customer_state',
  'discrepancy',
  'dossier',
  'lease',
  'party_state',
  'run',
];

/** Each more needs a reason; a merge lowers them. The last are what processes of several hosts share: the rate of an account, and chunks; then legal holds, erasures, and answers of old nights. */
const mostTables = 68;
/** 22 keep evidence as it is; the others check what people write, record states and open partitions. */
const mostTriggers = 33;

describeOnEachDatabase('the tables', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  }, 120_000);

  it('have an index for each foreign key whose parent rows can be deleted', async () => {
    const keys = await readColumn(
      database,
      z.string(),
      sql`select key.conrelid::regclass || ' ' || key.conname || ' -> ' || key.confrelid::regclass as key
       from pg_constraint key
       where key.contype = 'f' and key.conparentid = 0 and key.confrelid::regclass::text <> all (${neverDeleted}::text[])
         -- What a run found goes with its month, never row by row.
         and key.conrelid::regclass::text !~ '^(change|next_state)$'
         and not exists (
           select from pg_trigger guard join pg_proc on pg_proc.oid = guard.tgfoid
           where guard.tgrelid = key.confrelid and pg_proc.proname = 'refuse_rewriting'
         )
         and not exists (
           select from pg_index index
           where index.indrelid = key.conrelid
             and (index.indkey::smallint[])[0:cardinality(key.conkey) - 1] @> key.conkey
             -- Of a partial index only one that leaves out rows without the key.
             and (index.indpred is null or pg_get_expr(index.indpred, index.indrelid) ~ '^\\(\\w+ IS NOT NULL\\)$')
         )
       order by 1`,
    );
    expect(keys).toEqual([]);
  });

  it('are no more, with their triggers, than they were', async () => {
    const [counted] = await database.query(
      z.object({ tables: z.number(), triggers: z.number() }),
      `select
         (select count(*)::integer from pg_class where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace) as tables,
         (select count(*)::integer from pg_trigger join pg_class on pg_class.oid = tgrelid where not tgisinternal and not relispartition) as triggers`,
    );
    process.stdout.write(`${counted?.tables} tables, ${counted?.triggers} triggers\n`);
    expect(counted?.tables).toBeLessThanOrEqual(mostTables);
    expect(counted?.triggers).toBeLessThanOrEqual(mostTriggers);
  });

  it('are vacuumed by settings of their own where many rows are updated', async () => {
    const set = await readColumn(
      database,
      z.string(),
      `select relname as name from pg_class
       where relkind = 'r' and reloptions::text ~ 'autovacuum_vacuum_scale_factor' and relnamespace = 'public'::regnamespace order by 1`,
    );
    expect(set).toEqual(updatedTables);
  });
});
