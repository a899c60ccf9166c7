import type { TierDue } from '../screening/cadence.js';
import type { Bindings } from './bindings.js';
import { isAheadSql } from './dated-ahead.js';
import { type PlanInput, planReasons } from './plan-input.js';

const isOpenSql = '(party.waiting > 0 or party.has_new_hits)';

/** SQL: the roster names the party (of `party_standing`), or no longer does although an alert of it waits. */
export const isSearchedSql = `(party.is_current or ${isOpenSql})`;

type Scope = Pick<PlanInput, 'rosterId' | 'accountId' | 'leaveAfterDays'> &
  Partial<Pick<PlanInput, 'selection' | 'runId'>>;

/** SQL: of a run over marked customers, nobody else is in scope. */
const markedOnlySql = ({ bind }: Bindings, { selection, runId = null }: Scope, customerId: string): string =>
  selection === 'dirty'
    ? `and ${customerId} in (
        select party.customer_id from forced_screening join party using (party_id) where forced_screening.run_id = ${bind(runId, 'bigint')}
      )`
    : '';

/** SQL: rows of `party_standing` are of this account, or of none while it is not known. */
const toAccountSql = ({ bind }: Bindings, alias: string, accountId: number | null): string =>
  accountId === null ? `${alias}.account_id is null` : `${alias}.account_id = ${bind(accountId, 'bigint')}`;

const openLeaversSql = (bindings: Bindings, { rosterId, accountId }: Scope): string => `
  select party.customer_id from party_standing party
  where party.roster_id = ${bindings.bind(rosterId, 'bigint')} and ${toAccountSql(bindings, 'party', accountId)}
    and party.left_at is not null and ${isOpenSql}`;

/** SQL that says which customers (`customer`) a run of the roster answers for: who has left stays while an alert waits. */
export const inScopeSql = (bindings: Bindings, scope: Scope): string => `
  customer.roster_id = ${bindings.bind(scope.rosterId, 'bigint')}
  and (customer.left_at is null or customer.customer_id in (${openLeaversSql(bindings, scope)}))
  ${markedOnlySql(bindings, scope, 'customer.customer_id')}`;

/** SQL that says which parties (`party` of `party_standing`) a run of the roster answers for. */
export const inPartyScopeSql = (bindings: Bindings, scope: Scope): string => `
  party.roster_id = ${bindings.bind(scope.rosterId, 'bigint')} and ${toAccountSql(bindings, 'party', scope.accountId)}
  and ${isSearchedSql} and (party.left_at is null or party.customer_id in (${openLeaversSql(bindings, scope)}))
  ${markedOnlySql(bindings, scope, 'party.customer_id')}`;

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
      and coalesce(party.run_id < remaining.run_id, true)
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
    case when party.is_current then party.version else coalesce(party.answered_version, party.version) end as version,
    tier.place, tier.due_before, tier.judged_at, tier.stale_before, party.screened_at,
    extract(epoch from tier.judged_at - party.screened_at) / extract(epoch from tier.cadence) as age,
    case
      when forced.party_id is not null then 'forced'
      when party.run_id is null then 'new'
      when party.has_changed then 'changed'
      when party.failed_run_id >= party.run_id then 'previously_failed'
      when party.screened_at <= tier.overdue_before or ${isAheadSql('party.screened_at', 'tier.judged_at')} then 'overdue'
      when least(party.screened_at, origin.started_at) <= tier.due_before then 'cadence'
      when tier.nights > 1 and least(party.screened_at, origin.started_at) < tier.night_began and ${nightOfRequest} = tier.tonight then 'cadence'
      when ${bind(input.selection, 'text')} = 'all' then 'forced'
      else coalesce(left_over.reason, 'not_due')
    end as reason,
    left_over.reason is not null as is_left
  from party_standing party
  join (${tierRowsSql(bindings, input.tiers)}) tier on tier.tier = party.risk_tier
  left join run origin on origin.run_id = party.run_id
  left join forced_screening forced on forced.run_id = ${bind(input.runId, 'bigint')} and forced.party_id = party.party_id
  ${leftReasonSql(bindings, input.leftRuns)}
  where ${inPartyScopeSql(bindings, input)}`;
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
