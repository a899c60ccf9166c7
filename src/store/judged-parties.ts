import type { TierDue } from '../screening/cadence.js';
import type { Bindings } from './bindings.js';
import { isAheadSql } from './dated-ahead.js';
import { type PlanInput, planReasons } from './plan-input.js';

/** SQL: the last answer about a party (`state`) is an open hit, or something about it waits for a decision, which nobody may lose. */
const isOpenSql = `(
  to_standing_state(state.state, state.reviewed_state) = 'open_hit'
  or exists (
    select from review_item waiting
    where waiting.party_id = state.party_id and waiting.account_id = state.account_id and waiting.state in ('open', 'proposed')
  )
)`;

/** SQL that says which customers a run of the roster answers for. */
export function inScopeSql(
  { bind }: Bindings,
  input: Pick<PlanInput, 'rosterId' | 'accountId' | 'leaveAfterDays'>,
): string {
  const rosterId = bind(input.rosterId, 'bigint');
  return `
  customer.roster_id = ${rosterId} and (
    customer.left_at is null
    or exists (
      select from party own
      join party_state state on state.party_id = own.party_id and state.account_id = ${bind(input.accountId, 'bigint')}
      where own.customer_id = customer.customer_id and ${isOpenSql}
    )
  )`;
}

/** SQL: the roster names the party (`party`), or no longer does although something about it (`state`) is open. */
export const isAskedAboutSql = `(party.is_current or ${isOpenSql})`;

/** Whether what identifies the party, beside the name and type that are sent, is not as it was when it was last screened. */
const hasChangedFacts = `
  state.customer_version <> customer.version and exists (
    select from customer_version former
    join customer_version latest on latest.customer_id = former.customer_id and latest.version = customer.version
    cross join lateral (select former.record -> 'parties' -> party.ordinal::integer as facts) before
    cross join lateral (select latest.record -> 'parties' -> party.ordinal::integer as facts) after
    where former.customer_id = customer.customer_id and former.version = state.customer_version
      and (
        before.facts ->> 'birthDate' is distinct from after.facts ->> 'birthDate'
        or (before.facts -> 'countries' @> (after.facts -> 'countries') and after.facts -> 'countries' @> (before.facts -> 'countries')) is not true
      )
  )`;

/** A night of its own for each request within so many: by the golden ratio, which spreads numbers in a row most evenly. */
const nightOfRequest = `(party.request_id % 2147483648) * 2654435761 % 4294967296 * tier.nights / 4294967296`;

const toTierRows = (values: string): string => `
  select * from jsonb_to_recordset(${values}) as tier (
    tier text, place integer, cadence interval, judged_at timestamptz, due_before timestamptz, stale_before timestamptz, overdue_before timestamptz,
    nights integer, tonight integer, night_began timestamptz
  )`;

const toTierValues = (tiers: readonly TierDue[]): string =>
  JSON.stringify(
    tiers.map(
      ({ tier, place, cadenceMs, judgedAt, dueBefore, staleBefore, overdueBefore, nights, tonight, nightBeganAt }) => ({
        tier,
        place,
        cadence: `${cadenceMs} milliseconds`,
        judged_at: judgedAt,
        due_before: dueBefore,
        stale_before: staleBefore,
        overdue_before: overdueBefore,
        nights,
        tonight,
        night_began: nightBeganAt,
      }),
    ),
  );

/**
 * SQL that joins why a party was to be asked about by a run that was left before it did so, or before control searches confirmed the answer;
 * null for one that was answered since.
 */
function leftReasonSql({ bind }: Bindings, leftRuns: readonly number[]): string {
  if (leftRuns.length === 0) return 'cross join (select null::text as reason) left_over';
  return `
  left join lateral (
    select min(remaining.plan_reason) as reason from screening remaining
    where remaining.run_id = any (${bind([...leftRuns], 'bigint[]')}) and remaining.party_id = party.party_id
      and (remaining.outcome = 'remaining' or remaining.outcome = 'failed' and remaining.outcome_reason = 'not_confirmed')
      and coalesce(state.run_id < remaining.run_id, true)
  ) left_over on true`;
}

/** SQL for what the plan knows of each tier, one row each, for a join. */
export const tierRowsSql = ({ bind }: Bindings, tiers: readonly TierDue[]): string =>
  toTierRows(bind(toTierValues(tiers), 'text::jsonb'));

/**
 * SQL that gives each party in scope with the one reason to ask about it: `forced` by a published list or a person, else the first that
 * holds of the plan's reasons, else that of a run that was left before it asked (`is_left` says whether there is one), else `not_due`. Age counts from the beginning of the run that screened it, so that a night of many hours
 * does not push those at its end past the next one; an answer that is dated ahead has no age, and is overdue.
 */
export function judgedPartiesSql(bindings: Bindings, input: PlanInput): string {
  const { bind } = bindings;
  return `
  select party.party_id, party.customer_id, party.request_id,
    -- Who is no longer named is described by the record that was screened.
    case when party.is_current then customer.version else state.customer_version end as version, tier.place, tier.due_before, tier.judged_at, tier.stale_before, state.screened_at,
    extract(epoch from tier.judged_at - state.screened_at) / extract(epoch from tier.cadence) as age,
    case
      when forced.party_id is not null then 'forced'
      when state.party_id is null then 'new'
      when state.request_id <> party.request_id or state.screened_at < customer.returned_at or party.is_current and ${hasChangedFacts} then 'changed'
      when state.failed_run_id >= state.run_id then 'previously_failed'
      when state.screened_at <= tier.overdue_before or ${isAheadSql('state.screened_at', 'tier.judged_at')} then 'overdue'
      when least(state.screened_at, origin.started_at) <= tier.due_before then 'cadence'
      when tier.nights > 1 and least(state.screened_at, origin.started_at) < tier.night_began and ${nightOfRequest} = tier.tonight then 'cadence'
      when ${bind(input.selection, 'text')} = 'all' then 'forced'
      else coalesce(left_over.reason, 'not_due')
    end as reason,
    left_over.reason is not null as is_left
  from (select * from customer where ${inScopeSql(bindings, input)} offset 0) customer
  join customer_version version on version.customer_id = customer.customer_id and version.version = customer.version
  join (${tierRowsSql(bindings, input.tiers)}) tier on tier.tier = coalesce(version.risk_tier, 'high')
  join party on party.customer_id = customer.customer_id
  left join party_state state on state.account_id = ${bind(input.accountId, 'bigint')} and state.party_id = party.party_id
  left join run origin on origin.run_id = state.run_id
  left join forced_screening forced on forced.run_id = ${bind(input.runId, 'bigint')} and forced.party_id = party.party_id
  ${leftReasonSql(bindings, input.leftRuns)}
  where ${isAskedAboutSql}`;
}

// Three risks times six reasons share the 65,536 values of a small integer: four bytes more per customer and night would be too many.
const agesPerClass = Math.floor(65_536 / (3 * planReasons.length));

/**
 * SQL for the place of a judged party's search: risk, then reason, then age, oldest first; a smaller number comes earlier. Ages are told
 * apart by thousandths of the cadence, the older the coarser; who was never screened comes first.
 */
export const searchOrderSql = `
  ((place * ${planReasons.length} + array_position(array['${planReasons.join("', '")}'], reason) - 1) * ${agesPerClass} - 32768
    + case when age is null then 0 else ceil(${agesPerClass - 1} / (1 + greatest(age, 0))) end)::smallint`;
