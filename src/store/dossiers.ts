import { z } from 'zod';
import type { DossierChange } from '../changes/dossier-change.js';
import type { DossierSnapshot } from '../dossiers/dossier.js';
import type { DetailStop } from '../reports/detail-facts.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** A dossier snapshot as stored in JSON. */
export const dossierSnapshotSchema = z.object({
  id: z.string(),
  token: z.string().nullable(),
  type: z.string(),
  status: z.string(),
  name: z.string().nullable(),
  reference: z.string().nullable(),
  riskScore: z.number().nullable(),
  isTest: z.boolean().nullable(),
  downloadStatus: z.string().nullable(),
  documentsCount: z.number().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  completedAt: z.string().nullable(),
}) satisfies z.ZodType<DossierSnapshot>;

/** A dossier as the last sweep left it. */
export interface StoredDossier {
  snapshot: DossierSnapshot;
  isGone: boolean;
}

const dossierRow = z.object({ snapshot: dossierSnapshotSchema, is_gone: z.boolean() });

/** The stored dossiers among these ids, by id. */
export async function readDossiers(
  database: Queryable,
  accountId: number,
  dossierIds: readonly string[],
): Promise<ReadonlyMap<string, StoredDossier>> {
  const rows = await database.query(
    dossierRow,
    `select snapshot, gone_at is not null as is_gone from dossier where account_id = $1 and dossier_id = any ($2::text[])`,
    [accountId, [...dossierIds]],
  );
  return new Map(rows.map((row) => [row.snapshot.id, { snapshot: row.snapshot, isGone: row.is_gone }]));
}

/** Saves dossiers that are new or changed; one that is as it was is not written. */
export async function saveDossiers(
  transaction: Queryable,
  accountId: number,
  runId: number,
  dossiers: readonly DossierSnapshot[],
): Promise<void> {
  if (dossiers.length === 0) return;
  await transaction.execute(
    `insert into dossier (account_id, dossier_id, snapshot, changed_by_run_id)
     select $1, snapshot ->> 'id', snapshot, $2 from jsonb_array_elements($3::text::jsonb) as snapshot
     on conflict (account_id, dossier_id) do update set
       snapshot = excluded.snapshot, changed_by_run_id = excluded.changed_by_run_id, gone_at = null`,
    [accountId, runId, JSON.stringify(dossiers)],
  );
}

/** Saves what a sweep found changed, and when. */
export async function saveDossierChanges(
  transaction: Queryable,
  runId: number,
  changes: readonly DossierChange[],
  seenAt: Date,
): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map((change) => ({
    dossier_id: change.after?.id ?? change.before?.id,
    kind: change.kind,
    fields: change.fields,
    before: change.before,
    after: change.after,
  }));
  await transaction.execute(
    `insert into dossier_change (run_id, dossier_id, kind, fields, before, after, seen_at)
     select $1, dossier_id, kind, fields, before, after, $3
     from jsonb_to_recordset($2::text::jsonb) as row (dossier_id text, kind text, fields text[], before jsonb, after jsonb)`,
    [runId, JSON.stringify(rows), seenAt],
  );
}

/** Takes over what earlier sweeps of the account found and never came to report, because they were broken off. */
export async function adoptDossierChanges(transaction: Queryable, accountId: number, runId: number): Promise<void> {
  await transaction.execute(
    `update dossier_change set run_id = $2
     from run
     where run.run_id = dossier_change.run_id and run.account_id = $1 and run.run_id < $2
       and not exists (select from sweep where sweep.run_id = run.run_id)`,
    [accountId, runId],
  );
}

/** How many dossiers a sweep reports as new, as gone, and as changed otherwise. */
export async function countDossierChanges(
  database: Queryable,
  runId: number,
): Promise<{ appeared: number; changed: number; gone: number }> {
  const rows = await database.query(
    z.object({ appeared: z.number(), changed: z.number(), gone: z.number() }),
    `select count(*) filter (where kind = 'dossier_appeared')::integer as appeared,
       count(*) filter (where kind = 'dossier_gone')::integer as gone,
       count(*) filter (where kind not in ('dossier_appeared', 'dossier_gone'))::integer as changed
     from dossier_change where run_id = $1`,
    [runId],
  );
  return firstRow(rows, 'dossier_change');
}

/** The ids of an account's dossiers that are not gone, in order, after one of them; at most `limit`. */
export async function listDossierIds(
  database: Queryable,
  accountId: number,
  { after, limit }: { after: string; limit: number },
): Promise<readonly string[]> {
  const rows = await database.query(
    z.object({ dossier_id: z.string() }),
    `select dossier_id from dossier where account_id = $1 and dossier_id > $2 and gone_at is null order by dossier_id limit $3`,
    [accountId, after, limit],
  );
  return rows.map((row) => row.dossier_id);
}

