import { z } from 'zod';
import type { Queryable } from './database.js';
import { absenceShape, itemStateShape, ownerShape, severityShape } from './item-shapes.js';
import { ownerSql } from './item-sql.js';
import { keptDetailsSql } from './match-details.js';
import { joinPartySql, partyFactsSchema, partyFactsSql } from './party-facts.js';
import { storedMatchSchema } from './stored-match.js';

const historyRow = z.object({
  itemId: z.number(),
  roster: z.string(),
  mode: z.enum(['test', 'live']),
  party: partyFactsSchema,
  listed: storedMatchSchema,
  state: itemStateShape,
  absence: absenceShape.nullable(),
  severity: severityShape,
  dueAt: z.date().nullable(),
  details: z.array(
    z.object({
      kind: z.enum(['activity', 'entity']),
      id: z.string(),
      fetchedAt: z.coerce.date(),
      digest: z.string(),
      withheldLinks: z.number(),
      body: z.string(),
    }),
  ),
  openedAt: z.date(),
  owner: ownerShape.nullable(),
  history: z.array(
    z.object({
      at: z.coerce.date(),
      what: z.string(),
      who: z.string().nullable(),
      isAttested: z.boolean(),
      reason: z.string(),
      comment: z.string().nullable(),
    }),
  ),
});

/** An item of a customer with all that has become of it, oldest first. */
export type ItemHistory = z.infer<typeof historyRow>;

/** Every item of the customers of this reference, in all rosters, with its history. */
export function readItemHistories(
  database: Queryable,
  organisation: string,
  reference: string,
  now: Date,
): Promise<readonly ItemHistory[]> {
  return database.query(
    historyRow,
    `select item.item_id as "itemId", roster.name as roster, case when account.is_test then 'test' else 'live' end as mode, ${partyFactsSql} as party,
       item.listed, item.state, item.absence, item.severity, item.opened_at as "openedAt", item.due_at as "dueAt",
       ${ownerSql('item', '$3')} as owner,
       (
         select coalesce(jsonb_agg(jsonb_build_object(
           'at', told.at, 'what', told.what, 'who', told.who, 'isAttested', told.is_attested, 'reason', told.reason, 'comment', told.comment
         ) order by told.at, told.place), '[]')
         from (
           select happened_at as at, event_id as place, case when kind <> 'assigned' then kind || ' ' || severity
               else coalesce('assigned to ' || assigned_to, 'assigned to nobody') end as what,
             actor as who, is_attested, array_to_string(reasons, ', ') as reason, null as comment
           from review_event where review_event.item_id = item.item_id
           union all
           select decided_at, disposition_id, kind || coalesce(' ' || verdict, ''), reviewer, is_attested, reason, comment
           from disposition where disposition.item_id = item.item_id
           union all
           select imported_at, 0, case when is_sample then 'sampled ' else 'legacy ' end || verdict, decided_by, true, reason,
             'decided ' || decided_at || ' in an older system, brought by ' || reviewer || coalesce('; ' || comment, '')
           from legacy_decision where legacy_decision.item_id = item.item_id
         ) told
       ) as history,
       ${keptDetailsSql('item')} as details
     from review_item item
     ${joinPartySql('item')}
     join roster on roster.roster_id = customer.roster_id
     join organisation on organisation.organisation_id = roster.organisation_id and organisation.name = $1
     join account on account.account_id = item.account_id
     where customer.reference = $2
     order by roster.name, item.item_id`,
    [organisation, reference, now],
  );
}
