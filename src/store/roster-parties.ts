import { z } from 'zod';
import { openBindings } from './bindings.js';
import type { Database, Queryable } from './database.js';
import { inPartyScopeSql, isSearchedSql } from './judged-parties.js';
import type { PlanInput } from './plan-input.js';

/** A party of a roster under the name that is searched for. */
export interface RosterParty {
  partyId: number;
  customerId: number;
  reference: string;
  type: 'person' | 'entity';
  name: string;
}

const partyRow: z.ZodType<RosterParty> = z.object({
  partyId: z.number(),
  customerId: z.number(),
  reference: z.string(),
  type: z.enum(['person', 'entity']),
  name: z.string(),
});

/** The parties that a run of the roster answers for, customer by customer, in batches. */
export function readRosterParties(
  database: Database,
  scope: Pick<PlanInput, 'rosterId' | 'accountId' | 'leaveAfterDays'>,
  batchSize: number,
): AsyncIterable<RosterParty[]> {
  const bindings = openBindings();
  return database.cursor(
    partyRow,
    `select party.party_id as "partyId", party.customer_id as "customerId", party.reference, request.type, request.name
     from party_standing party
     join screening_request request on request.request_id = party.request_id
     where ${inPartyScopeSql(bindings, scope)}
     order by party.customer_id, party.ordinal`,
    bindings.values,
    batchSize,
  );
}

/**
 * Takes over whom earlier runs of the roster were forced to ask about and have not had an answer for since: a run that was given up must
 * not leave a published name unsearched. Gives how many parties.
 */
export async function carryForcedScreenings(transaction: Queryable, runId: number): Promise<number> {
  return transaction.execute(
    `insert into forced_screening (run_id, party_id, because)
     select distinct on (forced.party_id) current_run.run_id, forced.party_id, forced.because
     from run current_run
     join run earlier on earlier.roster_id = current_run.roster_id and earlier.run_id < current_run.run_id
       and earlier.mode = current_run.mode
     join forced_screening forced on forced.run_id = earlier.run_id
     join party_standing party
       on party.party_id = forced.party_id and party.account_id is not distinct from current_run.account_id
     where current_run.run_id = $1 and ${isSearchedSql} and coalesce(party.run_id < forced.run_id, true)
     order by forced.party_id, forced.run_id desc
     on conflict (run_id, party_id) do nothing`,
    [runId],
  );
}
