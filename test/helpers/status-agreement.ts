import { expect } from 'vitest';
import { z } from 'zod';
import type { AppContext } from '../../src/runs/app-context.js';
import { measureCoverage } from '../../src/runs/coverage.js';
import { readColumn } from '../../src/store/database/database.js';

const tally = z.object({ states: z.record(z.string(), z.number()), reasons: z.record(z.string(), z.number()) });

/** The view's customers by state and reason, at the time of the workplace's clock. */
async function countByView({ database, clock }: AppContext) {
  return database.transaction(async (transaction) => {
    await transaction.execute(`select set_config('nightscreen.status_at', $1, true)`, [clock.now().toISOString()]);
    const [counted] = await transaction.query(
      tally,
      `with told as materialized (
         select state, case
           when reason in ('row_rejected', 'conflicting_duplicate', 'roster_held', 'related_party_unreadable', 'doubtful_name')
             then case when never_screened then 'never' else 'unreadable' end
           else reason
         end as reason
         from customer_screening_status where in_scope
       )
       select
         (select coalesce(jsonb_object_agg(state, n), '{}') from (select state, count(*) as n from told group by 1) s) as states,
         (select coalesce(jsonb_object_agg(reason, n), '{}') from (select reason, count(*) as n from told where reason is not null group by 1) r) as reasons`,
    );
    return counted;
  });
}

/** Whom the walk through a large roster takes for changed, and who of those that stand otherwise than recorded is not among them. */
export async function findUnrecorded({ database, clock }: AppContext) {
  return database.transaction(async (transaction) => {
    await transaction.execute(`select set_config('nightscreen.status_at', $1, true)`, [clock.now().toISOString()]);
    const found = await readColumn(transaction, z.number(), 'select find_unrecorded_states(1, true)');
    const standing = await readColumn(
      transaction,
      z.number(),
      `select standing.customer_id from customer_standing standing
       left join lateral (
         select to_state, is_test from customer_state_change change
         where change.customer_id = standing.customer_id order by change_id desc limit 1
       ) last on true
       where standing.customer_id is not null and standing.is_test is not null
         and (last.to_state, last.is_test) is distinct from (standing.state, standing.is_test)`,
    );
    return { found, missed: standing.filter((customerId) => !found.includes(customerId)) };
  });
}

/** Expects the view to say of each customer what coverage says, and gives the states. */
export async function expectAgreement(app: AppContext) {
  expect((await findUnrecorded(app)).missed).toEqual([]);
  const seen = await countByView(app);
  const { total } = await measureCoverage(app, { list: 0 });
  const { never, unreadable, changed, overdue, unproven } = total;
  const all = { never, unreadable, changed, expired: overdue, unproven };
  const reasons = Object.entries(all).filter(([, count]) => count > 0);
  expect(seen).toEqual({ states: total.states, reasons: Object.fromEntries(reasons) });
  return total.states;
}
