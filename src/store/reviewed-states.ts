import { z } from 'zod';
import type { Queryable } from './database.js';

/** Which of these parties have a last answer that was cut, or hides matches that cut lists have hidden. */
export async function findCutParties(
  database: Queryable,
  accountId: number,
  partyIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await database.query(
    z.object({ partyId: z.number() }),
    `select state.party_id as "partyId"
     from party_state state
     join response on response.response_id = state.response_id
     where state.account_id = $1 and state.party_id = any ($2::bigint[])
       and (response.truncated or state.unreturned is not null)`,
    [accountId, [...partyIds]],
  );
  return new Set(rows.map(({ partyId }) => partyId));
}

/** What is said of the former answer: one that was cut has not shown all, whatever the newest shows. */
const formerStateSql = `case
  when reviewed."formerState" = 'settled_false_positive' and (
    party_state.former_answer -> 'unreturned' <> 'null' or exists (
      select from response
      where response.response_id = (party_state.former_answer ->> 'response_id')::bigint and response.truncated
    )
  ) then 'incompletely_seen' else reviewed."formerState"
end`;

/**
 * Says of parties what was decided about all that they are hits for, and of the answers that an open run has replaced (`formerState`); null
 * where something is undecided.
 */
export async function saveReviewedStates(
  transaction: Queryable,
  accountId: number,
  states: readonly { partyId: number; reviewedState: string | null; formerState: string | null }[],
): Promise<void> {
  if (states.length === 0) return;
  await transaction.execute(
    `update party_state set reviewed_state = reviewed."reviewedState",
       -- Where control searches take the answer back, the one before comes back with what is decided by now.
       former_answer = former_answer || jsonb_build_object('reviewed_state', ${formerStateSql})
     from jsonb_to_recordset($2::text::jsonb) as reviewed ("partyId" bigint, "reviewedState" text, "formerState" text)
     where party_state.account_id = $1 and party_state.party_id = reviewed."partyId"
       and (
         party_state.reviewed_state is distinct from reviewed."reviewedState"
         or party_state.former_answer is not null
           and party_state.former_answer ->> 'reviewed_state' is distinct from ${formerStateSql}
       )`,
    [accountId, JSON.stringify(states)],
  );
}
