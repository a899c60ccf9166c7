import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import type { RunRow } from './runs.js';

/** One report of a run: which sweeps it covers. A run whose later sweeps nobody has read about gets a further revision. */
export interface ReportRevision {
  revision: number;
  sweepRunIds: readonly number[];
}

const revisionRow = z
  .object({ revision: z.number(), sweep_run_ids: z.array(z.number()) })
  .transform((row): ReportRevision => ({ revision: row.revision, sweepRunIds: row.sweep_run_ids }));

/**
 * Fixes what the report of a run covers: its latest revision, or a new one when there is none or when sweeps have ended since that no
 * report of this roster covers. Only the roster's newest run takes new sweeps in.
 */
export async function fixReportRevision(transaction: Queryable, run: RunRow, now: Date): Promise<ReportRevision> {
  const revisions = await transaction.query(
    revisionRow,
    'select revision, sweep_run_ids from report where run_id = $1 order by revision desc limit 1',
    [run.runId],
  );
  const latest = revisions[0];
  const unread = run.kind === 'sweep' ? [] : await findUnreadSweeps(transaction, run);
  if (latest && unread.length === 0) return latest;
  const sweepRunIds = run.kind === 'sweep' ? [run.runId] : [...(latest?.sweepRunIds ?? []), ...unread];
  const inserted = await transaction.query(
    revisionRow,
    `insert into report (run_id, revision, sweep_run_ids, created_at) values ($1, $2, $3, $4)
     returning revision, sweep_run_ids`,
    [run.runId, (latest?.revision ?? 0) + 1, sweepRunIds, now],
  );
  return firstRow(inserted, 'report');
}

async function findUnreadSweeps(transaction: Queryable, run: RunRow): Promise<readonly number[]> {
  const rows = await transaction.query(
    z.object({ run_id: z.number() }),
    `select swept.run_id from run swept
     join sweep on sweep.run_id = swept.run_id
     where swept.organisation_id = $1 and swept.account_id = $3 and swept.finished_at is not null
       and not exists (
         select from report
         join run reported on reported.run_id = report.run_id and reported.roster_id = $2
         where swept.run_id = any (report.sweep_run_ids)
       )
       and not exists (
         select from run newer
         where newer.roster_id = $2 and newer.run_id > $4 and newer.kind in ('screen', 'rescreen', 'onboard')
           and newer.state not in ('refused', 'abandoned')
       )
     order by swept.run_id`,
    [run.organisationId, run.rosterId, run.accountId, run.runId],
  );
  return rows.map((row) => row.run_id);
}

/** Notes the digest of the manifest of a report when it is first written; gives the digest noted first. */
export async function noteManifest(
  transaction: Queryable,
  runId: number,
  revision: number,
  manifestSha256: string,
): Promise<string> {
  const rows = await transaction.query(
    z.object({ manifest_sha256: z.string() }),
    `update report set manifest_sha256 = coalesce(manifest_sha256, $3) where run_id = $1 and revision = $2
     returning manifest_sha256`,
    [runId, revision, manifestSha256],
  );
  return firstRow(rows, 'report').manifest_sha256;
}
