import { z } from 'zod';
import type { OpenItemsFacts } from '../reports/item-facts.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { ownerShape, severityShape } from './item-shapes.js';
import { ownerSql } from './item-sql.js';

const count = z.number().int();
const openItemsRow = z.object({
  waiting: count,
  // Not counted before a report told of customers and of absent matches.
  customers: count.nullable().default(null),
  absent: count.nullable().default(null),
  overdue: count,
  unassigned: count,
  proposed: count,
  oldestAt: z.coerce.date().nullable(),
  bySeverity: z.array(z.object({ severity: severityShape, waiting: count, overdue: count })),
  // Not counted before anything could be assigned.
  byOwner: z.array(ownerShape.extend({ waiting: count, overdue: count })).default([]),
  byAge: z.object({ upToOneDay: count, upToOneWeek: count, upToThirtyDays: count, older: count }),
}) satisfies z.ZodType<OpenItemsFacts>;

/** Counts what waits for reviewers of a roster's customers on an account at `now`, and keeps it with the run. */
export async function saveOpenItems(
  transaction: Queryable,
  runId: number,
  { rosterId, accountId }: { rosterId: number; accountId: number },
  now: Date,
): Promise<OpenItemsFacts> {
  const rows = await transaction.query(
    z.object({ items: openItemsRow }),
    `with waiting as (
       select item.severity, ${ownerSql('item', '$4')} as owner, item.state, item.opened_at, item.absence, party.customer_id,
         coalesce(item.due_at < $4::timestamptz, false) as is_overdue, $4::timestamptz - item.opened_at as age
       from review_item item
       join party on party.party_id = item.party_id
       join customer on customer.customer_id = party.customer_id and customer.roster_id = $2
       where item.account_id = $3 and item.state in ('open', 'proposed')
     )
     update run set open_items = (
       select jsonb_build_object(
         'waiting', count(*), 'customers', count(distinct customer_id), 'absent', count(absence), 'overdue', count(*) filter (where is_overdue), 'unassigned', count(*) filter (where owner is null),
         'proposed', count(*) filter (where state = 'proposed'), 'oldestAt', min(opened_at),
         'bySeverity', (
           select coalesce(jsonb_agg(jsonb_build_object('severity', severity, 'waiting', items, 'overdue', late)
             order by array_position($5::text[], severity)), '[]')
           from (
             select severity, count(*) as items, count(*) filter (where is_overdue) as late from waiting group by severity
           ) tally
         ),
         'byOwner', (
           select coalesce(jsonb_agg(owner || jsonb_build_object('waiting', items, 'overdue', late) order by items desc, owner ->> 'name', owner), '[]')
           from (
             select owner, count(*) as items, count(*) filter (where is_overdue) as late from waiting where owner is not null group by owner
           ) tally
         ),
         'byAge', jsonb_build_object(
           'upToOneDay', count(*) filter (where age <= interval '1 day'),
           'upToOneWeek', count(*) filter (where age > interval '1 day' and age <= interval '7 days'),
           'upToThirtyDays', count(*) filter (where age > interval '7 days' and age <= interval '30 days'),
           'older', count(*) filter (where age > interval '30 days')
         )
       )
       from waiting
     )
     where run.run_id = $1
     returning open_items as items`,
    [runId, rosterId, accountId, now, severityShape.options],
  );
  return firstRow(rows, 'run').items;
}

/** What waited for reviewers when a run closed; null for one that has not closed, or closed before there were items. */
export async function readOpenItems(database: Queryable, runId: number): Promise<OpenItemsFacts | null> {
  const rows = await database.query(
    z.object({ items: openItemsRow.nullable() }),
    'select open_items as items from run where run_id = $1',
    [runId],
  );
  return rows[0]?.items ?? null;
}
