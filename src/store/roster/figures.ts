import { z } from 'zod';
import type { FactMapping } from '../../roster/compare-records.js';
import { findValue, type Queryable, readColumn, readRow, requireAll } from '../database/database.js';
import { json, type Sql, sql } from '../database/statement.js';
import { countOnTheWay, requireStaged, type StagedImport, slottedRecordSchema } from './staging.js';

interface LeavingRule {
  importedAt: Date;
  leaveAfterDays: number;
}

/** SQL: this import offboards the step's customer; `absentBefore` is the result of `findLeavingDay`. */
const toLeavingSql = (absentBefore: Date | null): Sql => sql`(
  step.is_shown and step.leaves is not null and customer.left_at is null
  or not step.is_shown and customer.left_at is null and customer.absent_since < ${absentBefore}
)`;

/**
 * Gives the moment before which an absence must have begun to last `leaveAfterDays` days (UTC) with whole snapshots,
 * this import included. Days without a snapshot do not count; null while there are too few.
 */
function findLeavingDay(transaction: Queryable, rosterId: number, { importedAt, leaveAfterDays }: LeavingRule) {
  return findValue(
    transaction,
    z.date(),
    sql`select day at time zone 'UTC' as day
     from (
       select date_trunc('day', imported_at at time zone 'UTC') as day from roster_import where roster_id = ${rosterId} and not is_delta
       union
       select date_trunc('day', ${importedAt}::timestamptz at time zone 'UTC')
     ) days
     order by day desc offset ${leaveAfterDays}::integer - 1 limit 1`,
  );
}

/** SQL: the step's customer returns. */
const isReturningSql = sql`(
  step.is_shown and step.leaves is null and case
    when customer.left_at is null then customer.absent_since is not null
    -- A rejected row does not bring back a customer that was offboarded by its own row.
    else step.has_record or customer.left_because = 'absent'
  end
)`;

/** The counts of the staged rows, of the roster or of related parties. */
const rowCounts = z.object({
  rows: z.number(),
  rejected: z.number(),
  duplicates: z.number(),
  unreadable: z.number(),
  others: z.number(),
});

function countRows(transaction: Queryable, runId: number, isParty: boolean) {
  return readRow(
    transaction,
    rowCounts,
    sql`select count(*)::integer as rows, count(reject_reason)::integer as rejected,
       count(*) filter (where is_repetition)::integer as duplicates,
       count(*) filter (where reference is null and reject_reason <> 'not_a_customer')::integer as unreadable,
       count(*) filter (where reject_reason is null and party ->> 'role' = 'other')::integer as others
     from roster_staging where run_id = ${runId} and is_party = ${isParty}`,
  );
}

const stepCounts = z.object({
  /** Ids with contradicting rows. */
  conflicts: z.number(),
  /** New customers. */
  joined: z.number(),
  /** Customers with a changed record. */
  changed: z.number(),
  /** Known active customers that the snapshot does not show. */
  absent: z.number(),
  /** Absent customers that the previous snapshot still showed. */
  newlyAbsent: z.number(),
  /** Customers that this snapshot offboards. */
  leavers: z.number(),
  /** Customers offboarded by their own row. */
  leaversByRow: z.number(),
  /** Customers that are shown again after absence or offboarding. */
  returned: z.number(),
});

async function countSnapshot(transaction: Queryable, { runId, rosterId }: StagedImport, rule: LeavingRule) {
  const isLeavingSql = toLeavingSql(await findLeavingDay(transaction, rosterId, rule));
  const steps = await readRow(
    transaction,
    stepCounts,
    sql`select count(*) filter (where conflicts <> '[]')::integer as conflicts,
       count(*) filter (where kind = 'new')::integer as joined,
       count(*) filter (where kind = 'changed')::integer as changed,
       count(*) filter (where not step.is_shown and customer.left_at is null)::integer as absent,
       count(*) filter (where not step.is_shown and customer.left_at is null and customer.absent_since is null)::integer as newly_absent,
       count(*) filter (where ${isLeavingSql})::integer as leavers,
       count(*) filter (where ${isLeavingSql} and step.is_shown)::integer as leavers_by_row,
       count(*) filter (where ${isReturningSql})::integer as returned
     from roster_step step left join customer on customer.customer_id = step.customer_id
     where run_id = ${runId}`,
  );
  const { rows, rejected, duplicates, unreadable } = await countRows(transaction, runId, false);
  const party = await countRows(transaction, runId, true);
  return {
    rows,
    customers: rows - rejected - duplicates,
    rejected,
    duplicates,
    partyRows: party.rows,
    partyRejected: party.rejected,
    /** Accepted related parties with an unknown role, screened as `other`. */
    otherRoles: party.others,
    /** Rejected rows without a readable customer id, related parties included. */
    unreadableIds: unreadable + party.unreadable,
    ...steps,
  };
}

/** The counts of a compared snapshot: rows = customers + rejected + duplicates, without rows of related parties. */
export type SnapshotCounts = Awaited<ReturnType<typeof countSnapshot>>;

