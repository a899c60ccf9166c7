import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { isWholeSql } from './night-sql.js';
import { type RunRow, runRow } from './run-row.js';

/** The newest run under this lease that never came to its end, or null. */
export async function findOpenRun(database: Queryable, leaseKey: string): Promise<RunRow | null> {
  const rows = await database.query(
    runRow,
    `select * from run where lease_key = $1 and state in ('running', 'stopped') order by run_id desc limit 1`,
    [leaseKey],
  );
  return rows[0] ?? null;
}

/** The run with this number, or null. */
export async function readRun(database: Queryable, runId: number): Promise<RunRow | null> {
  const rows = await database.query(runRow, 'select * from run where run_id = $1', [runId]);
  return rows[0] ?? null;
}

/** The newest runs, newest first. */
export async function readRuns(database: Queryable, limit: number): Promise<readonly RunRow[]> {
  return database.query(runRow, 'select * from run order by run_id desc limit $1', [limit]);
}

/** The newest finished screening of each roster, oldest first: what there is to report on. */
export async function findReportableRuns(database: Queryable): Promise<readonly RunRow[]> {
  return database.query(
    runRow,
    `select * from run where run_id in (
       select max(run_id) from run
       where kind in ('screen', 'rescreen', 'onboard') and state in ('complete', 'incomplete', 'stopped') and ${isWholeSql('run')}
       group by roster_id
     )
     order by run_id`,
  );
}

/**
 * What there is to mail, oldest first: of each roster the newest finished screening, and those of the week before it whose findings
 * were never mailed; none that has been mailed as it now stands.
 */
export async function findUnsentRuns(database: Queryable): Promise<readonly RunRow[]> {
  return database.query(
    runRow,
    `select run.* from run
     join (
       select roster_id, max(run_id) as run_id, max(started_at) as started_at from run
       where kind in ('screen', 'rescreen', 'onboard') and state in ('complete', 'incomplete', 'stopped') and ${isWholeSql('run')}
       group by roster_id
     ) newest on newest.roster_id = run.roster_id
     where run.kind in ('screen', 'rescreen', 'onboard') and run.state in ('complete', 'incomplete', 'stopped')
       and (
         run.run_id = newest.run_id
         or run.started_at > newest.started_at - interval '7 days'
           and exists (select from change_event where change_event.run_id = run.run_id)
       )
       and not exists (
         select from report
         where report.sent_at is not null
           and (report.run_id = run.run_id and report.created_at >= run.finished_at or run.run_id = any (report.earlier_run_ids))
       )
     order by run.run_id`,
  );
}

/**
 * The runs of a roster under an account whose plans were left before they were worked through, since one of them last came to its end:
 * what remains of them is planned anew. `before` is the run that asks; null for one that is not begun.
 */
export async function findLeftRuns(
  database: Queryable,
  scope: { rosterId: number; accountId: number | null },
  before: number | null,
): Promise<readonly number[]> {
  const rows = await database.query(
    z.object({ runId: z.number() }),
    `with screening_run as (
       select run_id, state from run
       where roster_id = $1 and account_id = $2 and kind in ('screen', 'rescreen', 'onboard') and ${isWholeSql('run')} and ($3::bigint is null or run_id < $3)
     )
     select run_id as "runId" from screening_run
     where state in ('running', 'stopped', 'abandoned')
       and run_id > coalesce((select max(run_id) from screening_run where state in ('complete', 'incomplete')), 0)
     order by run_id`,
    [scope.rosterId, scope.accountId, before],
  );
  return rows.map(({ runId }) => runId);
}

/** When a run last saved anything. */
export async function readLastActivity(database: Queryable, run: RunRow): Promise<Date> {
  const rows = await database.query(
    z.object({ last: z.date() }),
    `select greatest($2::timestamptz, $3::timestamptz, max(committed_at)) as last from commit_batch where run_id = $1`,
    [run.runId, run.startedAt, run.finishedAt],
  );
  return firstRow(rows, 'commit_batch').last;
}
