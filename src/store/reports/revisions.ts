import { z } from 'zod';
import { findValue, type Queryable, readColumn, readRow } from '../database/database.js';
import { insertInto, type Sql, sql } from '../database/statement.js';
import { isWholeSql } from '../operations/metrics.js';
import { screeningKindsSql } from '../row-shapes.js';
import type { RunRow } from '../runs.js';

const revisionRow = z.object({
  revision: z.number(),
  sweepRunIds: z.array(z.number()).readonly(),
  /** Earlier runs of the roster whose findings are in no earlier report. */
  earlierRunIds: z.array(z.number()).readonly(),
  /** The settings of the roster's last report before this one; null where there is none. */
  formerSettingsId: z.number().nullable(),
  /** The digest of its manifest; null until the report is written. */
  manifestSha256: z.string().nullable(),
  /** Whether the run was not resumed since. */
  isCurrent: z.boolean(),
});
/** A revision of a run's report, and what it covers besides the run itself. */
export type ReportRevision = Omit<z.infer<typeof revisionRow>, 'isCurrent'>;

const columns = sql`revision, sweep_run_ids, earlier_run_ids, former_settings_id, manifest_sha256`;

/** The reports of a run, oldest first. */
export async function readRevisions(database: Queryable, run: RunRow) {
  return database.query(
    revisionRow,
    sql`select ${columns}, created_at >= ${run.finishedAt}::timestamptz as is_current from report where run_id = ${run.runId} order by revision`,
  );
}

/** The class of these advisory locks. */
const reportLock = 0x4e53;

/**
 * Fixes what the report of a run covers. A new revision is stored when there is none, when the run was resumed, or when no report of the roster
 * contains a finished sweep, the findings of an earlier run, or dropped parties. Only the report of the roster's newest run covers these.
 */
export async function fixReportRevision(transaction: Queryable, run: RunRow, now: Date): Promise<ReportRevision> {
  // Another process that writes the report of this run waits here, and then gets the same revision.
  await transaction.execute(sql`select pg_advisory_xact_lock(${reportLock}, ${run.runId}::bigint::integer)`);
  const latest = (await readRevisions(transaction, run)).at(-1);
  const isOfRoster = run.rosterId !== null;
  const unreadSweeps = isOfRoster ? await findUnreadSweeps(transaction, run) : [];
  const unreadRuns = isOfRoster ? await findUnreadRuns(transaction, run) : [];
  if (latest?.isCurrent && unreadSweeps.length === 0 && unreadRuns.length === 0) return latest;
  const row = {
    runId: run.runId,
    revision: (latest?.revision ?? 0) + 1,
    sweepRunIds: run.kind === 'sweep' ? [run.runId] : [...(latest?.sweepRunIds ?? []), ...unreadSweeps],
    earlierRunIds: [...(latest?.earlierRunIds ?? []), ...unreadRuns],
    createdAt: now,
    formerSettingsId: latest ? latest.formerSettingsId : await findFormerSettings(transaction, run),
  };
  return readRow(
    transaction,
    revisionRow,
    sql`${insertInto('report', [row])} returning ${columns}, true as is_current`,
  );
}

/** The settings of the last reported run of the roster before this one. */
function findFormerSettings(transaction: Queryable, { runId, rosterId }: RunRow): Promise<number | null> {
  return findValue(
    transaction,
    z.number().nullable(),
    sql`select run.settings_id as "recordId" from run
     where roster_id = ${rosterId} and run_id < ${runId}
       and exists (select from report where report.run_id = run.run_id and report.manifest_sha256 is not null)
     order by run_id desc limit 1`,
  );
}

/** SQL: the roster has no later screening than the run whose report could cover the findings. */
const isNewest = ({ runId, rosterId }: RunRow): Sql => sql`not exists (
  select from run newer
  where newer.roster_id = ${rosterId} and newer.run_id > ${runId} and newer.kind in (${screeningKindsSql})
    and newer.state in ('complete', 'incomplete', 'stopped') and ${isWholeSql('newer')}
)`;

function findUnreadSweeps(transaction: Queryable, run: RunRow): Promise<readonly number[]> {
  return readColumn(
    transaction,
    z.number(),
    sql`select swept.run_id from run swept
     where swept.organisation_id = ${run.organisationId} and swept.account_id = ${run.accountId} and swept.sweep is not null and swept.finished_at is not null
       and not exists (
         select from report
         join run reported on reported.run_id = report.run_id and reported.roster_id = ${run.rosterId}
         where swept.run_id = any (report.sweep_run_ids)
       )
       and ${isNewest(run)}
     order by swept.run_id`,
  );
}

function findUnreadRuns(transaction: Queryable, run: RunRow): Promise<readonly number[]> {
  return readColumn(
    transaction,
    z.number(),
    sql`select earlier.run_id from run earlier
     where earlier.roster_id = ${run.rosterId} and earlier.run_id < ${run.runId}
       and (
         exists (select from change_event where change_event.run_id = earlier.run_id)
         or exists (select from roster_import where roster_import.run_id = earlier.run_id and dropped_parties <> '[]')
       )
       and not exists (
         select from report
         where report.run_id = earlier.run_id and report.manifest_sha256 is not null
           and report.created_at >= earlier.finished_at
       )
       and not exists (select from report where earlier.run_id = any (report.earlier_run_ids))
       and ${isNewest(run)}
     order by earlier.run_id`,
  );
}

/** Stores the digest of the manifest of a written report; an existing digest stays. */
export async function noteManifest(transaction: Queryable, runId: number, revision: number, manifestSha256: string) {
  await transaction.execute(
    sql`update report set manifest_sha256 = ${manifestSha256} where run_id = ${runId} and revision = ${revision} and manifest_sha256 is null`,
  );
}
