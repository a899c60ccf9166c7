import { z } from 'zod';
import { type DispositionVerdict, dispositionVerdicts, runModes } from '../../vocabulary.js';
import type { Queryable } from '../database/database.js';
import { storedMatchSchema } from '../row-shapes.js';

const customerRow = z.object({
  reference: z.string(),
  roster: z.string(),
  items: z.array(
    z.object({
      itemId: z.number(),
      accountId: z.number(),
      /** Of the account. */
      mode: z.enum(runModes),
      listed: storedMatchSchema,
      /** Whether somebody has ever decided about it here; a decision that was taken over is none. */
      isDecidedHere: z.boolean(),
      /** What was taken over for it before; null for nothing. */
      taken: z.enum(dispositionVerdicts).nullable(),
    }),
  ),
});
/** A customer whom a row of an older system could mean, with all that is to be decided, or was, about who is listed today. */
export type LegacyCustomer = z.infer<typeof customerRow>;
/** An item that a decision of an older system could be about. */
export type LegacyCandidate = LegacyCustomer['items'][number];

/** The customers of these references in all rosters, with their items on all accounts. */
export function readLegacyCustomers(database: Queryable, organisation: string, references: readonly string[]) {
  return database.query(
    customerRow,
    `select customer.reference, roster.name as roster, (
       select coalesce(jsonb_agg(jsonb_build_object(
         'itemId', item.item_id, 'accountId', item.account_id, 'mode', case when account.is_test then 'test' else 'live' end, 'listed', item.listed, 'taken', legacy.verdict,
         'isDecidedHere', exists (select from disposition made where made.item_id = item.item_id and made.origin = 'review')
       ) order by item.item_id), '[]')
       from review_item item
       join party on party.party_id = item.party_id
       join account on account.account_id = item.account_id
       left join legacy_decision legacy on legacy.item_id = item.item_id
       where party.customer_id = customer.customer_id and item.state <> 'gone'
     ) as items
     from customer
     join roster on roster.roster_id = customer.roster_id
     join organisation on organisation.organisation_id = roster.organisation_id and organisation.name = $1
     where customer.reference = any ($2::text[])
     order by customer.reference, roster.name`,
    [organisation, [...references]],
  );
}

/** Stores what an older system had decided and who has brought it here. */
export async function saveLegacyDecisions(
  transaction: Queryable,
  decisions: readonly {
    itemId: number;
    verdict: DispositionVerdict;
    reason: string;
    comment: string | null;
    decidedBy: string;
    decidedAt: string;
    isSample: boolean;
  }[],
  by: { reviewer: string; isAttested: boolean; now: Date },
): Promise<void> {
  if (decisions.length === 0) return;
  await transaction.execute(
    `insert into legacy_decision (
       item_id, verdict, reason, comment, decided_by, decided_at, is_sample, reviewer, is_attested, imported_at
     )
     select "itemId", verdict, reason, comment, "decidedBy", "decidedAt", "isSample", $2, $3, $4
     from jsonb_to_recordset($1::text::jsonb) as made (
       "itemId" bigint, verdict text, reason text, comment text, "decidedBy" text, "decidedAt" text, "isSample" boolean
     )`,
    [JSON.stringify(decisions), by.reviewer, by.isAttested, by.now],
  );
}
