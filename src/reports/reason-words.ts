import type { DoubtReason, RejectReason } from '../roster/customer.js';
import type { NotScreenedFacts } from './list-facts.js';

import { toVisibleText } from './visible-text.js';

/** Why a roster row was rejected, in words that say what to mend. */
export const rejectWords: Readonly<Record<RejectReason, string>> = {
  missing_id: 'no customer id',
  missing_name: 'no name',
  missing_type: 'no type (person or entity)',
  unknown_type: 'type is neither person nor entity',
  invalid_birth_date: 'birth date cannot be read',
  unknown_country: 'unknown country',
  unknown_risk_tier: 'risk tier is not low, medium or high',
  control_character: 'holds a control character',
  id_too_long: 'customer id too long',
  name_too_long: 'name too long',
  name_without_letters: 'name without any letter',
  wrong_column_count: 'more or fewer fields than the header; once mended, empty the cell rejected_reason',
  conflicting_id: 'same customer id as another row with other contents',
  malformed_csv: 'broken CSV, for example an unclosed quote; once mended, empty the cell rejected_reason',
  too_many_parties: 'more than 10,000 names of one customer',
  field_too_long: 'field too long',
  line_break_in_name: 'line break inside a name',
  replacement_character: 'holds U+FFFD, which stands for a letter that was lost before',
  unknown_standing: 'does not say whether the customer is active',
  invalid_end_date: 'end date cannot be read',
  unknown_role: 'role of a related party is not known',
  unknown_customer: 'related party of a customer that is not on the roster',
};

/** Why a value counts as unknown although its row was accepted. */
export const doubtWords: Readonly<Record<DoubtReason, string>> = {
  says_unknown: 'says itself that it is not known',
  invalid_birth_date: 'no date that can be read',
  no_such_day: 'no day of the calendar',
  ambiguous_date: 'may be two dates, and no format is declared',
  year_too_early: 'a year before 1850',
  year_in_future: 'a date that is yet to come',
  hijri_year: 'a year before 1850: it looks like the Hijri calendar',
  buddhist_year: 'a year that is yet to come: it looks like the Buddhist calendar',
  unknown_country: 'no country that is known',
  ambiguous_country: 'may be two countries',
  stateless: 'says that there is no country',
  unknown_risk_tier: 'risk tier is not low, medium or high',
  unknown_standing: 'does not say whether the customer is active',
  invalid_end_date: 'no day that can be read for certain',
  unreadable_alias: 'no name: without letters, too long, or with a control character',
  control_character: 'holds a control character',
  replacement_character: 'holds U+FFFD, which stands for a letter that was lost before',
};

/** Why a customer is not screened, first part: what became of its plan. */
export const outcomeWords: Readonly<Record<NotScreenedFacts['outcome'], string>> = {
  failed: 'Failed',
  remaining: 'Not reached',
  skipped: 'Skipped',
};

const knownReasons: ReadonlyMap<string, string> = new Map([
  ['ok', 'answered'],
  ['aborted', 'given up by us'],
  ['account', 'account refused'],
  ['address', 'address of the service refused'],
  ['authentication_error', 'key refused'],
  ['bad_response', 'answer broke the contract'],
  ['budget', 'search budget reached'],
  ['cadence', 'due again'],
  ['changed', 'name, type, birth date or country changed, or back after having left'],
  ['canary_failed', 'a control search failed, so that nothing after the last ones that passed counts'],
  ['conflicting_duplicate', 'its rows contradict each other, and no record of it was ever accepted'],
  ['connect_timeout', 'no connection in time'],
  ['connection', 'connection broke'],
  ['connection_failed', 'no connection'],
  ['connection_refused', 'connection refused'],
  ['connection_reset', 'connection broke off'],
  ['forced', 'asked for: on a published list, or everybody was'],
  ['echo_mismatch', 'answer is to another question'],
  ['held', 'answered, but the answers of the run are held'],
  ['invalid_body', 'answer broke the contract'],
  ['max_searches', 'limit of this start reached'],
  ['name_not_resolved', 'service host not found'],
  ['new', 'never screened'],
  ['not_confirmed', 'answered, but no control search passed after it'],
  ['not_due', 'screened recently: the next run is soon enough'],
  ['not_json', 'answer is not JSON'],
  ['not_selected', 'not selected for this run'],
  ['over_budget', 'left out because the search budget is used up'],
  ['outage', 'service out of reach'],
  ['overdue', 'overdue'],
  ['payment_required', 'account could not pay'],
  ['previously_failed', 'the last search for it failed'],
  ['rate_limit_exceeded', 'too many calls'],
  ['related_party_unreadable', 'a related party of it cannot be read and was never known'],
  ['remaining', 'the run stopped before'],
  ['roster_held', 'new in a roster that guards hold'],
  ['row_rejected', 'its row was rejected, and no record of it was ever accepted'],
  ['signal', 'stopped on request'],
  ['service_unavailable', 'screening temporarily unavailable'],
  ['timeout', 'no answer in time'],
  ['tls_failed', 'no secure connection'],
  ['too_large', 'answer too large'],
  ['unauthorized', 'key refused'],
  ['unknown', 'outcome unknown'],
]);

/** A reason's code in words; an unknown code is shown as it is, without its underscores. */
export function describeReason(code: string): string {
  const [, status] = /^(?:http_)?(\d{3})$/.exec(code) ?? [];
  if (status !== undefined) return `with status ${status}`;
  return knownReasons.get(code) ?? toVisibleText(code).replaceAll('_', ' ');
}
