import { z } from 'zod';
import { countNoun } from '../../reports/text.js';
import { type Queryable, readValue, toInsert } from '../database/database.js';
import { screeningKindsSql } from '../row-shapes.js';

const restorationRow = z.object({
  restoredAt: z.date(),
  /** When the backup was written: nothing that happened between both times is in the database. */
  backupAt: z.date(),
  /** The runs in between that left a folder of reports. */
  lostRuns: z.array(z.string()),
});
/** One restore of a backup into the database. */
export type Restoration = z.infer<typeof restorationRow>;

const runFolder = /^\d{4}-\d{2}-\d{2}-[a-z]+-(\d{1,15})$/;

/** Stores that the database now holds a backup; `folders` are the names in the folder of reports. */
export async function saveRestoration(
  transaction: Queryable,
  { backupAt, folders }: { backupAt: Date; folders: readonly string[] },
): Promise<void> {
  const lastRun = await readValue(transaction, z.number(), 'select coalesce(max(run_id), 0) as "lastRun" from run');
  const lostRuns = folders.filter((name) => Number(runFolder.exec(name)?.[1] ?? 0) > lastRun);
  await transaction.execute(
    ...toInsert('restoration', { restoredAt: new Date(), backupAt, lostRuns: lostRuns.sort() }),
  );
}

const columns = 'restored_at, backup_at, lost_runs';

/** All restores of the database, newest first. */
export const readRestorations = (database: Queryable): Promise<Restoration[]> =>
  database.query(restorationRow, `select ${columns} from restoration order by restored_at desc`);

/** The restores after which no complete screening has started, newest first. */
export const readRecentRestorations = (database: Queryable): Promise<Restoration[]> =>
  database.query(
    restorationRow,
    `select ${columns} from restoration
     where not exists (
       select from run where state = 'complete' and kind in (${screeningKindsSql}) and started_at > restored_at
     )
     order by restored_at desc`,
  );

/** The restores since the last run of the roster before this one had ended: it is the first one that can tell of them. */
export const readRestorationsBefore = (
  database: Queryable,
  { runId, rosterId }: { runId: number; rosterId: number },
): Promise<Restoration[]> =>
  database.query(
    restorationRow,
    `select ${columns} from restoration
     where restored_at > coalesce(
       (select max(finished_at) from run where roster_id = $2 and run_id < $1 and kind in (${screeningKindsSql})), '-infinity'
     )
     order by restored_at`,
    [runId, rosterId],
  );

/** What a restore means for a reader of results. */
export function describeRestoration({ restoredAt, backupAt, lostRuns }: Restoration): string {
  const runs =
    lostRuns.length === 0
      ? ''
      : `, also ${countNoun(lostRuns.length, 'run')} whose reports exist: ${lostRuns.join(', ')}`;
  return (
    `the database was restored on ${restoredAt.toISOString()} from a backup of ${backupAt.toISOString()}. ` +
    `All runs, dispositions and acceptances in between are missing${runs}`
  );
}
