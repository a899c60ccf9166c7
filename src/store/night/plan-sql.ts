import { z } from 'zod';
import type { TierDue } from '../../screening/cadence.js';
import { type PlanSelection, partyTypes, planReasons } from '../../vocabulary.js';
import { type Database, type Queryable, readValue } from '../database/database.js';
import { rawSql, recordset, type Sql, sql } from '../database/statement.js';
import { toSqlList } from '../row-shapes.js';

/** Which answers may be reused instead of a search. */
interface ReuseInput {
  /** Only answers after this time. */
  answeredAfter: Date;
  /** Only answers under the settings in force. */
  settingsDigest: string;
}

export interface PlanInput {
  /** The run whose forced screenings apply; null for none. */
  runId: number | null;
  rosterId: number;
  /** Null while the account is unknown: then no customer counts as screened. */
  accountId: number | null;
  selection: PlanSelection;
  tiers: readonly TierDue[];
  /** Customers absent from all accepted snapshots of so many days are offboarded, unless an alert waits. */
  leaveAfterDays: number;
  /** Interrupted runs: the rest of their plans is screened under every selection. */
  leftRuns: readonly number[];
  /** Null: no answer is reused. */
  reuse: ReuseInput | null;
  /** The number of searches for all customers, and of extra ones for customers never screened; null without a limit. */
  allowance: { general: number; reserved: number } | null;
}

// Window functions instead of joins: the planner cannot estimate the sizes of the parts, and a wrong estimate joins row by row.

/** The reasons that a selection covers; other selections cover all due customers. */
const selectedReasons: Readonly<Partial<Record<PlanSelection, Sql>>> = {
  new: sql`('new', 'changed', 'forced')`,
  forced: sql`('forced')`,
  dirty: sql`('forced')`,
};

/**
 * Each party with whether the selection covers it, and the order of its search; the rest of an interrupted run is covered too. A customer
 * covered for one party is screened with all its due parties, because a part of a customer gives no state.
 */
function wantedSql({ selection }: PlanInput, assessed: Sql): Sql {
  const reasons = selectedReasons[selection];
  const isSelected =
    reasons === undefined ? sql`` : sql`and bool_or(is_left or reason in ${reasons}) over (partition by customer_id)`;
  return sql`
  select party_id, customer_id, request_id, version, place, due_before, judged_at, screened_at, age, reason,
    reason <> 'not_due' ${isSelected} as is_wanted,
    reason = 'not_due' or reason = 'cadence' and screened_at > stale_before as is_valid,
    case when reason <> 'not_due' then ${searchOrderSql} end as search_order
  from (${assessed}) judged`;
}

/**
 * Each covered party with whether an answer is reused: the newest answer to its request on this account is usable and young enough for the
 * settings and its screening frequency. When one party of a request needs a search, the others share it.
 */
function reusedSql(accountId: number | null, reuse: ReuseInput): Sql {
  return sql`
  select *,
    is_wanted and bool_and(
      not is_wanted or (
        reason <> 'forced' and coalesce(is_usable, false) and answered_at > due_before and not (${isBeyondClockSkewSql('answered_at', 'judged_at')})
      )
    ) over (partition by request_id) as is_reused
  from (
    select party_id, customer_id, request_id, version, place, due_before, judged_at, screened_at, age, reason, is_wanted, is_valid, search_order,
      first_value(response_id) over newest as response_id, first_value(answered_run_id) over newest as answered_run_id,
      first_value(answered_at) over newest as answered_at, first_value(is_usable) over newest as is_usable
    from (
      select *, null::bigint as response_id, null::bigint as answered_run_id, null::timestamptz as answered_at, null::boolean as is_usable
      from wanted
      union all
      select null, null, request_id, null, null, null, null, null, null, null, null, null, null, response_id, answered_run_id, answered_at, is_usable
      from (${knownAnswersSql(accountId, reuse)}) known
    ) beside
    window newest as (partition by request_id order by ${newestAnswerFirst})
  ) answered
  where party_id is not null`;
}

const notReusedSql = sql`
  select *, null::bigint as response_id, null::bigint as answered_run_id, null::timestamptz as answered_at, false as is_reused
  from wanted`;

/**
 * Each party with whether the budget leaves it out. Requests are taken in the order of searches; those of new customers use their reserve
 * first. A customer is screened with all its parties or with none.
 */
