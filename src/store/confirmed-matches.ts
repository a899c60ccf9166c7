import { z } from 'zod';
import type { Queryable } from './database.js';

const row = z.object({ partyId: z.number(), matchIds: z.array(z.string()) });

/** The ids under which reviewers have confirmed that a match is the customer, by party; a party without any is not in it. */
export async function readConfirmedMatches(
  database: Queryable,
  accountId: number,
  partyIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  if (partyIds.length === 0) return new Map();
  const rows = await database.query(
    row,
    `select party_id as "partyId", array_agg(listed ->> 'id') as "matchIds"
     from review_item where party_id = any ($2::bigint[]) and account_id = $1 and is_confirmed
     group by party_id`,
    [accountId, [...partyIds]],
  );
  return new Map(rows.map(({ partyId, matchIds }) => [partyId, new Set(matchIds)]));
}
