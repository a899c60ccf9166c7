import { z } from 'zod';
import type { Queryable } from './database.js';

const crowdRow = z.object({ reference: z.string(), parties: z.number() });

/** The customer for whom a run has staged the most different related parties, where it is more than `most`; null otherwise. */
export async function findCrowd(
  transaction: Queryable,
  runId: number,
  most: number,
): Promise<z.infer<typeof crowdRow> | null> {
  const rows = await transaction.query(
    crowdRow,
    `select crowd.reference, count(distinct staged.party)::integer as parties
     from (
       select reference from roster_party_staging
       where run_id = $1 and reject_reason is null group by reference having count(*) > $2
     ) crowd
     join roster_party_staging staged on staged.run_id = $1 and staged.reference = crowd.reference and staged.reject_reason is null
     group by crowd.reference having count(distinct staged.party) > $2
     order by parties desc, crowd.reference limit 1`,
    [runId, most],
  );
  return rows[0] ?? null;
}