function affordedSql({ general, reserved }: NonNullable<PlanInput['allowance']>): Sql {
  const forAll = Math.max(0, general);
  const forNew = Math.max(0, reserved);
  return sql`
  select *,
    bool_or(
      is_needed and others + greatest(newcomers - ${forNew}, 0) > ${forAll} and not (is_of_new and newcomers <= ${forNew})
    ) over (partition by customer_id) and is_wanted as is_over_budget
  from (
    select *, count(*) filter (where is_first and is_of_new) over in_order as newcomers,
      count(*) filter (where is_first and not is_of_new) over in_order as others
    from (
      select *,
        is_needed and row_number() over (partition by request_id order by is_needed desc, party_id) = 1 as is_first,
        bool_or(reason = 'new') over (partition by request_id) as is_of_new,
        min(search_order) filter (where is_needed) over (partition by request_id) as request_order
      from (select *, is_wanted and not is_reused as is_needed from reused) needed
    ) request
    window in_order as (order by is_needed desc, request_order, request_id)
  ) counted`;
}

const allAffordedSql = sql`select *, false as is_over_budget from reused`;

/**
 * The `with` parts that end in `plan`: one row per party in scope with its first outcome, `remaining`, or `skipped` with the reason, and
 * the answer it reuses.
 */
export function planSql(input: PlanInput): Sql {
  const wanted = wantedSql(input, assessedPartiesSql(input));
  const reused = input.reuse ? reusedSql(input.accountId, input.reuse) : notReusedSql;
  const afforded = input.allowance ? affordedSql(input.allowance) : allAffordedSql;
  return sql`
  wanted as (${wanted}), reused as (${reused}), afforded as (${afforded}),
  plan as (
    select party_id, customer_id, request_id, version, reason, response_id, answered_run_id, answered_at, screened_at, place,
      is_reused and not is_over_budget as is_reused,
      case when is_wanted and not is_over_budget then search_order end as search_order,
      case when is_wanted and not is_over_budget then 'remaining' else 'skipped' end as outcome,
      case
        when is_over_budget then 'over_budget'
        when is_wanted then null
        when is_valid then 'not_due'
        else 'not_selected'
      end as outcome_reason
    from afforded
  )`;
}

/** SQL: the roster names the party (of `party_standing`), or an alert of it waits. */
const isSearchedSql = sql`(party.is_current or party.waiting > 0)`;

type PlanScope = Pick<PlanInput, 'rosterId' | 'accountId' | 'leaveAfterDays'> &
  Partial<Pick<PlanInput, 'selection' | 'runId'>>;

/** SQL: only marked customers are in scope of such a run. */
const markedOnlySql = ({ selection, runId = null }: PlanScope, customerId: string): Sql =>
  selection === 'dirty'
    ? sql`and ${rawSql(customerId)} in (
        select party.customer_id from forced join party using (party_id) where forced.run_id = ${runId}
      )`
    : sql``;

const openLeaversSql = ({ rosterId, accountId }: PlanScope): Sql => sql`select open_leavers(${rosterId}, ${accountId})`;

/** SQL: the customers (`customer`) in scope of a run; an offboarded one stays in scope while an alert waits. */
export const inScopeSql = (scope: PlanScope): Sql => sql`
  customer.roster_id = ${scope.rosterId}
  and (customer.left_at is null or customer.customer_id in (${openLeaversSql(scope)}))
  ${markedOnlySql(scope, 'customer.customer_id')}`;

/** SQL: the parties (`party` of `party_standing`) in scope of a run; of no account while it is unknown. */
const inPartyScopeSql = (scope: PlanScope): Sql => sql`
  party.roster_id = ${scope.rosterId} and party.account_id ${scope.accountId === null ? sql`is null` : sql`= ${scope.accountId}`}
  and ${isSearchedSql} and (party.left_at is null or party.customer_id in (${openLeaversSql(scope)}))
  ${markedOnlySql(scope, 'party.customer_id')}`;

/** The night of a request among so many; the golden ratio spreads consecutive numbers most evenly. */
const nightOfRequest = sql`(party.request_id % 2147483648) * 2654435761 % 4294967296 * tier.nights / 4294967296`;

/** SQL: the due times of each tier, one row each, for a join. */
const tierRowsSql = (tiers: readonly TierDue[]): Sql => sql`
  select * from ${recordset(tiers)} as tier (
    tier text, place integer, cadence_ms numeric, assessed_at timestamptz, due_before timestamptz, stale_before timestamptz,
    overdue_before timestamptz, nights integer, tonight integer, night_began_at timestamptz
  )`;

/**
 * SQL join: the plan reason of a party in an interrupted run that did not screen it, or whose answer was not confirmed; null for one
 * answered since.
 */
function leftReasonSql(leftRuns: readonly number[]): Sql {
  if (leftRuns.length === 0) return sql`cross join (select null::text as reason) left_over`;
  return sql`
  left join lateral (
    select min(remaining.plan_reason) as reason from screening remaining
    where remaining.run_id = any (${leftRuns}) and remaining.party_id = party.party_id
      and (remaining.outcome = 'remaining' or remaining.outcome = 'failed' and remaining.outcome_reason = 'not_confirmed')
      and coalesce(party.run_id < remaining.run_id, true)
  ) left_over on true`;
}

