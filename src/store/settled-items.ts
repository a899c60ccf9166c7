import { z } from 'zod';
import type { SettledFacts } from '../reports/history-facts.js';
import type { Queryable } from './database.js';

const count = z.number().int();
const settledShape = z.object({
  falsePositive: count,
  trueMatch: count,
  inconclusive: count,
  carried: count,
  reopened: count,
  expired: count,
  gone: count,
}) satisfies z.ZodType<SettledFacts>;

/** Counts the decided items of a roster's customers on an account, and what this run did with decisions, and keeps it with the run. */
export async function saveSettledItems(
  transaction: Queryable,
  runId: number,
  { rosterId, accountId }: { rosterId: number; accountId: number },
): Promise<void> {
  await transaction.execute(
    `with decided as (
       select item.state, item.is_confirmed, disposition.verdict, coalesce(screening.outcome in ('screened', 'reused'), false) as is_screened
       from review_item item
       join disposition on disposition.disposition_id = item.disposition_id
       join party on party.party_id = item.party_id
       join customer on customer.customer_id = party.customer_id and customer.roster_id = $2
       left join screening on screening.run_id = $1 and screening.party_id = item.party_id
       where item.account_id = $3
     ), told as (
       select item_id, kind, bool_or('expired' = any (reasons)) as is_expired
       from review_event where run_id = $1 and kind in ('reopened', 'gone') group by item_id, kind
     )
     update run set settled_items = (
       select jsonb_build_object(
         'falsePositive', count(*) filter (where state = 'settled'),
         'trueMatch', count(*) filter (where is_confirmed),
         'inconclusive', count(*) filter (where state = 'open' and verdict = 'inconclusive'),
         'carried', count(*) filter (where (state = 'settled' or is_confirmed) and is_screened)
       ) from decided
     ) || (
       select jsonb_build_object(
         'reopened', count(*) filter (where kind = 'reopened' and not is_expired),
         'expired', count(*) filter (where kind = 'reopened' and is_expired),
         'gone', count(*) filter (where kind = 'gone')
       ) from told
     )
     where run.run_id = $1`,
    [runId, rosterId, accountId],
  );
}

/** What was settled when a run closed; null for one of which nothing was made, or that closed before it was counted. */
export async function readSettledItems(database: Queryable, runId: number): Promise<SettledFacts | null> {
  const rows = await database.query(
    z.object({ settled: settledShape.nullable() }),
    'select settled_items as settled from run where run_id = $1',
    [runId],
  );
  return rows[0]?.settled ?? null;
}
