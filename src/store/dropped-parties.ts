import { z } from 'zod';
import type { DroppedPartyFacts } from '../reports/run-facts.js';
import type { Queryable } from './database.js';
import { joinPartySql, partyFactsSchema, partyFactsSql } from './party-facts.js';

const droppedRow: z.ZodType<DroppedPartyFacts> = z.object({
  party: partyFactsSchema,
  state: z.enum(['open_hit', 'incompletely_seen', 'confirmed']),
  droppedAt: z.date(),
});

/**
 * The parties that the imports of these runs no longer name although their last answer was an open hit or a cut list, or they were confirmed,
 * each with the facts it had; of one account where it is known.
 */
export async function readDroppedParties(
  database: Queryable,
  runIds: readonly number[],
  accountId: number | null,
): Promise<readonly DroppedPartyFacts[]> {
  return database.query(
    droppedRow,
    `select distinct on (customer.reference collate "C", party.ordinal, dropped.import_id)
       ${partyFactsSql} as party, dropped.state, imported.imported_at as "droppedAt"
     from dropped_party dropped
     join roster_import imported on imported.import_id = dropped.import_id
     ${joinPartySql('dropped')}
     where imported.run_id = any ($1::bigint[]) and ($2::bigint is null or dropped.account_id = $2)
     order by customer.reference collate "C", party.ordinal, dropped.import_id, dropped.state desc`,
    [[...runIds], accountId],
  );
}
