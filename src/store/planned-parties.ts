import type { Bindings } from './bindings.js';
import { isAheadSql } from './dated-ahead.js';
import { judgedPartiesSql, searchOrderSql } from './judged-parties.js';
import { knownAnswersSql, newestAnswerFirst } from './known-answers.js';
import type { PlanAllowance, PlanInput, PlanSelection, ReuseInput } from './plan-input.js';

// Windows and no joins between the parts: their sizes cannot be foreseen, and a wrong guess would join row against row.

/** The reasons for which a selection wants a customer; the others want whoever is due. */
const selectedReasons: Readonly<Partial<Record<PlanSelection, string>>> = {
  new: `('new', 'changed', 'forced')`,
  forced: `('forced')`,
  dirty: `('forced')`,
};

/**
 * Each party with whether the selection wants it, and the place of its search; it also wants whom a run that was given up has left. A
 * customer that is wanted for one of its parties is asked about with all that are due: what is said of half a customer says nothing.
 */
function wantedSql({ selection }: PlanInput, judged: string): string {
  const reasons = selectedReasons[selection];
  const isSelected =
    reasons === undefined ? '' : `and bool_or(is_left or reason in ${reasons}) over (partition by customer_id)`;
  return `
  select party_id, customer_id, request_id, version, place, due_before, judged_at, screened_at, age, reason,
    reason <> 'not_due' ${isSelected} as is_wanted,
    reason = 'not_due' or reason = 'cadence' and screened_at > stale_before as is_valid,
    case when reason <> 'not_due' then ${searchOrderSql} end as search_order
  from (${judged}) judged`;
}

/**
 * Each wanted party with whether it is answered already: the newest answer to its request on this account may be used again and is young
 * enough for the settings and for its own cadence. Where one party of a request has to be asked about, the others share that search.
 */
function reusedSql(bindings: Bindings, accountId: number | null, reuse: ReuseInput): string {
  return `
  select *,
    is_wanted and bool_and(
      not is_wanted or (
        reason <> 'forced' and coalesce(is_usable, false) and answered_at > due_before and not (${isAheadSql('answered_at', 'judged_at')})
      )
    ) over (partition by request_id) as is_reused
  from (
    select party_id, customer_id, request_id, version, place, due_before, judged_at, screened_at, age, reason, is_wanted, is_valid, search_order,
      first_value(response_id) over newest as response_id,
      first_value(answered_run_id) over newest as answered_run_id,
      first_value(answered_at) over newest as answered_at,
      first_value(is_usable) over newest as is_usable
    from (
      select *, null::bigint as response_id, null::bigint as answered_run_id, null::timestamptz as answered_at, null::boolean as is_usable
      from wanted
      union all
      select null, null, request_id, null, null, null, null, null, null, null, null, null, null, response_id, answered_run_id, answered_at, is_usable
      from (${knownAnswersSql(bindings, accountId, reuse)}) known
    ) beside
    window newest as (partition by request_id order by ${newestAnswerFirst})
  ) answered
  where party_id is not null`;
}

const notReusedSql = `
  select *, null::bigint as response_id, null::bigint as answered_run_id, null::timestamptz as answered_at, false as is_reused
  from wanted`;

/**
 * Each party with whether the budget leaves it out. Requests are taken in the order of searches, those of new customers out of what is
 * kept for them first; a customer is asked about with all its parties or not at all.
 */
function affordedSql({ bind }: Bindings, { general, reserved }: PlanAllowance): string {
  const forAll = bind(Math.max(0, general), 'bigint');
  const forNew = bind(Math.max(0, reserved), 'bigint');
  return `
  select *,
    bool_or(
      is_needed and others + greatest(newcomers - ${forNew}, 0) > ${forAll} and not (is_of_new and newcomers <= ${forNew})
    ) over (partition by customer_id) and is_wanted as is_over_budget
  from (
    select *,
      count(*) filter (where is_first and is_of_new) over in_order as newcomers,
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

const allAffordedSql = 'select *, false as is_over_budget from reused';

/**
 * The `with` parts that end in `plan`: one row per party in scope with its outcome at the beginning, `remaining` or `skipped` with the
 * reason, and whose answer it uses again.
 */
export function planSql(bindings: Bindings, input: PlanInput): string {
  const wanted = wantedSql(input, judgedPartiesSql(bindings, input));
  const reused = input.reuse ? reusedSql(bindings, input.accountId, input.reuse) : notReusedSql;
  const afforded = input.allowance ? affordedSql(bindings, input.allowance) : allAffordedSql;
  return `
  wanted as (${wanted}),
  reused as (${reused}),
  afforded as (${afforded}),
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
