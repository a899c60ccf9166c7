import { z } from 'zod';
import { openBindings } from './bindings.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import type { PlanInput } from './plan-input.js';
import { planSql } from './planned-parties.js';

/** What a plan comes to; customers unless the name says otherwise. One with several parties counts under each of their reasons. */
export interface PlanCounts {
  inScope: number;
  planned: number;
  /** By the reason to ask about them or to skip them. */
  reasons: Readonly<Record<string, number>>;
  /** Distinct requests that have to be sent. */
  searches: number;
  /** Whose requests are answered already, all or some of them. */
  reused: number;
  /** Whom the budget leaves out, by the reason they would have been asked for. */
  overBudget: Readonly<Record<string, number>>;
}

const tally = z.record(z.string(), z.number());
const countsRow: z.ZodType<PlanCounts> = z.object({
  inScope: z.number(),
  planned: z.number(),
  reasons: tally,
  searches: z.number(),
  reused: z.number(),
  overBudget: tally,
});

/** Counts customers by a name for each row of `plan`. */
const tallySql = (name: string, where: string): string => `
  (select coalesce(jsonb_object_agg(name, customers), '{}')
   from (
     select name, count(*) as customers
     from (select distinct ${name} as name, customer_id from plan where ${where}) named
     group by name
   ) tally)`;

const countsSql = `
  select
    count(*)::integer as "inScope",
    count(*) filter (where is_planned)::integer as planned,
    count(*) filter (where has_reused)::integer as reused,
    (select count(distinct request_id)::integer from plan where outcome <> 'skipped' and not is_reused) as searches,
    ${tallySql(`coalesce(outcome_reason, reason)`, 'true')} as reasons,
    ${tallySql('reason', `outcome_reason = 'over_budget'`)} as "overBudget"
  from (
    select customer_id, bool_or(outcome <> 'skipped') as is_planned, bool_or(is_reused) as has_reused
    from plan group by customer_id
  ) customers`;

/** What a plan would come to, without storing it. */
export async function countPlan(database: Queryable, input: PlanInput): Promise<PlanCounts> {
  const bindings = openBindings();
  const rows = await database.query(countsRow, `with ${planSql(bindings, input)} ${countsSql}`, bindings.values);
  return firstRow(rows, 'screening plan');
}

/** What the stored plan of a run comes to, of which nothing has been done yet. */
export async function countStoredPlan(database: Queryable, runId: number): Promise<PlanCounts> {
  const rows = await database.query(
    countsRow,
    `with plan as (
       select party.customer_id, screening.request_id, screening.plan_reason as reason, screening.outcome, screening.outcome_reason,
         reuse.party_id is not null as is_reused
       from screening
       join party on party.party_id = screening.party_id
       left join screening_reuse reuse on reuse.run_id = screening.run_id and reuse.party_id = screening.party_id
       where screening.run_id = $1
     ) ${countsSql}`,
    [runId],
  );
  return firstRow(rows, 'screening plan');
}

/** References of customers that a plan leaves out for its budget although they are overdue or were never screened as they are. */
export async function listUrgentOverBudget(
  database: Queryable,
  input: PlanInput,
  limit: number,
): Promise<readonly string[]> {
  const bindings = openBindings();
  const rows = await database.query(
    z.object({ reference: z.string() }),
    `with ${planSql(bindings, input)}
     select customer.reference
     from (
       select customer_id, min(place) as place, min(screened_at) as screened_at
       from plan where outcome_reason = 'over_budget' and reason <> 'cadence'
       group by customer_id
     ) urgent
     join customer using (customer_id)
     order by urgent.place, urgent.screened_at nulls first, customer.customer_id
     limit ${bindings.bind(limit, 'integer')}`,
    bindings.values,
  );
  return rows.map((row) => row.reference);
}

/** How many customers the budget of a run has left out, and how many of them are overdue, forced or were never screened as they are. */
export async function countOverBudget(
  database: Queryable,
  runId: number,
): Promise<{ customers: number; urgent: number }> {
  const rows = await database.query(
    z.object({ customers: z.number(), urgent: z.number() }),
    `select count(distinct party.customer_id)::integer as customers,
       count(distinct party.customer_id) filter (where screening.plan_reason <> 'cadence')::integer as urgent
     from screening join party using (party_id)
     where screening.run_id = $1 and screening.outcome = 'skipped' and screening.outcome_reason = 'over_budget'`,
    [runId],
  );
  return firstRow(rows, 'screening');
}
