import { z } from 'zod';
import { findValue, firstRow, type Queryable, readColumn, toInsert } from '../database/database.js';
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

const columns = 'revision, sweep_run_ids, earlier_run_ids, former_settings_id, manifest_sha256';

/** The reports of a run, oldest first. */
export async function readRevisions(database: Queryable, run: RunRow) {
  return database.query(
    revisionRow,
    `select ${columns}, created_at >= $2::timestamptz as is_current from report where run_id = $1 order by revision`,
    [run.runId, run.finishedAt],
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
  await transaction.execute('select pg_advisory_xact_lock($1, $2::bigint::integer)', [reportLock, run.runId]);
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
  const ending = `returning ${columns}, true as is_current`;
  const inserted = await transaction.query(revisionRow, ...toInsert('report', row, ending));
  return firstRow(inserted, 'report');
}

/** The settings of the last reported run of the roster before this one. */
function findFormerSettings(transaction: Queryable, { runId, rosterId }: RunRow): Promise<number | null> {
  return findValue(
    transaction,
    z.number().nullable(),
    `select run.settings_id as "recordId" from run
     where roster_id = $2 and run_id < $1
       and exists (select from report where report.run_id = run.run_id and report.manifest_sha256 is not null)
     order by run_id desc limit 1`,
    [runId, rosterId],
  );
}

/** SQL: the roster ($2) has no later screening than the run ($1) whose report could cover the findings. */
const isNewest = `not exists (
  select from run newer
  where newer.roster_id = $2 and newer.run_id > $1 and newer.kind in (${screeningKindsSql})
    and newer.state in ('complete', 'incomplete', 'stopped') and ${isWholeSql('newer')}
)`;

function findUnreadSweeps(transaction: Queryable, run: RunRow): Promise<readonly number[]> {
  return readColumn(
    transaction,
    z.number(),
    `select swept.run_id from run swept
     where swept.organisation_id = $3 and swept.account_id = $4 and swept.sweep is not null and swept.finished_at is not null
       and not exists (
         select from report
         join run reported on reported.run_id = report.run_id and reported.roster_id = $2
         where swept.run_id = any (report.sweep_run_ids)
       )
       and ${isNewest}
     order by swept.run_id`,
    [run.runId, run.rosterId, run.organisationId, run.accountId],
  );
}

function findUnreadRuns(transaction: Queryable, run: RunRow): Promise<readonly number[]> {
  return readColumn(
    transaction,
    z.number(),
    `select earlier.run_id from run earlier
     where earlier.roster_id = $2 and earlier.run_id < $1
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
       and ${isNewest}
     order by earlier.run_id`,
    [run.runId, run.rosterId],
  );
}

/** Stores the digest of the manifest of a written report; an existing digest stays. */
export async function noteManifest(transaction: Queryable, runId: number, revision: number, manifestSha256: string) {
  await transaction.execute(
    `update report set manifest_sha256 = $3 where run_id = $1 and revision = $2 and manifest_sha256 is null`,
    [runId, revision, manifestSha256],
  );
}
