import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import type { ProjectionScope } from './unprojected-changes.js';

/** SQL: a held run has opened or changed the alert (`item`); with `where` only such a run. */
const isOfHeldRunSql = (where = 'true'): string => `exists (
  select from review_event event
  join run_hold hold on hold.run_id = event.run_id and hold.kind = 'answers'
  where event.item_id = item.item_id and ${where}
)`;

/**
 * SQL: an absent alert (`item`, of `party` and `customer`) may be closed without looking at it alone: nobody has proposed anything about it,
 * it is no true match, the customer's record is as it was, the last answer is whole, and it is of no run that is still held.
 */
const isPlainlyAbsentSql = `(
  item.state = 'open' and item.absence in ('not_returned', 'below_threshold', 'settings_changed') and not item.is_confirmed
  and item.customer_version = customer.version and customer.left_at is null and party.is_current
  and not ${isOfHeldRunSql('hold.accepted_at is null')}
  and exists (
    select from party_state state
    join response on response.response_id = state.response_id
    left join list_cap on list_cap.account_id = state.account_id and list_cap.gone_at is null
    where state.party_id = item.party_id and state.account_id = item.account_id and state.customer_version = item.customer_version
      and state.unreturned is null and not response.truncated and response.total is distinct from list_cap.length
  )
)`;

/** Days and whole answers for which a match is absent before a policy closes its alert. */
const policyDays = 7;
const policyAnswers = 3;

/**
 * The undecided alerts of a roster on an account that the accepted policy `review.autoClose` closes when a run closes at `now`: never
 * proposed or commented, for nothing more serious than political exposure, absent by the service alone, from three whole answers of closed
 * runs over at least seven days (an answer that was used again is none), never of a run that was held, and no settings accepted meanwhile.
 */
export async function findAutoClosable(
  transaction: Queryable,
  runId: number,
  { rosterId, accountId }: ProjectionScope,
  now: Date,
): Promise<readonly { itemId: number; absentSince: Date }[]> {
  return transaction.query(
    z.object({ itemId: z.number(), absentSince: z.date() }),
    `select item.item_id as "itemId", item.absent_since as "absentSince"
     from review_item item
     join party on party.party_id = item.party_id
     join customer on customer.customer_id = party.customer_id and customer.roster_id = $2
     join roster on roster.roster_id = customer.roster_id
     where item.account_id = $3 and item.absence in ('not_returned', 'below_threshold') and item.topic in ('pep', 'associate', 'other')
       and item.absent_since <= $4::timestamptz - interval '${policyDays} days' and ${isPlainlyAbsentSql}
       and not ${isOfHeldRunSql()}
       and not exists (select from disposition said where said.item_id = item.item_id)
       and not exists (select from legacy_decision said where said.item_id = item.item_id)
       and not exists (
         select from settings_record accepted
         where accepted.organisation_id = roster.organisation_id and accepted.accepted_at > item.absent_since
       )
       and ${policyAnswers} <= (
         select count(*)
         from screening
         join run on run.run_id = screening.run_id and run.account_id = item.account_id
         join response on response.response_id = screening.response_id and not response.truncated
         join commit_batch batch on batch.batch_id = screening.batch_id
         where screening.party_id = item.party_id and screening.outcome = 'screened'
           and (run.run_id = $1 or run.state in ('complete', 'incomplete'))
           -- By when the answer came: accepting a run moves its end. The absence is dated by the end of the run that found it.
           and (batch.committed_at >= item.absent_since or exists (
             select from review_event found
             where found.item_id = item.item_id and found.run_id = run.run_id and found.happened_at = item.absent_since
           ))
           -- A cap that has gone since may have cut what came before.
           and not exists (
             select from list_cap cap
             where cap.account_id = item.account_id and cap.length = response.total
               and (cap.gone_at is null or cap.gone_at > batch.committed_at)
           )
       )
     order by item.item_id`,
    [runId, rosterId, accountId, now],
  );
}

/** Of these alerts those that may be confirmed as no longer matched in bulk, each with its account. */
export async function findPlainlyAbsent(
  database: Queryable,
  itemIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (itemIds.length === 0) return new Map();
  const rows = await database.query(
    z.object({ itemId: z.number(), accountId: z.number() }),
    `select item.item_id as "itemId", item.account_id as "accountId"
     from review_item item
     join party on party.party_id = item.party_id
     join customer on customer.customer_id = party.customer_id
     where item.item_id = any ($1::bigint[]) and ${isPlainlyAbsentSql}`,
    [[...itemIds]],
  );
  return new Map(rows.map(({ itemId, accountId }) => [itemId, accountId]));
}

/** Stores which alerts a bulk row of a working list names; gives its number. */
export async function saveBulk(database: Queryable, sheetId: number, itemIds: readonly number[]): Promise<number> {
  const rows = await database.query(
    z.object({ bulkId: z.number() }),
    'insert into review_bulk (sheet_id, item_ids) values ($1, $2::bigint[]) returning bulk_id as "bulkId"',
    [sheetId, [...itemIds]],
  );
  return firstRow(rows, 'review_bulk').bulkId;
}

/** The alerts that a bulk row names; none for an unknown one. */
export async function readBulk(database: Queryable, bulkId: number): Promise<readonly number[]> {
  const rows = await database.query(
    z.object({ itemIds: z.array(z.number()) }),
    'select item_ids as "itemIds" from review_bulk where bulk_id = $1',
    [bulkId],
  );
  return rows[0]?.itemIds ?? [];
}
