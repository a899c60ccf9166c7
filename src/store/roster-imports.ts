import { z } from 'zod';
import type { RosterSource, SnapshotFacts } from '../reports/run-facts.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { doubtReasonShape } from './run-rejects.js';

/** Whether the organisation's roster of this name was ever imported. */
export async function hasImport(database: Queryable, organisationId: number, roster: string): Promise<boolean> {
  const rows = await database.query(
    z.object({ found: z.boolean() }),
    `select exists (
       select from roster_import join roster using (roster_id) where organisation_id = $1 and roster.name = $2
     ) as found`,
    [organisationId, roster],
  );
  return firstRow(rows, 'roster_import').found;
}

/** From where, with which digest and how many rows a run imported its roster, or null when it has not. */
export async function readImportOrigin(
  database: Queryable,
  runId: number,
): Promise<{ source: string; digest: string; rows: number; rejected: number } | null> {
  const rows = await database.query(
    z.object({ source: z.string(), digest: z.string(), rows: z.number(), rejected: z.number() }),
    `select source, source_digest as digest, rows, rejected from roster_import
     where run_id = $1 order by import_id desc limit 1`,
    [runId],
  );
  return rows[0] ?? null;
}

const snapshotColumns = `
  is_delta as "isDelta", joined, changed, absent, leavers, returned, conflicts, party_rows as "partyRows",
  party_rejected as "partyRejected", unreadable_ids as "unreadableIds",
  (select count(distinct party_id)::integer from dropped_party where dropped_party.import_id = roster_import.import_id) as "droppedParties",
  (
    select count(distinct reject.reference)::integer from roster_reject reject
    join customer on customer.roster_id = roster_import.roster_id and customer.reference = reject.reference
    where reject.import_id = roster_import.import_id and not reject.is_party and reject.reason <> 'conflicting_id'
      and customer.first_import_id < reject.import_id
  ) as "keptRecords",
  overridden_guards as "overriddenGuards", doubts`;
const columnDoubtsRow = z.object({
  column: z.string(),
  field: z.enum(['birthDate', 'countries', 'riskTier', 'active', 'endDate', 'aliases']),
  read: z.number(),
  doubts: z.number(),
  unknown: z.number(),
  values: z.array(z.object({ value: z.string(), why: doubtReasonShape, rows: z.number() })),
});
const snapshotRow = z.object({
  isDelta: z.boolean(),
  joined: z.number(),
  changed: z.number(),
  absent: z.number(),
  leavers: z.number(),
  returned: z.number(),
  conflicts: z.number(),
  partyRows: z.number(),
  partyRejected: z.number(),
  unreadableIds: z.number(),
  droppedParties: z.number(),
  keptRecords: z.number(),
  overriddenGuards: z.array(z.string()),
  doubts: z.array(columnDoubtsRow),
}) satisfies z.ZodType<SnapshotFacts>;
const sourceRow = snapshotRow.extend({
  source: z.string(),
  digest: z.string(),
  importedAt: z.date(),
}) satisfies z.ZodType<RosterSource>;

/** What a run's own import made of its roster; null when it imported nothing. */
export async function readSnapshot(database: Queryable, runId: number): Promise<SnapshotFacts | null> {
  const rows = await database.query(
    snapshotRow,
    `select ${snapshotColumns} from roster_import where run_id = $1 order by import_id desc limit 1`,
    [runId],
  );
  return rows[0] ?? null;
}

/** The import that a run of the roster went by: its own, else the last one before it. */
export async function readRosterSource(
  database: Queryable,
  rosterId: number | null,
  runId: number,
): Promise<RosterSource | null> {
  const rows = await database.query(
    sourceRow,
    `select source, source_digest as digest, imported_at as "importedAt", ${snapshotColumns}
     from roster_import where roster_id = $1 and run_id <= $2
     order by import_id desc limit 1`,
    [rosterId, runId],
  );
  return rows[0] ?? null;
}
