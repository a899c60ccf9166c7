import { z } from 'zod';
import { findValue, firstRow, type Queryable, readColumn, toInsert } from './database/database.js';
import { isWholeSql } from './metrics.js';
import { ownerSql, type ProjectionScope, waitingItemsSql, waitingOrderSql, waitingRow } from './review/waiting.js';
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

/** Distinguishes these locks from others of the database. */
const reportLock = 0x4e53;

/**
 * Fixes what the report of a run covers: its latest revision, or a further one when there is none, when the run has gone on since, or
 * when there is something that no report of the roster has reported: sweeps that have ended since, findings of earlier runs whose report
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

/**
 * Keeps what waits for reviewers of a roster's customers on an account at `now`, as the sheet of the report of the run that closes; the most
 * urgent `maxItems`. An item that is as an earlier report showed it is not stored again.
 */
export async function saveReportSheet(
  transaction: Queryable,
  runId: number,
  { rosterId, accountId }: ProjectionScope,
  { now, maxItems }: { now: Date; maxItems: number },
): Promise<void> {
  await transaction.execute(
    `with waiting as materialized (
       select item.item_id, item.revision, item.account_id, item.assigned_to, item.priority, item.due_at
       from review_item item
       join party on party.party_id = item.party_id
       join customer on customer.customer_id = party.customer_id and customer.roster_id = $2
       where item.account_id = $3 and item.state in ('open', 'proposed')
     ),
     urgent as (
       select item_id, revision, ${ownerSql('event', '$4')} as owner, row_number() over (${waitingOrderSql}) as place
       from (select * from waiting event ${waitingOrderSql} limit $5) event
     ),
     -- Numbered here, so that large lists need not be joined again by what planning knows nothing of.
     listed as materialized (
       select urgent.*, known.shown_id is null as is_new,
         coalesce(known.shown_id, nextval(pg_get_serial_sequence('shown_item', 'shown_id'))) as shown_id
       from urgent
       left join lateral (
         select latest.shown_id
         from (
           select shown_id, revision, owner from shown_item where shown_item.item_id = urgent.item_id order by shown_id desc limit 1
         ) latest
         -- All else that is shown of it changes the item's revision, or never.
         where latest.revision = urgent.revision and latest.owner is not distinct from urgent.owner
       ) known on true
     ),
     added as (
       insert into shown_item (shown_id, item_id, revision, owner, facts) overriding system value
       select listed.shown_id, listed.item_id, listed.revision, listed.owner, to_jsonb(item)
       from listed
       -- Fenced off: one after another, by indexes.
       cross join lateral (${waitingItemsSql('$4')} and event.item_id = listed.item_id offset 0) item
       where listed.is_new
     )
     insert into review_sheet (exported_at, exported_by, run_id, shown_ids, waiting)
     select $4, 'report', $1, array(select shown_id from listed order by place), (select count(*) from waiting)`,
    [runId, rosterId, accountId, now, maxItems],
  );
}

/** The sheet of a run's report with its items, as it was when the run closed last, and how many waited beyond these too; null for one that has not closed, or closed before there were such sheets. */
export async function readReportSheet(database: Queryable, runId: number) {
  const [sheet] = await database.query(
    z.object({ sheetId: z.number(), waiting: z.number() }),
    `select sheet_id, waiting from review_sheet where run_id = $1 order by sheet_id desc limit 1`,
    [runId],
  );
  if (sheet === undefined) return null;
  const items = await database.query(
    z.object({ facts: waitingRow }),
    `select shown.facts
     from review_sheet sheet
     cross join lateral unnest(sheet.shown_ids) with ordinality as listed (shown_id, place)
     join shown_item shown on shown.shown_id = listed.shown_id
     where sheet.sheet_id = $1
     order by listed.place`,
    [sheet.sheetId],
  );
  return { ...sheet, items: items.map(({ facts }) => facts) };
}
