import { z } from 'zod';
import type { TierDue } from '../screening/cadence.js';
import { openBindings } from './bindings.js';
import type { Database, Queryable } from './database.js';
import { tierRowsSql } from './judged-parties.js';
import { knownAnswersSql, newestAnswerFirst } from './known-answers.js';
import type { ReuseInput } from './plan-input.js';
import { requireRows } from './require-all.js';

/** A planned party whose request has been answered already. */
export interface ReusableScreening {
  partyId: number;
  requestId: number;
  customerVersion: number;
  responseId: number;
}

const reusableRow = z
  .object({ party_id: z.number(), request_id: z.number(), customer_version: z.number(), response_id: z.number() })
  .transform(
    (row): ReusableScreening => ({
      partyId: row.party_id,
      requestId: row.request_id,
      customerVersion: row.customer_version,
      responseId: row.response_id,
    }),
  );

/**
 * Whose planned search an answer still stands in for, in chunks, read from one snapshot: nothing else has been answered to the request since
 * the plan was made, the answer is young enough for the settings and for the cadence, and all of the request's parties can do with it.
 */
export function readReusable(
  database: Database,
  run: { runId: number; accountId: number },
  { reuse, tiers }: { reuse: ReuseInput; tiers: readonly TierDue[] },
  chunkSize: number,
): AsyncIterable<ReusableScreening[]> {
  const bindings = openBindings();
  const runId = bindings.bind(run.runId, 'bigint');
  return database.cursor(
    reusableRow,
    `with planned as materialized (
       select reuse.party_id, screening.request_id, screening.customer_version, reuse.response_id, reuse.answered_at, tier.due_before
       from screening_reuse reuse
       join screening on screening.run_id = reuse.run_id and screening.party_id = reuse.party_id and screening.outcome = 'remaining'
       join party on party.party_id = reuse.party_id
       join customer_version version on version.customer_id = party.customer_id and version.version = screening.customer_version
       join (${tierRowsSql(bindings, tiers)}) tier on tier.tier = coalesce(version.risk_tier, 'high')
       where reuse.run_id = ${runId}
     ),
     newest as materialized (
       select distinct on (request_id) request_id, response_id, is_usable
       from (${knownAnswersSql(bindings, run.accountId, reuse)}) known
       where request_id in (select request_id from planned)
       order by request_id, ${newestAnswerFirst}
     )
     select party_id, request_id, customer_version, response_id
     from (
       select planned.*,
         bool_and(
           coalesce(newest.is_usable and newest.response_id = planned.response_id, false)
             and planned.answered_at > planned.due_before
             and planned.answered_at > ${bindings.bind(reuse.answeredAfter, 'timestamptz')}
         ) over (partition by planned.request_id) as holds
       from planned left join newest on newest.request_id = planned.request_id
     ) judged
     where holds
     order by party_id`,
    bindings.values,
    chunkSize,
  );
}

/** Dates the states of reused parties by the answer and not by its second use, so that they are due again when the answer is old. */
export async function dateReusedStates(
  transaction: Queryable,
  key: { accountId: number; runId: number },
  partyIds: readonly number[],
): Promise<void> {
  const dated = await transaction.execute(
    `update party_state set screened_at = reuse.answered_at
     from screening_reuse reuse
     where reuse.run_id = $2 and reuse.party_id = any ($3::bigint[])
       and party_state.account_id = $1 and party_state.party_id = reuse.party_id`,
    [key.accountId, key.runId, [...partyIds]],
  );
  requireRows(dated, partyIds.length, 'party_state');
}
