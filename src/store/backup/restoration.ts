import { z } from 'zod';
import { type FactsOf, restorationSchema } from '../../vocabulary/facts.js';
import { type Queryable, readValue } from '../database/database.js';
import { sql } from '../database/statement.js';
import { screeningKindsSql } from '../row-shapes.js';

const runFolder = /^\d{4}-\d{2}-\d{2}-[a-z]+-(\d{1,15})$/;

/** Stores that the database now holds a backup; `folders` are the names in the folder of reports. */
export async function saveRestoration(
  transaction: Queryable,
  { backupAt, folders }: { backupAt: Date; folders: readonly string[] },
): Promise<void> {
  const lastRun = await readValue(transaction, z.number(), 'select coalesce(max(run_id), 0) as "lastRun" from run');
  const lostRuns = folders.filter((name) => Number(runFolder.exec(name)?.[1] ?? 0) > lastRun);
  const restoration = { restoredAt: new Date(), backupAt, lostRuns: lostRuns.sort() };
  await transaction.execute(
    sql`update organisation set restorations = restorations || ${JSON.stringify(restoration)}::text::jsonb`,
  );
}

/** SQL: the restores of the database, which all its organisations have in common. */
const restorationsSql = sql`
  select distinct restoration."restoredAt" as restored_at, restoration."backupAt" as backup_at, restoration."lostRuns" as lost_runs
  from organisation
  cross join jsonb_to_recordset(restorations) as restoration ("restoredAt" timestamptz, "backupAt" timestamptz, "lostRuns" text[])`;

/** All restores of the database, newest first. */
export const readRestorations = (database: Queryable): Promise<FactsOf<typeof restorationSchema>[]> =>
  database.query(restorationSchema, sql`${restorationsSql} order by restored_at desc`);

/** The restores after which no complete screening has started, newest first. */
export const readRecentRestorations = (database: Queryable): Promise<FactsOf<typeof restorationSchema>[]> =>
  database.query(
    restorationSchema,
    sql`${restorationsSql}
     where not exists (
       select from run where state = 'complete' and kind in (${screeningKindsSql}) and started_at > restoration."restoredAt"
     )
     order by restored_at desc`,
  );

/** The restores since the last run of the roster before this one had ended: it is the first one whose report can name them. */
export const readRestorationsBefore = (
  database: Queryable,
  { runId, rosterId }: { runId: number; rosterId: number },
): Promise<FactsOf<typeof restorationSchema>[]> =>
  database.query(
    restorationSchema,
    sql`${restorationsSql}
     where restoration."restoredAt" > coalesce(
       (select max(finished_at) from run where roster_id = ${rosterId} and run_id < ${runId} and kind in (${screeningKindsSql})), '-infinity'
     )
     order by restored_at`,
  );
