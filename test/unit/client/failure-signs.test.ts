import { expect, test } from 'vitest';
import { findFailureSign } from '../../../src/client/failure-signs.js';

const known: ReadonlySet<string> = new Set(['results']);

/** One field each, which is the sign. */
const failures: readonly object[] = [
  // A word of a fault anywhere in the name.
  { search_error: 'x' },
  { searchFailed: true },
  { query_error: 'x' },
  { source_errors: ['ofac'] },
  { sourceErrors: { ofac: 'x' } },
  { list_errors: 1 },
  { upstream_error: 'x' },
  { service_error: true },
  { validation_errors: ['name'] },
  { matching_failed: true },
  { total_errors: 2 },
  { num_errors: 1 },
  { errors: 200 },
  { errorList: ['x'] },
  { errors_found: 3 },
  { timeout_count: 1 },
  { errmsg: 'x' },
  { err: 'x' },
  { errno: 5 },
  { error: { code: 0, message: 'index unavailable' } },
  // Statuses of the search and its sources.
  { statusText: 'Internal Server Error' },
  { status: 206 },
  { status: 'finished with partial results' },
  { completeness: 0.4 },
  { not_searched: ['ofac'] },
  { notScreened: 2 },
  { skipped: ['ofac'] },
  { available: false },
  { rate_limited: true },
  { pending: true },
  { in_progress: true },
  { has_more: true },
  // Texts.
  { warnings: ['index ofac unavailable; results incomplete'] },
  { warning: 'Results may be incomplete' },
  { notice: 'Showing partial results' },
  { message: 'Unable to search' },
  { message: 'Could not find index ofac' },
  { message: 'Search completed with errors' },
  { info: 'Not all lists were searched' },
  { reason: 'timeout' },
  { message: 'Results: 0. Search failed' },
  { message: 'No results - search failed' },
  { message: 'Something went wrong' },
  { title: 'Error' },
  { retry: true },
];

const toSign = (answer: object): string => Object.keys(answer).join().toLowerCase().replaceAll('_', '');

test.each<[field: string, answer: object]>([
  ['error', { error: 'index unavailable' }],
  ['error', { Error: { code: 'search_failed' } }],
  ['error', { ERROR: true }],
  ['errors', { errors: [{ source: 'ofac', message: 'timed out' }] }],
  ['errormessage', { error_message: 'upstream' }],
  ['error', { error: 'ошибка' }],
  ['failures', { failures: 2 }],
  ['failedsources', { failed_sources: ['ofac'] }],
  ['haserrors', { hasErrors: 'true' }],
  ['partial', { partial: true }],
  ['incomplete', { incomplete: 'yes' }],
  ['timedout', { timed_out: true }],
  ['timedout', { 'TIMED-OUT': 1 }],
  ['timeout', { timeout: true }],
  ['truncated', { truncated: true }],
  ['complete', { complete: false }],
  ['iscomplete', { isComplete: 0 }],
  ['success', { success: 'false' }],
  ['ok', { ok: false }],
  ['status', { status: 'partial' }],
  ['status', { status: 'ERROR' }],
  ['status', { status: 'Timed out' }],
  ['status', { status: 'completed_with_errors' }],
  ['status', { status: 'pending' }],
  ['status', { status: 503 }],
  ['searchstatus', { search_status: 'Failed' }],
  ['code', { status: { code: '503', text: 'x' } }],
  ['message', { message: 'The index is unavailable, try again later' }],
  ['detail', { detail: 'sanctions list could not be read' }],
  ['errors', { meta: { took: 3, errors: ['pep'] } }],
  [
    'status',
    {
      sources: [
        { name: 'eu', status: 'ok' },
        { name: 'ofac', status: 'unavailable' },
      ],
    },
  ],
  ['failed', { _shards: { total: 5, successful: 4, failed: 1 } }],
  ['text', { status: { code: 1, text: 'partial' } }],
  ['message', { detail: { message: 'could not search' } }],
  ['ofac', { sources: { ofac: 'failed' } }],
  ['ofac', { lists: { ofac: 'timeout' } }],
  ['status', { lists: { eu: { status: 'failed' } } }],
  ['status', { data: { status: 'queued' } }],
  ['status', { job: { status: 'queued' } }],
  ['code', { warnings: [{ code: 'partial_results' }] }],
  ...failures.map((answer): [string, object] => [toSign(answer), answer]),
])('%s in %j says that the answer is incomplete', (field, answer) => {
  expect(findFailureSign({ results: [], ...answer }, known)).toBe(field);
});

