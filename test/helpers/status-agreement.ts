import { expect } from 'vitest';
import { z } from 'zod';
import type { AppContext } from '../../src/runs/app-context.js';
import { measureCoverage } from '../../src/runs/coverage.js';
import { type Queryable, readColumn } from '../../src/store/database/database.js';
import { type Sql, sql } from '../../src/store/database/statement.js';

const tally = z.object({ states: z.record(z.string(), z.number()), reasons: z.record(z.string(), z.number()) });

/** SQL: why the answers for a customer (of `customer_standing` and `shown_account`) do not count at a moment. */
const reasonAtSql = (moment: Date): Sql =>
  sql`reason_at(
    standing.reason, standing.as_of, standing.latest_at, ${moment}::timestamptz - to_validity(to_cadence(shown.hours, standing.risk_tier)), ${moment}::timestamptz
  )`;

/** SQL: the state of such a customer at a moment. */
export const stateAtSql = (moment: Date): Sql => sql`state_by(standing.last_state, ${reasonAtSql(moment)})`;

/** The customers by state and reason, at the time of the workplace's clock. */
async function countByView({ database, clock }: AppContext) {
  const [counted] = await database.query(
    tally,
    sql`with told as materialized (
       select ${stateAtSql(clock.now())} as state, case
         when ${reasonAtSql(clock.now())} in ('conflicting_duplicate', 'related_party_unreadable', 'doubtful_name') then 'unreadable'
         else ${reasonAtSql(clock.now())}
       end as reason
       from customer_standing standing
       join shown_account shown on shown.roster_id = standing.roster_id and shown.account_id is not distinct from standing.account_id
       where standing.in_scope
       union all select 'not_screened', 'never' from unaccepted_customer
     )
     select
       (select coalesce(jsonb_object_agg(state, n), '{}') from (select state, count(*) as n from told group by 1) s) as states,
       (select coalesce(jsonb_object_agg(reason, n), '{}') from (select reason, count(*) as n from told where reason is not null group by 1) r) as reasons`,
  );
  return counted;
}

/** Judges all customers again, as after a change by hand that no import or run has made. */
export const judgeAgain = (database: Queryable): Promise<number> =>
  database.execute('select judge_customers(roster_id, account_id, null, true, now()) from roster_account');

/** The customers whose stored state is another than what their answers, alerts and dispositions give, computed from scratch. */
function findMisjudged(database: Queryable): Promise<readonly string[]> {
  return readColumn(
    database,
    z.string(),
    `select customer.reference
     from customer_state stored
     join customer on customer.customer_id = stored.customer_id
     left join customer_judgement judged
       on judged.roster_id = customer.roster_id and judged.account_id = stored.account_id and judged.customer_id = stored.customer_id
     where (stored.risk_tier, stored.last_state, stored.reason, stored.waiting, stored.worst_topic, stored.run_id, stored.as_of, stored.latest_at)
       is distinct from
       (judged.risk_tier, judged.last_state, judged.reason, judged.waiting, judged.worst_topic, judged.run_id, judged.as_of, judged.latest_at)
     order by 1`,
  );
}

/** Expects the view to say of each customer what coverage says, and gives the states. */
export async function expectAgreement(app: AppContext) {
  expect(await findMisjudged(app.database)).toEqual([]);
  const seen = await countByView(app);
  const { total } = await measureCoverage(app, { list: 0 });
  const { never, unreadable, changed, overdue, unproven } = total;
  const all = { never, unreadable, changed, expired: overdue, unproven };
  const reasons = Object.entries(all).filter(([, count]) => count > 0);
  expect(seen).toEqual({ states: total.states, reasons: Object.fromEntries(reasons) });
  return total.states;
}
