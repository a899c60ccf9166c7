import { z } from 'zod';
import type { Severity } from '../changes/change-event.js';
import type { Queryable } from './database.js';

/** Which waiting items are meant: these, or all for which each of the other things holds that is said. */
export interface ItemChoice {
  organisation: string;
  itemIds: readonly number[] | null;
  customer: string | null;
  severity: Severity | null;
  roster: string | null;
}

const heldRow = z.object({ itemId: z.number(), assignedTo: z.string().nullable() });

/** The items that are meant and wait, each held until the transaction ends. */
export async function holdWaitingItems(
  transaction: Queryable,
  { organisation, itemIds, customer, severity, roster }: ItemChoice,
): Promise<readonly z.infer<typeof heldRow>[]> {
  return transaction.query(
    heldRow,
    `select item.item_id as "itemId", item.assigned_to as "assignedTo"
     from review_item item
     where item.state in ('open', 'proposed') and ($2::bigint[] is null or item.item_id = any ($2)) and ($4::text is null or item.severity = $4)
       and exists (
         select from party
         join customer on customer.customer_id = party.customer_id and ($3::text is null or customer.reference = $3)
         join roster on roster.roster_id = customer.roster_id and ($5::text is null or roster.name = $5)
         join organisation on organisation.organisation_id = roster.organisation_id and organisation.name = $1
         where party.party_id = item.party_id
       )
     order by item.item_id for update`,
    [organisation, itemIds && [...itemIds], customer, severity, roster],
  );
}

/** Assigns items to somebody, or to nobody, with an entry in the history of each. */
export async function saveAssignments(
  transaction: Queryable,
  itemIds: readonly number[],
  { to, actor, now }: { to: string | null; actor: { name: string; isAttested: boolean }; now: Date },
): Promise<void> {
  if (itemIds.length === 0) return;
  await transaction.execute('update review_item set assigned_to = $2 where item_id = any ($1::bigint[])', [
    [...itemIds],
    to,
  ]);
  await transaction.execute(
    `insert into review_event (item_id, kind, happened_at, severity, actor, is_attested, assigned_to)
     select item_id, 'assigned', $2, severity, $3, $4, $5 from review_item where item_id = any ($1::bigint[]) order by item_id`,
    [[...itemIds], now, actor.name, actor.isAttested, to],
  );
}

/**
 * Whether somebody of this name may decide, as far as the database can tell: where a role nightscreen_reviewer exists its members that can
 * log in. Null where nothing says who may.
 */
export async function isKnownReviewer(database: Queryable, name: string): Promise<boolean | null> {
  const rows = await database.query(
    z.object({ isKnown: z.boolean().nullable() }),
    `select case when exists (select from pg_roles where rolname = 'nightscreen_reviewer') then exists (
       select from pg_roles login
       where login.rolname = $1 and login.rolcanlogin and pg_has_role(login.oid, 'nightscreen_reviewer', 'member')
     ) end as "isKnown"`,
    [name],
  );
  return rows[0]?.isKnown ?? null;
}
