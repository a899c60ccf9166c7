import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { holdStates } from './party-states.js';

/** The length at which an account's lists are known to be cut without a word, or null. */
export async function readListCap(database: Queryable, accountId: number): Promise<number | null> {
  const rows = await database.query(
    z.object({ length: z.number() }),
    'select length from list_cap where account_id = $1 and gone_at is null',
    [accountId],
  );
  return rows[0]?.length ?? null;
}

/** Notes what a run showed of an account's cap: which one stands from now on, or that none does. */
export async function saveListCap(
  transaction: Queryable,
  key: { accountId: number; runId: number; now: Date },
  cap: number | null,
): Promise<void> {
  await transaction.execute(
    `update list_cap set gone_run_id = $2, gone_at = $3
     where account_id = $1 and gone_at is null and length is distinct from $4::integer`,
    [key.accountId, key.runId, key.now, cap],
  );
  if (cap === null) return;
  await transaction.execute(
    `insert into list_cap (account_id, length, found_run_id, found_at) values ($1, $2, $3, $4)
     on conflict (account_id) where gone_at is null do nothing`,
    [key.accountId, cap, key.runId, key.now],
  );
}

/** The parties of a run, also those it did not ask about, whose last answer on its account has just this length. */
const partiesOfLength = `
  select state.party_id, state.account_id
  from screening
  join run on run.run_id = screening.run_id
  join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
  join response on response.response_id = state.response_id
  where screening.run_id = $1 and screening.outcome in ('screened', 'reused', 'skipped')
    and response.total = $2 and not response.truncated`;

/**
 * Takes the lists of this length in a run for cut: nobody is clear by one, and a match missing from one is not returned instead of
 * removed. Gives how many customers have such a list.
 */
export async function takeForCut(transaction: Queryable, runId: number, length: number): Promise<number> {
  await holdStates(transaction, `select account_id, party_id from (${partiesOfLength}) parties`, [runId, length]);
  // What was taken for removed is kept in mind as hidden, so that the next whole list tells.
  await transaction.execute(
    `with hidden as (
       update change_event set kind = 'match_not_returned', rule = case when rule = 'delisted' then 'not_returned' else rule end
       where run_id = $1 and kind = 'match_removed' and party_id in (select party_id from (${partiesOfLength}) parties)
       returning party_id, before
     )
     update party_state set unreturned = coalesce(unreturned, '[]'::jsonb) || lost.matches
     from (select party_id, jsonb_agg(before) as matches from hidden group by party_id) lost, run
     where run.run_id = $1 and party_state.account_id = run.account_id and party_state.party_id = lost.party_id`,
    [runId, length],
  );
  await transaction.execute(
    `update party_state set state = case
       when jsonb_path_exists(coalesce(party_state.unreturned, '[]'::jsonb), '$[*] ? (@.isHit == true)') then 'open_hit'
       else 'incompletely_seen'
     end
     from (${partiesOfLength}) parties
     where party_state.account_id = parties.account_id and party_state.party_id = parties.party_id
       and party_state.state in ('clear', 'below_threshold')`,
    [runId, length],
  );
  const rows = await transaction.query(
    z.object({ customers: z.number() }),
    `select count(distinct party.customer_id)::integer as customers from (${partiesOfLength}) parties join party using (party_id)`,
    [runId, length],
  );
  return firstRow(rows, 'party_state').customers;
}

/** Takes the lists of this length in a run for whole again, except where they still hide a known match. Gives how many customers have one. */
export async function takeForWhole(transaction: Queryable, runId: number, length: number): Promise<number> {
  await holdStates(transaction, `select account_id, party_id from (${partiesOfLength}) parties`, [runId, length]);
  await transaction.execute(
    `update party_state set state = 'below_threshold'
     from (${partiesOfLength}) parties
     where party_state.account_id = parties.account_id and party_state.party_id = parties.party_id
       and party_state.state = 'incompletely_seen' and party_state.unreturned is null`,
    [runId, length],
  );
  const rows = await transaction.query(
    z.object({ customers: z.number() }),
    `select count(distinct party.customer_id)::integer as customers from (${partiesOfLength}) parties join party using (party_id)`,
    [runId, length],
  );
  return firstRow(rows, 'party_state').customers;
}
