import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import type { StagedImport } from './settle-staging.js';
import { plainSql } from './settle-staging.js';

/** What a settled snapshot comes to; rows = customers + rejected + duplicates, rows of related parties apart. */
export interface SnapshotCounts {
  rows: number;
  customers: number;
  rejected: number;
  duplicates: number;
  /** Ids whose rows contradict each other. */
  conflicts: number;
  partyRows: number;
  partyRejected: number;
  /** Of the others those with a role that is not known, screened as `other`. */
  otherRoles: number;
  /** Rejected rows, those of related parties included, of which nobody can say whose they are. */
  unreadableIds: number;
  /** Customers who were not known before. */
  joined: number;
  /** Whose record is not as it was. */
  changed: number;
  /** Known customers, those who have left aside, whom the snapshot does not show. */
  absent: number;
  /** Absent ones whom the snapshot before still showed. */
  newlyAbsent: number;
  /** Who leaves by this snapshot. */
  leavers: number;
  /** Of them those whose own row says so. */
  leaversByRow: number;
  /** Who is shown again after having been absent or having left. */
  returned: number;
}

/** What a snapshot is measured by. */
export interface RosterBefore {
  /** Customers that the last accepted snapshot showed, those who have left aside. */
  known: number;
  /** The most customers of an accepted snapshot of the last 30 days; null where there is none to compare with. */
  mostIn30Days: number | null;
  /** The columns of the last accepted snapshot; null where they are not known. */
  headers: readonly string[] | null;
  /** Accepted rows of related parties of the last accepted snapshot, and the columns of their sources. */
  partyRows: number;
  partyHeaders: readonly string[] | null;
}

const stagedRow = z.object({
  rows: z.number(),
  rejected: z.number(),
  duplicates: z.number(),
  unreadable: z.number(),
  plain: z.number(),
  several: z.number(),
  leavers: z.number(),
});

/** Rows of a staged snapshot that stand by themselves, with what their customers need. */
export interface PlainCounts {
  customers: number;
  /** Of them those with more than one party. */
  several: number;
}

/** Who leaves because of how long they have been absent. */
export interface LeavingRule {
  importedAt: Date;
  leaveAfterDays: number;
}

/** SQL: a step's customer leaves with this import; `absentBefore` is a parameter that holds what `findLeavingDay` gives. */
export const toLeavingSql = (absentBefore: string): string => `(
  step.is_shown and step.leaves is not null and customer.left_at is null
  or not step.is_shown and customer.left_at is null and customer.absent_since < ${absentBefore}::timestamptz
)`;

/**
 * Whoever is absent since before this moment has been missing on `leaveAfterDays` further days (UTC) of whole snapshots, the one that is
 * being imported included. Days without a snapshot say nothing of anybody and do not count; null while there were not so many.
 */
export async function findLeavingDay(
  transaction: Queryable,
  rosterId: number,
  { importedAt, leaveAfterDays }: LeavingRule,
): Promise<Date | null> {
  const rows = await transaction.query(
    z.object({ day: z.date() }),
    `select day at time zone 'UTC' as day
     from (
       select date_trunc('day', imported_at at time zone 'UTC') as day from roster_import where roster_id = $1 and not is_delta
       union
       select date_trunc('day', $2::timestamptz at time zone 'UTC')
     ) days
     order by day desc offset $3::integer - 1 limit 1`,
    [rosterId, importedAt, leaveAfterDays],
  );
  return rows[0]?.day ?? null;
}

/** Whether a step's customer is shown again. */
export const isReturningSql = `(
  step.is_shown and step.leaves is null and case
    when customer.left_at is null then customer.absent_since is not null
    -- A row that was not accepted does not say that somebody who left by a row of their own is back.
    else step.has_record or customer.left_because = 'absent'
  end
)`;

