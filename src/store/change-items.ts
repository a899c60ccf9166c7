import type { Queryable } from './database.js';
import { ownerSql, reopenedBecauseSql, replacedSql } from './item-sql.js';
import type { ProjectionScope } from './unprojected-changes.js';

/** How many of the things that were said about an item a report shows. */
const saidAtMost = 3;

/**
 * Keeps with each change of these parties of which items have just been made how its item stands, for reports. First screenings have nothing
 * to tell: their items were opened by them.
 */
export async function saveChangeItems(
  transaction: Queryable,
  { rosterId, accountId }: ProjectionScope,
  partyIds: readonly number[],
  now: Date,
): Promise<void> {
  if (partyIds.length === 0) return;
  await transaction.execute(
    `update change_event set item = stands.facts
     from (
       select event.change_id, found.facts
       from unnest($4::bigint[]) as chosen (party_id)
       -- Fenced off: without statistics all changes of a run would be walked through for each party.
       cross join lateral (select * from change_event where party_id = chosen.party_id offset 0) event
       join run on run.run_id = event.run_id and run.roster_id = $1 and run.account_id = $2
         and event.change_id > coalesce(run.projected_change_id, 0)
       cross join lateral (
         select jsonb_build_object(
           'state', item.state, 'openedAt', item.opened_at, 'dueAt', item.due_at, 'owner', ${ownerSql('item', '$3')},
           'reopenedBecause', ${reopenedBecauseSql('item')}, 'replaced', ${replacedSql('item')},
           'said', (
             select coalesce(jsonb_agg(jsonb_build_object(
               'kind', said.kind, 'verdict', said.verdict, 'reviewer', said.reviewer, 'isAttested', said.is_attested,
               'reason', said.reason, 'saidAt', said.decided_at
             ) order by said.disposition_id desc), '[]')
             from (
               select * from disposition where disposition.item_id = item.item_id order by disposition_id desc limit ${saidAtMost}
             ) said
           )
         ) as facts
         from review_item item
         where item.party_id = event.party_id and item.account_id = $2 and item.listed ->> 'id' = event.match_id
         order by (item.state = 'gone'), item.item_id desc limit 1
       ) found
       where not event.is_baseline
     ) stands
     where change_event.change_id = stands.change_id`,
    [rosterId, accountId, now, [...partyIds]],
  );
}