test.each<[answer: object]>([
  [
    {
      error: null,
      errors: [],
      Failures: {},
      failed: 0,
      exception: '',
      hasError: false,
      partial: false,
      error_code: '0',
    },
  ],
  [{ error: { code: 0, message: null }, errors: { count: 0, items: [] }, problem: 'none', error_message: 'No error' }],
  [{ status: 'ok', complete: true, success: true, timed_out: false, truncated: false, incomplete: null, ok: 1 }],
  [{ status: 'SUCCESS', state: 'completed', code: 201, http_status: '201', result: 'no_match', success: null }],
  [{ message: 'ok', detail: 'No matches found', reason: 'Search completed without errors' }],
  [
    {
      warnings: ['one source answered late, with errors'],
      took: 14,
      timeout: 30,
      request: { partial: true, status: 'x' },
    },
  ],
  [{ query_id: 'failed', name: 'Error Partial', dossier: { status: 'rejected', message: 'failed' }, country: 'no' }],
  [{ _shards: { total: 5, successful: 5, skipped: 2, failed: 0 }, pagination: { page: 1, next: null, total: 0 } }],
  [{ sources: [{ name: 'Index of failed states', status: 'active', errors: null }], results: [{ error: 'x' }] }],
  // Nothing was found.
  [{ message: 'Could not find any match' }],
  [{ message: 'Unable to find any matches' }],
  [{ message: 'No results could be found' }],
  [{ message: 'No matches found. Check the spelling and try again.' }],
  [{ detail: 'Failed to find a match in any list' }],
  [{ error: { code: 'no_results', message: 'No results found' } }],
  [{ result: false, results_available: false, data_available: false }],
  [{ not_found: true, outcome: 'not_found' }],
  [{ message: 'Not all matches are hits. Failure to check them may be an offence.' }],
  // Nothing failed.
  [{ message: 'completed without any errors' }],
  [{ message: '0 of 5 sources failed', info: 'No exceptions occurred' }],
  [{ error_code: '00', errcode: 0, errmsg: 'OK', err: null }],
  [{ error: { code: 200, message: 'ok' } }],
  [{ error: { code: 0 } }],
  [{ error_code: 200, code: '204', status: 'error_free' }],
  [{ status: 'completed_without_errors', no_errors: true, completeness: 1 }],
  [{ result: 'partial_match', skipped: [], not_searched: [], timeouts: 0 }],
  // Settings and limits.
  [{ message: 'Search completed; partial name matching enabled', partial_matching: true }],
  [{ timeout: 1, timeout_ms: 300, retry_after: 60, pending: 0, rate_limit: 10 }],
  [{ error_rate: 0.01, fault_tolerance: 2, max_errors: 10, allow_partial_results: true, retry_on_timeout: true }],
  [{ terror: true, info: 'Version 1 will be unavailable from May', notice: 'Source data may be incomplete.' }],
  // Facts of something else.
  [{ sources: [{ title: 'FDIC Failed Bank List', status: 'ok' }], lists: { fdic: { name: 'Failed banks' } } }],
  [{ review_pending: true, retry_count: 1, partial_score: 0.2, status: 'free_of_errors' }],
  [{ subscription: { state: 'cancelled' }, subscription_error: 'expired' }],
  [{ billing: { code: 402, success: false, error: 'unpaid' } }],
  [{ profile: { complete: false }, monitoring: { done: false }, account: { status: 'blocked' } }],
  [{ quota: { available: false }, meta: { subscription: { status: 'failed' } }, lists: { pep: 451, ofac: 503 } }],
])('%j says nothing of the kind', (answer) => {
  expect(findFailureSign(answer, known)).toBeUndefined();
});

test('fields of endless depth are no error of this program', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
  expect(findFailureSign({ error: deep }, known)).toBe('error');
  expect(findFailureSign({ took: deep, complete: deep, status: deep, message: deep }, known)).toBeUndefined();
});