const beforeRow = z.object({
  /** Whether the roster has no customers yet. */
  isFirst: z.boolean(),
  /** Active customers that the last accepted snapshot showed. */
  known: z.number(),
  /** The largest accepted snapshot of the last 30 days; null when there is none to compare with. */
  mostIn30Days: z.number().nullable(),
  /** The columns of the last accepted snapshot; null when unknown. */
  headers: z.array(z.string()).nullable(),
  /** Accepted rows of related parties in the last accepted snapshot, and the columns of their sources. */
  partyRows: z.number(),
  partyHeaders: z.array(z.string()).nullable(),
  /** The given references that are customers of the roster. */
  references: z.array(z.string()),
  /** The settings of facts that differ from those of the last accepted import. */
  reread: z.array(z.string()),
  /** Those that differ from any import of the last seven days, or from the one before these. */
  rereadInWeek: z.array(z.string()),
});

/** Reads the state of the roster before the snapshot for the guards. */
function readRosterBefore(
  transaction: Queryable,
  rosterId: number,
  { importedAt, references, mapping }: { importedAt: Date; references: readonly string[]; mapping: FactMapping },
) {
  return readRow(
    transaction,
    beforeRow,
    sql`select
       not exists (select from customer where roster_id = ${rosterId}) as "isFirst",
       (select count(*)::integer from customer where roster_id = ${rosterId} and absent_since is null and left_at is null) as known,
       (
         select max(customers) from roster_import
         where roster_id = ${rosterId} and not is_delta and imported_at > ${importedAt}::timestamptz - interval '30 days'
           -- An accepted shrinkage does not count against later snapshots.
           and import_id >= coalesce((
             select max(import_id) from roster_import
             where roster_id = ${rosterId} and overridden_guards && array['shrink_night', 'shrink_30_days', 'empty']
           ), 0)
       ) as "mostIn30Days",
       (
         select headers from roster_import
         where roster_id = ${rosterId} and not is_delta and headers is not null order by import_id desc limit 1
       ) as headers,
       coalesce(last.party_rows - last.party_rejected, 0) as party_rows, last.party_headers,
       array(select reference from customer where roster_id = ${rosterId} and reference = any (${references}::text[])) as references,
       array(
         select path from jsonb_each(${json(mapping)}) as now (path, setting)
         where setting <> (select mapping from roster_import where roster_id = ${rosterId} order by import_id desc limit 1) -> path
         order by path collate "C"
       ) as reread,
       array(
         select path from jsonb_each(${json(mapping)}) as now (path, setting)
         where exists (
           select from roster_import
           where roster_id = ${rosterId} and setting <> mapping -> path and import_id >= coalesce((
             select max(import_id) from roster_import where roster_id = ${rosterId} and imported_at <= ${importedAt}::timestamptz - interval '7 days'
           ), 0)
         )
       ) as "rereadInWeek"
     from (values (1)) once
     left join lateral (
       select * from roster_import where roster_id = ${rosterId} and not is_delta order by import_id desc limit 1
     ) last on true`,
  );
}

/**
 * Counts a compared snapshot and reads the roster before it, for the guards; `references` are ids of which the known ones are wanted. Throws
 * StoreError unless all `ordinals` rows are still staged.
 */
export async function summarizeSnapshot(
  transaction: Queryable,
  staged: StagedImport,
  figures: LeavingRule & { ordinals: number; references: readonly string[]; mapping: FactMapping },
) {
  const counts = await countSnapshot(transaction, staged, figures);
  const onTheWay = await countOnTheWay(transaction, staged.runId);
  requireStaged(onTheWay.rows, figures.ordinals);
  const before = await readRosterBefore(transaction, staged.rosterId, figures);
  return { counts, onTheWay, before };
}

const batchSize = 5_000;

const comparedRow = z.object({
  customerId: z.number(),
  reference: z.string(),
  hasAlerts: z.boolean(),
  known: slottedRecordSchema,
  next: slottedRecordSchema.nullable(),
  weekAgo: slottedRecordSchema.nullable(),
});

/** SQL: the customer has an alert or a disposition. */
const hasAlertsSql = sql`exists (
  select from party join alert on alert.party_id = party.party_id
  where party.customer_id = customer.customer_id and alert.state <> 'no_longer_matched'
)`;

/**
 * Gives in batches the known customers whose records the snapshot changes, or snapshots of the seven days before `now`
 * changed. Changes that a person accepted, and those before, do not count.
 */