/**
 * SQL: each party in scope with its reason: `forced` by a published list or a person, else the first plan reason that applies, else the
 * reason of an interrupted run (`is_left`), else `not_due`. The age counts from the start of the run that screened the party, so that a
 * night of many hours does not delay its last parties to the next one. An answer dated in the future has no age and is overdue.
 */
export function assessedPartiesSql(input: PlanInput): Sql {
  return sql`
  select party.party_id, party.customer_id, party.request_id,
    -- A party that is no longer in the roster keeps the record that was screened.
    case when party.is_current then party.version else coalesce(party.answered_version, party.version) end as version,
    tier.place, tier.due_before, tier.assessed_at as judged_at, tier.stale_before, party.screened_at,
    extract(epoch from tier.assessed_at - party.screened_at) * 1000 / tier.cadence_ms as age,
    case
      when forced.party_id is not null then 'forced'
      when party.run_id is null then 'new'
      when party.has_changed then 'changed'
      when party.failed_run_id >= party.run_id then 'previously_failed'
      when party.screened_at <= tier.overdue_before or ${isBeyondClockSkewSql('party.screened_at', 'tier.assessed_at')} then 'overdue'
      when least(party.screened_at, origin.started_at) <= tier.due_before then 'cadence'
      when tier.nights > 1 and least(party.screened_at, origin.started_at) < tier.night_began_at and ${nightOfRequest} = tier.tonight then 'cadence'
      when ${input.selection === 'all'} then 'forced'
      else coalesce(left_over.reason, 'not_due')
    end as reason, left_over.reason is not null as is_left
  from party_standing party
  join (${tierRowsSql(input.tiers)}) tier on tier.tier = party.risk_tier
  left join run origin on origin.run_id = party.run_id
  left join forced on forced.run_id = ${input.runId} and forced.party_id = party.party_id
  ${leftReasonSql(input.leftRuns)}
  where ${inPartyScopeSql(input)}`;
}

const agesPerClass = 1_000_000;

/**
 * SQL: the order of a party's search by risk, reason and age, oldest first; smaller numbers come earlier. Ages differ by thousandths of the
 * screening frequency, old ones in larger steps; a party never screened comes first.
 */
const searchOrderSql = sql`
  ((place * ${planReasons.length} + array_position(array[${toSqlList(planReasons)}], reason) - 1) * ${agesPerClass}
    + case when age is null then 0 else ceil(${agesPerClass - 1} / (1 + greatest(age, 0))) end)::integer`;

/**
 * SQL: the answers of an account within the maximum age, from screenings, single checks and recall measurements. Only the newest answer of
 * a request counts, and it may be reused when `is_usable`: given by an ended run, for a customer, under the settings in force.
 */
function knownAnswersSql(accountId: number | null, { answeredAfter, settingsDigest }: ReuseInput): Sql {
  return sql`
  select state.request_id, state.response_id, state.run_id as answered_run_id, state.screened_at as answered_at,
    answering.state in ('complete', 'incomplete') and state.settings_digest = ${settingsDigest} as is_usable
  from party_state state join run answering on answering.run_id = state.run_id
  where state.account_id = ${accountId} and state.screened_at > ${answeredAfter}
  union all
  -- An answer that is not applied says that the applied one may be out of date.
  select answer.request_id, answer.response_id, answer.run_id, answer.answered_at, false
  from run asking join answer on answer.run_id = asking.run_id and answer.wave > asking.applied_wave
  where asking.account_id = ${accountId} and asking.wave > asking.applied_wave and answer.answered_at > ${answeredAfter}
    and coalesce(asking.finished_at > ${answeredAfter}, true)
  union all
  select single.request_id, single.response_id, single.run_id, single.ended_at, false
  from single_search single join run asking on asking.run_id = single.run_id
  where asking.account_id = ${accountId} and single.response_id is not null and single.ended_at > ${answeredAfter}`;
}

/** The order with the newest answer of a request first; two of one instant count as one. */
const newestAnswerFirst = sql`answered_at desc nulls last, is_usable desc, response_id`;

/** SQL: the time comes from a wrong clock, so it is unusable: two hosts never differ by an hour. */
export const isBeyondClockSkewSql = (moment: string, now: string): Sql =>
  sql`${rawSql(moment)} > ${rawSql(now)} + interval '1 hour'`;

const reusableRow = z.object({
  partyId: z.number(),
  requestId: z.number(),
  customerVersion: z.number(),
  responseId: z.number(),
});
/**
 * The planned searches that an answer still replaces, in chunks of one snapshot: the request has no newer answer since the plan, the answer
 * is young enough for the settings and the screening frequency, and all parties of the request can use it.
 */
