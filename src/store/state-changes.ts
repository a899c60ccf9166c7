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
