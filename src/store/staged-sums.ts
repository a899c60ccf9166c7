import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { plainRequestsSql, stepRequestsSql } from './save-requests.js';

/** How many staged rows are rejected, related parties included, by reason. */
export async function countRejectReasons(
  transaction: Queryable,
  runId: number,
): Promise<Readonly<Record<string, number>>> {
  const rows = await transaction.query(
    z.object({ reason: z.string(), count: z.number() }),
    `select reject_reason as reason, count(*)::integer as count
     from (
       select reject_reason from roster_staging where run_id = $1
       union all select reject_reason from roster_party_staging where run_id = $1
     ) staged
     where reject_reason is not null group by reject_reason order by reject_reason`,
    [runId],
  );
  return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]));
}

/** How many different requests the new customers of a settled snapshot need. */
export async function countNewRequests(
  transaction: Queryable,
  { runId, isFirst }: { runId: number; isFirst: boolean },
): Promise<number> {
  const ofSteps = `${stepRequestsSql} and step.kind = 'new'`;
  const rows = await transaction.query(
    z.object({ requests: z.number() }),
    `select count(*)::integer as requests
     from (select distinct type, name from (${isFirst ? `${plainRequestsSql} union all ${ofSteps}` : ofSteps}) wanted) wanted`,
    [runId],
  );
  return firstRow(rows, 'roster_step').requests;
}
