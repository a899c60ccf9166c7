import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** Which parties a run asks about: those due, those never screened as they are now, or all. */
export type PlanSelection = 'due' | 'new' | 'all';

/** What the plan of a run depends on. */
export interface PlanInput {
  rosterId: number;
  /** Null: the account is not known yet, so nothing counts as screened. */
  accountId: number | null;
  selection: PlanSelection;
  /** A screening at or before this instant is due again. */
  dueBefore: Date;
  /** Customers absent from all accepted snapshots of so many days have left; an open hit keeps them. */
  leaveAfterDays: number;
}

/** A plan by reason: customers each, and the distinct searches it takes. */
export interface PlanCounts {
  reasons: Readonly<Record<string, number>>;
  inScope: number;
  planned: number;
  searches: number;
}

/** Which customers a run of the roster answers for. */
const inScope = `
  customer.roster_id = $1 and (
    customer.absent_since is null
    or customer.absent_since > (
      select max(imported_at) from roster_import where roster_import.roster_id = $1
    ) - $5::float8 * interval '1 day'
    or exists (
      select from party own
      join party_state hit on hit.party_id = own.party_id and hit.account_id = $2 and hit.state = 'open_hit'
      where own.customer_id = customer.customer_id
    )
  )`;

/** Why each party in scope is asked about or not; a party not planned is skipped, as `not_due` only while its answer is still valid. */
const judgedParties = `
  select party.party_id, party.customer_id, party.request_id, customer.version,
    case
      when state.party_id is null then 'new'
      when state.request_id <> party.request_id or state.customer_version <> customer.version then 'changed'
      when state.screened_at <= $3 then 'due'
      when $4 = 'all' then 'forced'
      else 'not_due'
    end as reason
  from customer
  join party on party.customer_id = customer.customer_id and party.is_current
  left join party_state state on state.account_id = $2 and state.party_id = party.party_id
  where ${inScope}`;

const plannedParties = `
  select judged.*,
    reason <> 'not_due' and ($4 <> 'new' or reason in ('new', 'changed')) as is_planned
  from (${judgedParties}) judged`;

const toParameters = (input: PlanInput): unknown[] => [
  input.rosterId,
  input.accountId,
  input.dueBefore,
  input.selection,
  input.leaveAfterDays,
];

/** Stores the plan of a run: one screening per party in scope, planned ones as `remaining`; before any paid call. */
export async function insertPlan(transaction: Queryable, runId: number, input: PlanInput): Promise<void> {
  await transaction.execute(
    `insert into screening (run_id, party_id, request_id, customer_version, plan_reason, outcome, outcome_reason)
     select $6::bigint, party_id, request_id, version,
       case when is_planned or reason = 'not_due' then reason else 'not_selected' end,
       case when is_planned then 'remaining' else 'skipped' end,
       case when is_planned then null when reason = 'not_due' then 'not_due' else 'not_selected' end
     from (${plannedParties}) planned
     order by party_id`,
    [...toParameters(input), runId],
  );
}

const countsRow = z.object({ in_scope: z.number(), planned: z.number(), searches: z.number() });
const reasonRow = z.object({ reason: z.string(), customers: z.number() });

/** Fixes how many customers a run answers for, counted apart from its plan so that nobody can drop out of it unseen. */
export async function fixScope(transaction: Queryable, runId: number, input: PlanInput): Promise<void> {
  const { rosterId, accountId, leaveAfterDays } = input;
  await transaction.execute(
    `update run set in_scope = (
       select count(*) from customer where ${inScope.replaceAll('$5', '$3')}
     ) where run_id = $4`,
    [rosterId, accountId, leaveAfterDays, runId],
  );
}

/** Whether anything of a run's plan has been done. */
export async function hasOutcomes(database: Queryable, runId: number): Promise<boolean> {
  const rows = await database.query(
    z.object({ done: z.boolean() }),
    `select exists (select from screening where run_id = $1 and outcome in ('screened', 'reused', 'failed')) as done`,
    [runId],
  );
  return firstRow(rows, 'screening').done;
}

/** Takes a plan back of which nothing has been done. */
export async function removePlan(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute('delete from screening where run_id = $1', [runId]);
}

/** What a plan would come to, without storing it. */
export async function countPlan(database: Queryable, input: PlanInput): Promise<PlanCounts> {
  const totals = await database.query(
    countsRow,
    `select count(distinct customer_id)::integer as in_scope,
       count(distinct customer_id) filter (where is_planned)::integer as planned,
       count(distinct request_id) filter (where is_planned)::integer as searches
     from (${plannedParties}) planned`,
    toParameters(input),
  );
  const reasons = await database.query(
    reasonRow,
    `select reason, count(distinct customer_id)::integer as customers
     from (select customer_id, case when is_planned or reason = 'not_due' then reason else 'not_selected' end as reason
           from (${plannedParties}) planned) named
     group by reason order by reason`,
    toParameters(input),
  );
  const { in_scope: inScope, planned, searches } = firstRow(totals, 'screening plan');
  return { reasons: Object.fromEntries(reasons.map((row) => [row.reason, row.customers])), inScope, planned, searches };
}