export function readReusable(
  database: Database,
  run: { runId: number; accountId: number },
  { reuse, tiers }: { reuse: ReuseInput; tiers: readonly TierDue[] },
  chunkSize: number,
) {
  return database.cursor(
    reusableRow,
    sql`with planned as materialized (
       select reuse.party_id, screening.request_id, screening.customer_version, reuse.response_id, reuse.answered_at, tier.due_before
       from reused reuse
       join screening on screening.run_id = reuse.run_id and screening.party_id = reuse.party_id and screening.outcome = 'remaining'
       join party on party.party_id = reuse.party_id
       join customer_version version on version.customer_id = party.customer_id and version.version = screening.customer_version
       join (${tierRowsSql(tiers)}) tier on tier.tier = coalesce(version.risk_tier, 'high')
       where reuse.run_id = ${run.runId} and reuse.wave is null
     ),
     newest as materialized (
       select distinct on (request_id) request_id, response_id, is_usable
       from (${knownAnswersSql(run.accountId, reuse)}) known
       where request_id in (select request_id from planned)
       order by request_id, ${newestAnswerFirst}
     )
     select party_id, request_id, customer_version, response_id
     from (
       select planned.*,
         bool_and(
           coalesce(newest.is_usable and newest.response_id = planned.response_id, false)
             and planned.answered_at > planned.due_before
             and planned.answered_at > ${reuse.answeredAfter}
         ) over (partition by planned.request_id) as holds
       from planned left join newest on newest.request_id = planned.request_id
     ) judged
     where holds
     order by party_id`,
    chunkSize,
  );
}

/** SQL: the customers in scope of roster `rosterId` that cannot be screened, as `reference`, `customer_id` and `reason`. */
export const gapsSql = (rosterId: number | Sql): Sql => sql`
  select reference, null::bigint as customer_id, reason from unaccepted_customer where roster_id = ${rosterId}
  union all
  -- Contradicting rows give no party in the first slot. Where no import ever had any, a million customers need not be looked through.
  select reference, customer_id, 'conflicting_duplicate' from customer
  where roster_id = ${rosterId} and left_at is null
    and exists (select from roster_import where roster_id = ${rosterId} and conflicts > 0)
    and not exists (select from party where party.customer_id = customer.customer_id and party.ordinal = 0)
  union all
  select reference, customer_id, 'related_party_unreadable' from customer
  where roster_id = ${rosterId} and left_at is null and unreadable_party_since is not null
    and exists (select from party where party.customer_id = customer.customer_id and party.ordinal = 0)
  union all
  select reference, customer_id, 'doubtful_name' from customer
  join customer_version latest using (customer_id, version)
  where roster_id = ${rosterId} and left_at is null and unreadable_party_since is null and latest.has_doubtful_name
    and exists (select from party where party.customer_id = customer.customer_id and party.ordinal = 0)`;

const partyRow = z.object({
  partyId: z.number(),
  customerId: z.number(),
  reference: z.string(),
  type: z.enum(partyTypes),
  name: z.string(),
});
/** The parties in scope of a run of the roster, customer by customer, in batches. */
export function readRosterParties(
  database: Database,
  scope: Pick<PlanInput, 'rosterId' | 'accountId' | 'leaveAfterDays'>,
  batchSize: number,
) {
  return database.cursor(
    partyRow,
    sql`select party.party_id, party.customer_id, party.reference, request.type, request.name
     from party_standing party
     join screening_request request on request.request_id = party.request_id
     where ${inPartyScopeSql(scope)}
     order by party.customer_id, party.ordinal`,
    batchSize,
  );
}

/**
 * Takes over the forced screenings of earlier runs that still have no answer: an abandoned run must not leave a listed
 * name unscreened. Gives the number of parties.
 */
export async function carryForcedScreenings(transaction: Queryable, runId: number): Promise<number> {
  const earlierSql = sql`
     run current_run
     join run earlier on earlier.roster_id = current_run.roster_id and earlier.run_id < current_run.run_id
       and earlier.mode = current_run.mode
     join forced on forced.run_id = earlier.run_id`;
  // Mostly there are none, and the view takes 8 ms to plan.
  const found = sql`select exists (select from ${earlierSql} where current_run.run_id = ${runId}) as found`;
  if (!(await readValue(transaction, z.boolean(), found))) return 0;
  return transaction.execute(
    sql`insert into forced (run_id, party_id, because)
     select distinct on (forced.party_id) current_run.run_id, forced.party_id, forced.because
     from ${earlierSql}
     join party_standing party
       on party.party_id = forced.party_id and party.account_id is not distinct from current_run.account_id
     where current_run.run_id = ${runId} and ${isSearchedSql} and coalesce(party.run_id < forced.run_id, true)
     order by forced.party_id, forced.run_id desc
     on conflict (run_id, party_id) do nothing`,
  );
}
