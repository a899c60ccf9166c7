import type { Bindings } from './bindings.js';
import type { ReuseInput } from './plan-input.js';

/**
 * SQL for every answer that an account has had to a request within the age in question, from screenings, single checks and measurements.
 * The newest alone counts, and only where `is_usable` says so may it be used again: given by a run that came to its end, for a customer,
 * under the settings in force.
 */
export function knownAnswersSql({ bind }: Bindings, accountId: number | null, reuse: ReuseInput): string {
  const account = bind(accountId, 'bigint');
  const after = bind(reuse.answeredAfter, 'timestamptz');
  return `
  select state.request_id, state.response_id, state.run_id as answered_run_id, state.screened_at as answered_at,
    answering.state in ('complete', 'incomplete') and state.settings_digest = ${bind(reuse.settingsDigest, 'text')} as is_usable
  from party_state state join run answering on answering.run_id = state.run_id
  where state.account_id = ${account} and state.screened_at > ${after}
  union all
  select single_check.request_id, single_check.response_id, single_check.run_id, single_check.ended_at, false
  from single_check join run asking on asking.run_id = single_check.run_id
  where asking.account_id = ${account} and single_check.response_id is not null and single_check.ended_at > ${after}
  union all
  select item.request_id, item.response_id, item.run_id, item.answered_at, false
  from assurance_item item join run asking on asking.run_id = item.run_id
  where asking.account_id = ${account} and item.response_id is not null and item.answered_at > ${after}`;
}

/** The order in which the first of a request's answers is the newest; two of one instant are one answer. */
export const newestAnswerFirst = 'answered_at desc nulls last, is_usable desc, response_id';
