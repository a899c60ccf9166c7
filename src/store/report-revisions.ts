import { z } from 'zod';
import { findValue, firstRow, type Queryable, readColumn, toInsert } from './database/database.js';
import { isWholeSql } from './metrics.js';
import { screeningKindsSql } from './row-shapes.js';
import type { RunRow } from './runs.js';

const revisionRow = z.object({
  revision: z.number(),
  sweepRunIds: z.array(z.number()).readonly(),
  /** Earlier runs of the roster whose findings no report covers. */
  earlierRunIds: z.array(z.number()).readonly(),
  /** The settings under which the roster's last report before this one was made; null where nothing is known of them. */
  formerSettingsRecordId: z.number().nullable(),
  /** Digest of its manifest, or null until it has been written whole. */
  manifestSha256: z.string().nullable(),
  /** The run has not gone on since. */
  isCurrent: z.boolean(),
});
/** One report of a run and what it covers beside the run itself. */
export type ReportRevision = Omit<z.infer<typeof revisionRow>, 'isCurrent'>;

const columns = 'revision, sweep_run_ids, earlier_run_ids, former_settings_record_id, manifest_sha256';

/** The reports of a run, oldest first. */
export async function readRevisions(database: Queryable, run: RunRow) {
  return database.query(
    revisionRow,
    `select ${columns}, created_at >= $2::timestamptz as is_current from report where run_id = $1 order by revision`,
    [run.runId, run.finishedAt],
  );
}

/** Tells these locks from others of the database. */
const reportLock = 0x4e53;

/**
 * Fixes what the report of a run covers: its latest revision, or a further one when there is none, when the run has gone on since, or
 * when there is something that no report of the roster has told: sweeps that have ended since, findings of earlier runs whose report
 * was never written, parties that an import no longer names. Only the roster's newest run takes those in.
 */
export async function fixReportRevision(transaction: Queryable, run: RunRow, now: Date): Promise<ReportRevision> {
  // Who writes the report of this run at the same time waits, and then writes the same.
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
    formerSettingsRecordId: latest ? latest.formerSettingsRecordId : await findFormerSettings(transaction, run),
  };
  const ending = `returning ${columns}, true as is_current`;
  const inserted = await transaction.query(revisionRow, ...toInsert('report', row, ending));
  return firstRow(inserted, 'report');
}

/** Under which settings the run was begun that the roster's last report before this one is of. */
function findFormerSettings(transaction: Queryable, { runId, rosterId }: RunRow): Promise<number | null> {
  return findValue(
    transaction,
    z.number().nullable(),
    `select run.settings_record_id as "recordId" from run
     where roster_id = $2 and run_id < $1
       and exists (select from report where report.run_id = run.run_id and report.manifest_sha256 is not null)
     order by run_id desc limit 1`,
    [runId, rosterId],
  );
}

/** SQL: no later screening of the roster ($2) than the run ($1) has come so far that it takes the findings in. */
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
     join sweep on sweep.run_id = swept.run_id
     where swept.organisation_id = $3 and swept.account_id = $4 and swept.finished_at is not null
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
         or exists (
           select from roster_import join dropped_party using (import_id) where roster_import.run_id = earlier.run_id
         )
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

/** Notes the digest of a report's manifest once it has been written whole; the first one stays. */
export async function noteManifest(transaction: Queryable, runId: number, revision: number, manifestSha256: string) {
  await transaction.execute(
    `update report set manifest_sha256 = $3 where run_id = $1 and revision = $2 and manifest_sha256 is null`,
    [runId, revision, manifestSha256],
  );
}
