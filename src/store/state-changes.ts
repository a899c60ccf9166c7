import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** SQL that has views judge this transaction's customers at `$1` and not at the database's own time. */
const judgeAtSql = `select set_config('nightscreen.status_at', $1, true)`;

/**
 * Records every customer of a roster whose state at `now` is another than the recorded one, and queues what webhooks are to be told of it;
 * gives how many. Customers without a recorded state count only `withNew`.
 */
export async function recordStateChanges(
  transaction: Queryable,
  rosterId: number,
  now: Date,
  { withNew }: { withNew: boolean },
): Promise<number> {
  await transaction.execute(judgeAtSql, [now.toISOString()]);
  const rows = await transaction.query(
    z.object({ recorded: z.number() }),
    'select record_state_changes($1, null, $2) as recorded',
    [rosterId, withNew],
  );
  return firstRow(rows, 'customer_state_change').recorded;
}

/** How many customers of a roster are in which state at this moment. */
export async function countStates(
  transaction: Queryable,
  rosterId: number,
  now: Date,
): Promise<Readonly<Record<string, number>>> {
  await transaction.execute(judgeAtSql, [now.toISOString()]);
  const rows = await transaction.query(
    z.object({ state: z.string(), customers: z.number() }),
    'select state, count(*)::integer as customers from customer_standing where roster_id = $1 group by state order by state',
    [rosterId],
  );
  return Object.fromEntries(rows.map(({ state, customers }) => [state, customers]));
}

/** The newest change of state of all; 0 before the first. */
export async function readLastStateChange(transaction: Queryable): Promise<number> {
  const rows = await transaction.query(
    z.object({ last: z.number() }),
    'select coalesce(max(change_id), 0) as last from customer_state_change',
  );
  return firstRow(rows, 'customer_state_change').last;
}

/** How many customers of a roster the changes after this one have made open hits that were known and were neither open nor confirmed. */
export async function countNewlyOpen(transaction: Queryable, rosterId: number, after: number): Promise<number> {
  const rows = await transaction.query(
    z.object({ customers: z.number() }),
    `select count(distinct change.customer_id)::integer as customers
     from customer_state_change change
     join customer on customer.customer_id = change.customer_id and customer.roster_id = $1
     -- Before a lapse, where there was one.
     cross join lateral (
       select earlier.to_state from customer_state_change earlier
       where earlier.customer_id = change.customer_id and earlier.change_id < change.change_id and earlier.to_state <> 'not_screened'
       order by earlier.change_id desc limit 1
     ) before
     where change.change_id > $2 and change.to_state = 'open_hit' and before.to_state not in ('open_hit', 'confirmed')`,
    [rosterId, after],
  );
  return firstRow(rows, 'customer_state_change').customers;
}

/** Keeps the changes after this one from webhooks until a run is accepted; gives how many messages wait. */
export async function holdWebhookEvents(
  transaction: Queryable,
  { runId, rosterId }: { runId: number; rosterId: number },
  after: number,
): Promise<number> {
  return transaction.execute(
    `update webhook_event set held_run_id = $1
     from customer_state_change change join customer on customer.customer_id = change.customer_id and customer.roster_id = $2
     where webhook_event.change_id = change.change_id and change.change_id > $3 and webhook_event.held_run_id is null`,
    [runId, rosterId, after],
  );
}

/** Lets webhooks have what was kept from them because of a run. */
export async function releaseWebhookEvents(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute('update webhook_event set held_run_id = null where held_run_id = $1', [runId]);
}
