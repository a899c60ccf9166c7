import { z } from 'zod';
import type { toCadence } from '../../screening/cadence.js';
import { executeAll, type Queryable, readColumn, readRow, readValue } from '../database/database.js';
import { insertInto, json, type Sql, sql } from '../database/statement.js';
import { gapsSql, inScopeSql, type PlanInput, planSql } from './plan-sql.js';

export type { PlanInput } from './plan-sql.js';

/**
 * Stores the plan of a run, with the run that it is compared with and the screening frequency of each tier. Replaces a plan of which
 * nothing has been done. Returns the counts of the plan.
 */
export async function storePlan(
  transaction: Queryable,
  runId: number,
  input: PlanInput,
  { hours, reason }: ReturnType<typeof toCadence>,
): Promise<PlanCounts> {
  await removePlan(transaction, runId);
  await setComparedRun(transaction, runId);
  await transaction.execute(
    sql`update run set stage = 'planned', cadence = ${json({ hours, reason })} where run_id = ${runId}`,
  );
  await insertPlan(transaction, runId, input);
  return countStoredPlan(transaction, runId);
}

/**
 * Stores the run that this one is compared with: the last finished screening of the roster under the same account, unless failed control
 * searches left it without answers.
 */
async function setComparedRun(database: Queryable, runId: number): Promise<void> {
  await database.execute(
    sql`update run set compared_run_id = (
       select max(earlier.run_id) from run earlier
       where earlier.roster_id = run.roster_id and earlier.account_id = run.account_id and earlier.run_id < run.run_id
         and earlier.kind <> 'import' and earlier.state in ('complete', 'incomplete')
         and not (
           exists (select from control_outcome control where control.run_id = earlier.run_id and control.verdict = 'failed')
           and (earlier.sums #>> '{counts,screened}')::bigint + (earlier.sums #>> '{counts,reused}')::bigint = 0
         )
     )
     where run_id = ${runId}`,
  );
}

/**
 * Stores each party in scope, planned ones as `remaining` with the order of their search, and the reused answers. The same
 * statement counts the customers in scope, apart from the plan, so that a customer missing from the plan shows, and the ids without an
 * accepted record.
 */
async function insertPlan(transaction: Queryable, runId: number, input: PlanInput): Promise<void> {
  const storeReuse = sql`
     reuse as (
       insert into reused (run_id, party_id, response_id, answered_run_id, answered_at)
       select ${runId}::bigint, party_id, response_id, answered_run_id, answered_at from plan where is_reused
     ),`;
  await transaction.execute(
    sql`with ${planSql(input)}, ${input.reuse ? storeReuse : sql``}
     unaccepted as (
       select jsonb_object_agg(reason, ids order by reason) as by_reason, coalesce(sum(ids), 0) as ids
       from (
         select reason, count(*) as ids from unaccepted_customer
         where roster_id = ${input.rosterId} and ${input.selection !== 'dirty'} group by reason
       ) tally
     ),
     scope as (
       update run set in_scope = unaccepted.ids + (select count(*) from customer where ${inScopeSql(input)}),
         unaccepted = unaccepted.by_reason
       from unaccepted
       where run.run_id = ${runId}
     )
     insert into planned (run_id, party_id, request_id, customer_version, search_order, reason, skipped_because)
     select ${runId}, party_id, request_id, version, case when outcome = 'remaining' then search_order end, reason, outcome_reason
     from plan order by party_id`,
  );
  if (input.selection !== 'dirty') await saveRunGaps(transaction, runId, input.rosterId);
}

/** Whether any part of a run's plan has been done, or a call was made for it. */
export function hasBegun(database: Queryable, runId: number): Promise<boolean> {
  return readValue(
    database,
    z.boolean(),
    sql`select exists (select from call where run_id = ${runId} and outcome <> 'not_sent')
       or exists (select from batch where run_id = ${runId}) as begun`,
  );
}

/** Removes a plan of which nothing has been done; its reused answers would stand in the way of forced searches. */
export async function removePlan(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(sql`delete from reused where run_id = ${runId}`);
  await transaction.execute(sql`delete from planned where run_id = ${runId}`);
  await transaction.execute(sql`update run set stage = 'imported' where run_id = ${runId} and stage = 'planned'`);
}

const tally = z.record(z.string(), z.number());
const countsRow = z.object({
  inScope: z.number(),
  planned: z.number(),
  /** By the plan reason, or the reason to skip. */
  reasons: tally,
  /** Distinct requests to send. */
  searches: z.number(),
  /** Customers with at least one reused answer. */
  reused: z.number(),
  /** Customers left out by the budget, by their plan reason. */
  overBudget: tally,
});
/** The counts of a plan, in customers unless the name differs. A customer with several parties counts under each of their reasons. */
export type PlanCounts = z.infer<typeof countsRow>;

