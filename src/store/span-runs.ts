import { z } from 'zod';
import type { Queryable } from './database.js';
import { type RunRow, runRow } from './run-row.js';

/** When the runs of a span were begun: at `from` or later, and before `until`. */
export interface SpanBounds {
  from: Date;
  until: Date;
}

/** The runs about rosters that were begun in a span, of one roster where it is named, in order; single checks and sweeps are none. */
export async function readSpanRuns(
  database: Queryable,
  { from, until }: SpanBounds,
  roster: string | null,
): Promise<readonly RunRow[]> {
  return database.query(
    runRow,
    `select run.* from run join roster on roster.roster_id = run.roster_id
     where run.kind in ('import', 'screen', 'rescreen', 'onboard') and run.started_at >= $1 and run.started_at < $2
       and ($3::text is null or roster.name = $3)
     order by run.run_id`,
    [from, until, roster],
  );
}

/** The sweeps of a run's account that came to their end in a span. */
export async function readSpanSweeps(
  database: Queryable,
  run: RunRow,
  { from, until }: SpanBounds,
): Promise<readonly number[]> {
  const rows = await database.query(
    z.object({ runId: z.number() }),
    `select swept.run_id as "runId" from run swept join sweep on sweep.run_id = swept.run_id
     where swept.organisation_id = $1 and swept.account_id = $2 and swept.finished_at >= $3 and swept.finished_at < $4
     order by swept.run_id`,
    [run.organisationId, run.accountId, from, until],
  );
  return rows.map(({ runId }) => runId);
}

/** The settings of the roster's last run before this one; null where nothing is known of them. */
export async function readSettingsBefore(database: Queryable, run: RunRow): Promise<number | null> {
  const rows = await database.query(
    z.object({ recordId: z.number().nullable() }),
    `select settings_record_id as "recordId" from run where roster_id = $1 and run_id < $2 order by run_id desc limit 1`,
    [run.rosterId, run.runId],
  );
  return rows[0]?.recordId ?? null;
}