/** Adds a settled snapshot up. */
export async function countSnapshot(
  transaction: Queryable,
  staged: StagedImport & { isFirst: boolean },
  rule: LeavingRule,
): Promise<{ counts: SnapshotCounts; plain: PlainCounts }> {
  const { runId, rosterId, isFirst } = staged;
  const isLeavingSql = toLeavingSql('$2');
  const rows = await transaction.query(
    stagedRow,
    `select count(*)::integer as rows, count(reject_reason)::integer as rejected,
       count(*) filter (where is_repetition)::integer as duplicates,
       count(*) filter (where reject_reason is not null and reference is null)::integer as unreadable,
       count(*) filter (where ${plainSql})::integer as plain,
       count(*) filter (where ${plainSql} and parties > 1)::integer as several,
       count(*) filter (where ${plainSql} and leaves is not null)::integer as leavers
     from roster_staging where run_id = $1`,
    [runId],
  );
  const parties = await transaction.query(
    z.object({
      rows: z.number(),
      rejected: z.number(),
      others: z.number(),
      unreadable: z.number(),
      conflicts: z.number(),
    }),
    `select count(*)::integer as rows, count(reject_reason)::integer as rejected,
       count(*) filter (where reject_reason is null and party ->> 'role' = 'other')::integer as others,
       count(*) filter (where reject_reason is not null and reference is null)::integer as unreadable,
       (select count(*)::integer from roster_case where run_id = $1 and conflicts <> '[]') as conflicts
     from roster_party_staging where run_id = $1`,
    [runId],
  );
  const steps = await transaction.query(
    z.object({
      joined: z.number(),
      changed: z.number(),
      absent: z.number(),
      newly_absent: z.number(),
      leavers: z.number(),
      leavers_by_row: z.number(),
      returned: z.number(),
    }),
    `select count(*) filter (where kind = 'new')::integer as joined,
       count(*) filter (where kind = 'changed')::integer as changed,
       count(*) filter (where not step.is_shown and customer.left_at is null)::integer as absent,
       count(*) filter (where not step.is_shown and customer.left_at is null and customer.absent_since is null)::integer as newly_absent,
       count(*) filter (where ${isLeavingSql})::integer as leavers,
       count(*) filter (where ${isLeavingSql} and step.is_shown)::integer as leavers_by_row,
       count(*) filter (where ${isReturningSql})::integer as returned
     from roster_step step left join customer on customer.customer_id = step.customer_id
     where run_id = $1`,
    [runId, await findLeavingDay(transaction, rosterId, rule)],
  );
  const { plain, several, leavers, unreadable, ...row } = firstRow(rows, 'roster_staging');
  const party = firstRow(parties, 'roster_party_staging');
  const { newly_absent: newlyAbsent, leavers_by_row: leaversByRow, ...step } = firstRow(steps, 'roster_step');
  const counts = {
    ...row,
    customers: row.rows - row.rejected - row.duplicates,
    conflicts: party.conflicts,
    partyRows: party.rows,
    partyRejected: party.rejected,
    otherRoles: party.others,
    unreadableIds: unreadable + party.unreadable,
    ...step,
    newlyAbsent,
    leaversByRow,
    // Nothing is noted of a first snapshot's customers: all are new.
    joined: isFirst ? plain + step.joined : step.joined,
    leavers: isFirst ? leavers + step.leavers : step.leavers,
  };
  return { counts, plain: { customers: isFirst ? plain : 0, several: isFirst ? several : 0 } };
}

/** Reads what the roster was before, for guards to measure by. */
export async function readRosterBefore(transaction: Queryable, rosterId: number, now: Date): Promise<RosterBefore> {
  const rows = await transaction.query(
    z.object({
      known: z.number(),
      most: z.number().nullable(),
      headers: z.array(z.string()).nullable(),
      party_rows: z.number(),
      party_headers: z.array(z.string()).nullable(),
    }),
    `select
       (select count(*)::integer from customer where roster_id = $1 and absent_since is null and left_at is null) as known,
       (
         select max(customers) from roster_import
         where roster_id = $1 and not is_delta and imported_at > $2::timestamptz - interval '30 days'
           -- A shrinkage that somebody accepted is not held against the snapshots after it.
           and import_id >= coalesce((
             select max(import_id) from roster_import
             where roster_id = $1 and overridden_guards && array['shrink_night', 'shrink_30_days', 'leavers', 'empty']
           ), 0)
       ) as most,
       (
         select headers from roster_import
         where roster_id = $1 and not is_delta and headers is not null order by import_id desc limit 1
       ) as headers,
       coalesce(last.party_rows - last.party_rejected, 0) as party_rows, last.party_headers
     from (values (1)) once
     left join lateral (
       select * from roster_import where roster_id = $1 and not is_delta order by import_id desc limit 1
     ) last on true`,
    [rosterId, now],
  );
  const { known, most, headers, party_rows: partyRows, party_headers: partyHeaders } = firstRow(rows, 'roster');
  return { known, mostIn30Days: most, headers, partyRows, partyHeaders };
}

/** Those of the references that are customers of the roster. */
export async function findKnown(
  transaction: Queryable,
  rosterId: number,
  references: readonly string[],
): Promise<readonly string[]> {
  if (references.length === 0) return [];
  const rows = await transaction.query(
    z.object({ reference: z.string() }),
    'select reference from customer where roster_id = $1 and reference = any($2::text[])',
    [rosterId, [...references]],
  );
  return rows.map(({ reference }) => reference);
}
