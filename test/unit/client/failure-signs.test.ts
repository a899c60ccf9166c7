import { expect, test } from 'vitest';
import { findFailureSign } from '../../../src/client/failure-signs.js';

const known: ReadonlySet<string> = new Set(['results']);

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
  ['retryafter', { retry_after: 30 }],
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
])('%j says nothing of the kind', (answer) => {
  expect(findFailureSign(answer, known)).toBeUndefined();
});

test('fields of endless depth are no error of this program', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
  expect(findFailureSign({ error: deep }, known)).toBe('error');
  expect(
    findFailureSign({ took: deep, complete: deep, timeout: deep, status: deep, message: deep }, known),
  ).toBeUndefined();
});
