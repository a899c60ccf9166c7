import type { Queryable } from './database.js';
import type { ImportOrigin } from './merge-roster.js';
import { requireAll } from './require-all.js';
import { findLeavingDay, isReturningSql, type SnapshotCounts, toLeavingSql } from './roster-figures.js';
import { plainSql } from './settle-staging.js';

const isLeavingSql = toLeavingSql('$3');

/** Who is absent, leaves or is back; whoever is as before is not touched. Throws StoreError when one would be lost. */
export async function saveStanding(
  transaction: Queryable,
  origin: ImportOrigin,
  importId: number,
  { newlyAbsent, leavers, returned }: Pick<SnapshotCounts, 'newlyAbsent' | 'leavers' | 'returned'>,
): Promise<void> {
  const { runId, rosterId, importedAt, isFirst, lastCustomerId } = origin;
  const absentBefore = await findLeavingDay(transaction, rosterId, origin);
  let saved = await transaction.execute(
    `insert into roster_standing (import_id, customer_id, kind, because)
     select $2, step.customer_id, standing.kind, standing.because
     from roster_step step
     join customer on customer.customer_id = step.customer_id
     cross join lateral (
       select 'absent' as kind, null as because
       where not step.is_shown and customer.left_at is null and customer.absent_since is null
       union all
       select 'left', case when step.is_shown then step.leaves else 'absent' end
       where ${isLeavingSql} or step.kind = 'new' and step.leaves is not null
       union all
       select 'returned', customer.left_because where ${isReturningSql}
     ) standing
     where step.run_id = $1`,
    [runId, importId, absentBefore],
  );
  if (isFirst && leavers > 0) {
    saved += await transaction.execute(
      `insert into roster_standing (import_id, customer_id, kind, because)
       select $2, $3::bigint + ordinal, 'left', leaves from roster_staging where ${plainSql} and leaves is not null`,
      [runId, importId, lastCustomerId],
    );
  }
  requireAll(saved, newlyAbsent + leavers + returned, 'notes on who is absent, has left or is back');
  await transaction.execute(
    `update customer set
       left_at = case when ${isLeavingSql} then $2::timestamptz when ${isReturningSql} then null else customer.left_at end,
       left_because = case
         when ${isLeavingSql} then case when step.is_shown then step.leaves else 'absent' end
         when ${isReturningSql} then null
         else customer.left_because
       end,
       -- What was known of somebody who was not a customer for a while does not count any more.
       returned_at = case when ${isReturningSql} and customer.left_at is not null then $2 else customer.returned_at end,
       absent_since = case when step.is_shown then null else coalesce(customer.absent_since, $2::timestamptz) end
     from roster_step step
     where step.run_id = $1 and step.kind <> 'new' and step.customer_id = customer.customer_id
       and (${isLeavingSql} or ${isReturningSql} or step.is_shown <> (customer.absent_since is null))`,
    [runId, importedAt, absentBefore],
  );
}
