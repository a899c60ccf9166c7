import { z } from 'zod';
import { openBindings } from './bindings.js';
import { customerStatesSql } from './customer-states.js';
import type { Queryable } from './database.js';
import { isAheadSql } from './dated-ahead.js';
import { judgedPartiesSql } from './judged-parties.js';
import type { PlanInput } from './plan-input.js';
import { isPendingSql } from './unconfirmed-answers.js';

/**
 * Whether a customer's screening holds: never screened at all, for a former record only, too long ago, with a live key by a run in which no
 * control search has passed, or valid.
 */
const standings = ['never', 'changed', 'overdue', 'unproven', 'valid'] as const;
export type CoverageStanding = (typeof standings)[number];

/** Customers of one tier, standing, state and last failure. */
export interface CoverageGroup {
  tier: 'high' | 'medium' | 'low';
  standing: CoverageStanding;
  state: string;
  /** Why the last search for them failed, where no valid answer has come since. */
  failedBecause: string | null;
  customers: number;
  oldestScreenedAt: Date | null;
}

/** One customer whose screening does not hold. */
export interface UncoveredCustomer {
  reference: string;
  tier: 'high' | 'medium' | 'low';
  standing: CoverageStanding;
  lastScreenedAt: Date | null;
  failedBecause: string | null;
}

const tier = z.enum(['high', 'medium', 'low']);
const groupRow = z.object({
  tier,
  standing: z.enum(standings),
  state: z.string(),
  failedBecause: z.string().nullable(),
  customers: z.number(),
  oldestScreenedAt: z.date().nullable(),
}) satisfies z.ZodType<CoverageGroup>;
const uncoveredRow = z.object({
  reference: z.string(),
  tier,
  standing: z.enum(standings),
  lastScreenedAt: z.date().nullable(),
  failedBecause: z.string().nullable(),
}) satisfies z.ZodType<UncoveredCustomer>;

/**
 * SQL that gives each customer in scope once, in the worst standing and state of its parties. An answer that waits for
 * control searches does not count yet, the one before it does; failures are looked for in the roster's last three plans.
 */
function coveredCustomersSql({ bind, ...bindings }: ReturnType<typeof openBindings>, input: PlanInput): string {
  const limits = input.tiers.map(({ tier: name, place, staleBefore: stale, judgedAt: at }) => ({
    tier: name,
    place,
    stale,
    at,
  }));
  return `
  judged as materialized (${judgedPartiesSql({ bind, ...bindings }, { ...input, selection: 'due' })}),
  failure as (
    select distinct on (screening.party_id) screening.party_id, screening.outcome, screening.outcome_reason, screening.run_id
    from screening
    where screening.run_id in (
      select run_id from run
      where roster_id = ${bind(input.rosterId, 'bigint')} and account_id = ${bind(input.accountId, 'bigint')} and in_scope is not null
      order by run_id desc limit 3
    ) and screening.outcome = 'failed'
    order by screening.party_id, screening.run_id desc
  ),
  pending as (
    select screening.party_id, state.former_run_id, state.former_screened_at,
      coalesce((state.former_answer ->> 'request_id')::bigint, state.request_id) as request_id,
      case when state.former_answer is null then to_standing_state(state.state, state.reviewed_state)
        else to_standing_state(state.former_answer ->> 'state', state.former_answer ->> 'reviewed_state')
      end as state
    from run
    join screening on ${isPendingSql}
    join party_state state
      on state.account_id = run.account_id and state.party_id = screening.party_id and state.run_id = run.run_id
    where run.roster_id = ${bind(input.rosterId, 'bigint')} and run.account_id = ${bind(input.accountId, 'bigint')}
  ),
  held as (
    select judged.party_id, judged.customer_id, judged.place,
      case
        when pending.party_id is null then judged.reason
        when pending.former_run_id is null then 'new'
        when pending.request_id <> judged.request_id then 'changed'
        else judged.reason
      end as reason,
      case when pending.party_id is null then judged.screened_at else pending.former_screened_at end as screened_at,
      coalesce(pending.state, to_standing_state(state.state, state.reviewed_state)) as state,
      case when pending.party_id is null then state.run_id else pending.former_run_id end as run_id
    from judged
    left join pending on pending.party_id = judged.party_id
    left join party_state state on state.account_id = ${bind(input.accountId, 'bigint')} and state.party_id = judged.party_id
  ),
  stood as (
    select held.*, limits.tier,
      case
        when reason = 'new' then 1 when reason = 'changed' then 2
        when held.screened_at <= limits.stale or ${isAheadSql('held.screened_at', 'limits.at')} then 3
        when not account.is_test and origin.confirmed_batch_id is null then 4
        else 5
      end as standing
    from held
    left join run origin on origin.run_id = held.run_id
    left join account on account.account_id = origin.account_id
    join jsonb_to_recordset(${bind(JSON.stringify(limits), 'text::jsonb')}) as limits (tier text, place integer, stale timestamptz, at timestamptz)
      on limits.place = held.place
  ),
  covered as (
    select stood.customer_id, stood.tier, min(stood.standing) as standing,
      max(array_position(${customerStatesSql}, case when stood.standing < 5 then 'not_screened' else stood.state end)) as state,
      min(stood.screened_at) filter (where stood.screened_at > 'epoch') as screened_at,
      min(failure.outcome_reason) filter (where stood.run_id is null or failure.run_id >= stood.run_id) as failed_because
    from stood
    left join failure on failure.party_id = stood.party_id
    group by stood.customer_id, stood.tier
  )`;
}

const standingSql = `(array['${standings.join("', '")}'])[standing]`;

/** Counts the customers in scope of a roster by tier, standing, state and last failure. */
export async function readCoverage(database: Queryable, input: PlanInput): Promise<readonly CoverageGroup[]> {
  const bindings = openBindings();
  return database.query(
    groupRow,
    `with ${coveredCustomersSql(bindings, input)}
     select tier, ${standingSql} as standing,
       (${customerStatesSql})[state] as state,
       failed_because as "failedBecause", count(*) as customers, min(screened_at) as "oldestScreenedAt"
     from covered
     group by tier, standing, state, failed_because`,
    bindings.values,
  );
}

/** The customers whose screening does not hold, the worst first: never screened, then changed, then by age; `limit` of them. */
export async function listUncovered(
  database: Queryable,
  input: PlanInput,
  limit: number,
): Promise<readonly UncoveredCustomer[]> {
  const bindings = openBindings();
  return database.query(
    uncoveredRow,
    `with ${coveredCustomersSql(bindings, input)}
     select customer.reference, tier, ${standingSql} as standing, screened_at as "lastScreenedAt", failed_because as "failedBecause"
     from covered join customer using (customer_id)
     where standing < 5
     order by standing, array_position(array['high', 'medium', 'low'], tier), screened_at nulls first, customer.reference collate "C"
     limit ${bindings.bind(limit, 'bigint')}`,
    bindings.values,
  );
}

/** The rosters of an organisation that were ever imported, by name. */
export async function readImportedRosters(
  database: Queryable,
  organisationId: number,
): Promise<readonly { rosterId: number; roster: string }[]> {
  return database.query(
    z.object({ rosterId: z.number(), roster: z.string() }),
    `select roster_id as "rosterId", name as roster from roster
     where organisation_id = $1 and exists (select from roster_import where roster_import.roster_id = roster.roster_id)
     order by name collate "C"`,
    [organisationId],
  );
}
