import { z } from 'zod';
import type { Queryable } from './database.js';
import { ownerSql } from './item-sql.js';
import { type StoredWaitingItem, waitingItemsSql, waitingOrderSql, waitingRow } from './waiting-items.js';

/** What the workbook of a run's report shows to be filled in. */
export interface ReportSheet {
  sheetId: number;
  /** How many items waited, also beyond those that it shows. */
  waiting: number;
  items: readonly StoredWaitingItem[];
}

/**
 * Keeps what waits for reviewers of a roster's customers on an account at `now`, as the sheet of the report of the run that closes; the most
 * urgent `maxItems`. An item that is as an earlier report showed it is not stored again.
 */
export async function saveReportSheet(
  transaction: Queryable,
  runId: number,
  { rosterId, accountId }: { rosterId: number; accountId: number },
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

/** The sheet of a run's report, as it was when the run closed last; null for one that has not closed, or closed before there were such sheets. */
export async function readReportSheet(database: Queryable, runId: number): Promise<ReportSheet | null> {
  const [sheet] = await database.query(
    z.object({ sheetId: z.number(), waiting: z.number() }),
    `select sheet_id as "sheetId", waiting from review_sheet where run_id = $1 order by sheet_id desc limit 1`,
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
