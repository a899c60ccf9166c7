import { z } from 'zod';
import { openBindings } from './bindings.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { inScopeSql } from './judged-parties.js';
import type { PlanInput } from './plan-input.js';
import { planSql } from './planned-parties.js';
import { saveRunGaps } from './unaccepted-customers.js';

export type { PlanInput, PlanSelection } from './plan-input.js';

/**
 * Stores the plan of a run: one screening per party in scope, planned ones as `remaining` with the place of their search, and whose
 * answers are used again; before any paid call. With it, in the same look at the tables, how many customers the run answers for: counted
 * apart from the plan, so that nobody can drop out of it unseen, and ids without an accepted record beside them.
 */
export async function insertPlan(transaction: Queryable, runId: number, input: PlanInput): Promise<void> {
  const bindings = openBindings();
  const run = bindings.bind(runId, 'bigint');
  const storeReuse = `
     reuse as (
       insert into screening_reuse (run_id, party_id, response_id, answered_run_id, answered_at)
       select ${run}, party_id, response_id, answered_run_id, answered_at from plan where is_reused
     )`;
  const storeScope = `
     unaccepted as (
       select jsonb_object_agg(reason, ids order by reason) as by_reason, coalesce(sum(ids), 0) as ids
       from (
         select reason, count(*) as ids from unaccepted_customer
         where roster_id = ${bindings.bind(input.rosterId, 'bigint')} and ${input.selection !== 'dirty'} group by reason
       ) tally
     ),
     scope as (
       update run set in_scope = unaccepted.ids + (select count(*) from customer where ${inScopeSql(bindings, input)}),
         unaccepted = unaccepted.by_reason
       from unaccepted
       where run.run_id = ${run}
     )`;
  await transaction.execute(
    `with ${[planSql(bindings, input), ...(input.reuse ? [storeReuse] : []), storeScope].join(',')}
     insert into screening (run_id, party_id, request_id, customer_version, plan_reason, outcome, outcome_reason, search_order)
     select ${run}, party_id, request_id, version, reason, outcome, outcome_reason, search_order
     from plan
     order by party_id`,
    bindings.values,
  );
  if (input.selection !== 'dirty') await saveRunGaps(transaction, runId, input.rosterId);
}

/** Whether anything of a run's plan has been done, or any call was made for it. */
export async function hasBegun(database: Queryable, runId: number): Promise<boolean> {
  const rows = await database.query(
    z.object({ begun: z.boolean() }),
    `select exists (select from search_attempt where run_id = $1 and outcome <> 'not_sent')
       or exists (select from screening where run_id = $1 and outcome in ('screened', 'reused', 'failed')) as begun`,
    [runId],
  );
  return firstRow(rows, 'screening').begun;
}

/** Takes a plan back of which nothing has been done. */
export async function removePlan(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute('delete from screening_reuse where run_id = $1', [runId]);
  await transaction.execute('delete from screening where run_id = $1', [runId]);
}