/** SQL: the number of customers of each name in the rows of `plan`. */
const tallySql = (name: Sql, where: Sql): Sql => sql`
  (select coalesce(jsonb_object_agg(name, customers), '{}')
   from (
     select name, count(*) as customers
     from (select distinct ${name} as name, customer_id from plan where ${where}) named
     group by name
   ) tally)`;

const countsSql = sql`
  select
    count(*)::integer as "inScope",
    count(*) filter (where is_planned)::integer as planned, count(*) filter (where has_reused)::integer as reused,
    (select count(distinct request_id)::integer from plan where outcome <> 'skipped' and not is_reused) as searches,
    ${tallySql(sql`coalesce(outcome_reason, reason)`, sql`true`)} as reasons,
    ${tallySql(sql`reason`, sql`outcome_reason = 'over_budget'`)} as "overBudget"
  from (
    select customer_id, bool_or(outcome <> 'skipped') as is_planned, bool_or(is_reused) as has_reused
    from plan group by customer_id
  ) customers`;

/** Computes the counts of a plan without storing it, with at most `limit` references from `listUrgentOverBudget`. */
export async function previewPlan(database: Queryable, input: PlanInput, limit: number) {
  const counts = await readRow(database, countsRow, sql`with ${planSql(input)} ${countsSql}`);
  const leftOut = 'over_budget' in counts.reasons ? await listUrgentOverBudget(database, input, limit) : [];
  return { ...counts, leftOut };
}

async function countStoredPlan(database: Queryable, runId: number): Promise<PlanCounts> {
  return readRow(
    database,
    countsRow,
    sql`with plan as (
       select party.customer_id, planned.request_id, planned.reason,
         case when skipped_because is null then 'remaining' else 'skipped' end as outcome, skipped_because as outcome_reason,
         reuse.party_id is not null as is_reused
       from planned
       join party on party.party_id = planned.party_id
       left join reused reuse on reuse.run_id = planned.run_id and reuse.party_id = planned.party_id
       where planned.run_id = ${runId}
     ) ${countsSql}`,
  );
}

/** References of customers that the budget leaves out although they are overdue or never screened as they are now. */
async function listUrgentOverBudget(database: Queryable, input: PlanInput, limit: number) {
  return readColumn(
    database,
    z.string(),
    sql`with ${planSql(input)}
     select customer.reference
     from (
       select customer_id, min(place) as place, min(screened_at) as screened_at
       from plan where outcome_reason = 'over_budget' and reason <> 'cadence'
       group by customer_id
     ) urgent
     join customer using (customer_id)
     order by urgent.place, urgent.screened_at nulls first, customer.customer_id
     limit ${limit}`,
  );
}

/** The customers that the budget of a run left out, and those of them that are overdue, forced or never screened as they are now. */
export async function countOverBudget(database: Queryable, runId: number) {
  return readRow(
    database,
    z.object({ customers: z.number(), urgent: z.number() }),
    sql`select count(distinct party.customer_id)::integer as customers,
       count(distinct party.customer_id) filter (where screening.plan_reason <> 'cadence')::integer as urgent
     from screening join party using (party_id)
     where screening.run_id = ${runId} and screening.outcome = 'skipped' and screening.outcome_reason = 'over_budget'`,
  );
}

/** A party that a run screens regardless of its screening frequency, and why. */
export interface ForcedScreening {
  partyId: number;
  because: string;
}

/** Stores the forced screenings of a run before its plan is made; a party keeps its first reason. */
export async function forceScreenings(transaction: Queryable, runId: number, rows: readonly ForcedScreening[]) {
  if (rows.length === 0) return;
  const forced = rows.map(({ partyId, because }) => ({ runId, partyId, because }));
  await transaction.execute(sql`${insertInto('forced', forced)} on conflict (run_id, party_id) do nothing`);
}

/** Notes that these parties use the answers found for them, with the wave that is being searched. */
export async function noteReused(
  transaction: Queryable,
  { runId, wave }: { runId: number; wave: number },
  partyIds: readonly number[],
): Promise<void> {
  await executeAll(
    transaction,
    partyIds.length,
    sql`update reused set wave = ${wave} where run_id = ${runId} and party_id = any (${partyIds}) and wave is null`,
  );
}

/** Stores with the plan the customers that the run cannot screen. */
async function saveRunGaps(transaction: Queryable, runId: number, rosterId: number): Promise<void> {
  await transaction.execute(sql`delete from run_gap where run_id = ${runId}`);
  await transaction.execute(
    sql`insert into run_gap (run_id, reference, customer_id, reason) select ${runId}, reference, customer_id, reason from (${gapsSql(rosterId)}) gap`,
  );
}