/** Marks dossiers that a proven sweep did not find as gone; gives them as they were last seen. */
export async function markGone(
  transaction: Queryable,
  accountId: number,
  dossierIds: readonly string[],
  now: Date,
): Promise<readonly DossierSnapshot[]> {
  const rows = await transaction.query(
    z.object({ snapshot: dossierSnapshotSchema }),
    `update dossier set gone_at = $3
     where account_id = $1 and dossier_id = any ($2::text[]) and gone_at is null
     returning snapshot`,
    [accountId, [...dossierIds], now],
  );
  return rows.map((row) => row.snapshot);
}

/** How many records of dossiers a sweep looked up, and what became of them; `missing` are still to be looked up. */
export interface SweepDetails {
  asked: number;
  kept: number;
  notAvailable: number;
  missing: number;
  stoppedBecause: DetailStop | null;
}

/** What a sweep came to. */
export interface SweepRow {
  pages: number;
  dossiers: number;
  appeared: number;
  changed: number;
  gone: number;
  proven: boolean;
  unprovenBecause: string | null;
  /** Null where nothing was to be looked up. */
  details: SweepDetails | null;
}

/** Saves what a sweep came to. */
export async function saveSweep(transaction: Queryable, runId: number, sweep: SweepRow): Promise<void> {
  await transaction.execute(
    `insert into sweep (run_id, pages, dossiers, appeared, changed, gone, proven, unproven_because, details)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9::text::jsonb)
     on conflict (run_id) do update set pages = $2, dossiers = $3, appeared = $4, changed = $5, gone = $6, proven = $7,
       unproven_because = $8, details = $9::text::jsonb`,
    [
      runId,
      sweep.pages,
      sweep.dossiers,
      sweep.appeared,
      sweep.changed,
      sweep.gone,
      sweep.proven,
      sweep.unprovenBecause,
      sweep.details === null ? null : JSON.stringify(sweep.details),
    ],
  );
}

const sweepRow = z.object({
  pages: z.number(),
  dossiers: z.number(),
  appeared: z.number(),
  changed: z.number(),
  gone: z.number(),
  proven: z.boolean(),
  unprovenBecause: z.string().nullable(),
  details: z
    .object({
      asked: z.number(),
      kept: z.number(),
      notAvailable: z.number(),
      missing: z.number(),
      stoppedBecause: z.enum(['limit', 'out_of_reach', 'refused', 'time', 'signal']).nullable(),
    })
    .nullable(),
  isStart: z.boolean(),
});

/** What the sweep of a run came to, or null while it has not ended. */
export async function readSweep(database: Queryable, runId: number): Promise<(SweepRow & { isStart: boolean }) | null> {
  const rows = await database.query(
    sweepRow,
    `select pages, dossiers, appeared, changed, gone, proven, unproven_because as "unprovenBecause", sweep.details,
       not exists (
         select from sweep earlier
         join run before on before.run_id = earlier.run_id
         where before.account_id = run.account_id and before.run_id < run.run_id
       ) as "isStart"
     from sweep join run using (run_id) where run_id = $1`,
    [runId],
  );
  return rows[0] ?? null;
}

/** Whether an account's dossiers were ever swept to the end; until then everything is a starting point and nothing a change. */
export async function hasSweep(database: Queryable, accountId: number): Promise<boolean> {
  const rows = await database.query(
    z.object({ found: z.boolean() }),
    'select exists (select from sweep join run using (run_id) where run.account_id = $1) as found',
    [accountId],
  );
  return firstRow(rows, 'sweep').found;
}

const lastSweepRow = z.object({
  runId: z.number(),
  accountId: z.number(),
  isTest: z.boolean(),
  finishedAt: z.date(),
  unprovenBecause: z.string().nullable(),
});

/** The last sweep that has ended, of an account or of any account of an organisation; null before the first. */
export async function findLastSweep(
  database: Queryable,
  of: number | { organisationId: number },
): Promise<z.infer<typeof lastSweepRow> | null> {
  const [condition, id] = typeof of === 'number' ? ['run.account_id', of] : ['run.organisation_id', of.organisationId];
  const rows = await database.query(
    lastSweepRow,
    `select run_id as "runId", account_id as "accountId", account.is_test as "isTest", run.finished_at as "finishedAt",
       case when not sweep.proven then coalesce(sweep.unproven_because, 'the last sweep is not proven complete') end as "unprovenBecause"
     from sweep join run using (run_id) join account using (account_id)
     where ${condition} = $1 and run.finished_at is not null
     order by run_id desc limit 1`,
    [id],
  );
  return rows[0] ?? null;
}