export async function* compareRecords(transaction: Queryable, { runId, rosterId }: StagedImport, now: Date) {
  const recent = await readColumn(
    transaction,
    z.number(),
    sql`select import_id from roster_import
     where roster_id = ${rosterId} and imported_at > ${now}::timestamptz - interval '7 days' and changed > 0
       and import_id > coalesce((
         select max(import_id) from roster_import where roster_id = ${rosterId} and overridden_guards && array['changed', 'changed_alerts']
       ), 0)`,
  );
  let after = 0;
  for (;;) {
    const compared = await transaction.query(
      comparedRow,
      // Both sides are limited before the join, so that each batch reads the steps once, even if everything changed.
      sql`with current as materialized (
         select customer_id, record from roster_step
         where run_id = ${runId} and kind = 'changed' and customer_id > ${after} order by customer_id limit ${batchSize}
       ),
       earlier as materialized (
         select customer_id, min(version) - 1 as version from customer_version
         where import_id = any (${recent}) and version > 1 and customer_id > ${after}
           and changed_fields && array['name', 'type', 'birth_date', 'countries', 'aliases', 'related_parties']
         group by customer_id order by customer_id limit ${batchSize}
       ),
       touched as (
         select customer_id, current.record, earlier.version from current full join earlier using (customer_id)
         order by customer_id limit ${batchSize}
       )
       select touched.customer_id, customer.reference, ${hasAlertsSql} as "hasAlerts",
         known.record as known, touched.record as next, former.record as "weekAgo"
       from touched
       join customer on customer.customer_id = touched.customer_id
       join customer_version known on known.customer_id = touched.customer_id and known.version = customer.version
       left join customer_version former on former.customer_id = touched.customer_id and former.version = touched.version
       order by touched.customer_id`,
    );
    const last = compared.at(-1);
    if (last === undefined) return;
    yield compared;
    after = last.customerId;
  }
}

/**
 * Counts the customers with an alert or a disposition, and the new rows whose name is a known customer's id. With
 * `asksBirthDates`, also finds whether any accepted row has a birth date. Gives the source texts of `customers` as well.
 */
export async function readComparedFigures(
  transaction: Queryable,
  { runId, rosterId }: StagedImport,
  asked: { asksBirthDates: boolean; headers: readonly string[]; customers: readonly { reference: string }[] },
) {
  const figures = await readRow(
    transaction,
    z.object({ withAlerts: z.number(), namesAsIds: z.number(), hasBirthDates: z.boolean() }),
    sql`select
       (
         select count(distinct party.customer_id)::integer
         from alert join party using (party_id) join customer using (customer_id)
         where customer.roster_id = ${rosterId} and alert.state <> 'no_longer_matched'
       ) as "withAlerts",
       (
         select count(*)::integer from roster_step step
         where step.run_id = ${runId} and step.kind = 'new' and exists (
           select from customer where roster_id = ${rosterId} and reference = step.record #>> '{parties,0,name}'
         )
       ) as "namesAsIds",
       ${asked.asksBirthDates} and exists (
         select from roster_staging where run_id = ${runId} and record #>> '{parties,0,birthDate}' is not null
       ) as "hasBirthDates"`,
  );
  const references = asked.customers.map(({ reference }) => reference);
  const staged = await transaction.query(
    z.object({ reference: z.string(), fields: z.record(z.string(), z.string()) }),
    sql`select reference, json_object(${asked.headers}::text[], texts) as fields from roster_staging
     where run_id = ${runId} and reference = any (${references}::text[]) and texts is not null and reject_reason is null`,
  );
  return { ...figures, fields: new Map(staged.map(({ reference, fields }) => [reference, fields])) };
}

/** Stores absent, offboarded and returning customers; others are not touched. Throws StoreError when one would be lost. */
export async function saveAttendance(
  transaction: Queryable,
  origin: StagedImport & LeavingRule,
  importId: number,
  { newlyAbsent, leavers, returned }: Pick<SnapshotCounts, 'newlyAbsent' | 'leavers' | 'returned'>,
): Promise<void> {
  const { runId, rosterId, importedAt } = origin;
  const isLeavingSql = toLeavingSql(await findLeavingDay(transaction, rosterId, origin));
  const leavingBecauseSql = sql`case when step.is_shown then step.leaves else 'absent' end`;
  const saved = await transaction.execute(sql`
    insert into roster_standing (import_id, customer_id, kind, because)
    select ${importId}, customer.customer_id, attendance.kind, attendance.because
    from roster_step step
    join customer on customer.roster_id = ${rosterId} and customer.reference = step.reference
    cross join lateral (
      select 'absent' as kind, null as because
      where not step.is_shown and customer.left_at is null and customer.absent_since is null
      union all
      select 'left', ${leavingBecauseSql} where ${isLeavingSql}
      union all
      select 'returned', customer.left_because where ${isReturningSql}
    ) attendance
    where step.run_id = ${runId}`);
  requireAll(saved, newlyAbsent + leavers + returned, 'notes on who is absent, has left or is back');
  await transaction.execute(sql`
    update customer set
      left_at = case when ${isLeavingSql} then ${importedAt}::timestamptz when ${isReturningSql} then null else customer.left_at end,
      left_because = case
        when ${isLeavingSql} then ${leavingBecauseSql}
        when ${isReturningSql} then null
        else customer.left_because
      end,
      -- Answers from before an offboarding no longer count.
      returned_at = case when ${isReturningSql} and customer.left_at is not null then ${importedAt} else customer.returned_at end,
      absent_since = case when step.is_shown then null else coalesce(customer.absent_since, ${importedAt}::timestamptz) end
    from roster_step step
    where step.run_id = ${runId} and customer.roster_id = ${rosterId} and step.reference = customer.reference
      and (${isLeavingSql} or ${isReturningSql} or step.is_shown <> (customer.absent_since is null))`);
}
