import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeBackoffDelay } from '../../../src/client/calls/backoff-delay.js';
import { decideRetry } from '../../../src/client/calls/retry-policy.js';
import type { RetryRule } from '../../../src/client/operation.js';
import { serviceSettingsSchema } from '../../../src/client/settings.js';
import { maxRetryAfterMs, parseRetryAfter } from '../../../src/client/transport/retry-after.js';
import { toApiError } from '../../../src/client/transport/to-api-error.js';
import { ConnectionError, ResponseError, TimeoutError } from '../../../src/errors.js';

const call = { method: 'POST', path: '/aml/search' };
const { retry } = serviceSettingsSchema.parse({});
const half = (): number => 0.5;
const nowMs = Date.parse('2025-03-04T05:06:07Z');

test.each([
  ['0', 0],
  ['7', 7_000],
  [' 7 ', 7_000],
  ['1.5', 1_500],
  ['99999999999', maxRetryAfterMs],
  ['1'.repeat(400), maxRetryAfterMs],
  ['Tue, 04 Mar 2025 05:06:17 GMT', 10_000],
  ['Tue, 04 Mar 2099 05:06:17 GMT', maxRetryAfterMs],
  ['Tue, 04 Mar 2025 05:06:00 GMT', undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['2025-03-04', undefined],
  ['NaN', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j asks for %j ms', (value, expected) => {
  expect(parseRetryAfter(value, nowMs)).toBe(expected);
});

test('Retry-After never asks for a negative, endless or broken time, whatever it says', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const delayMs = parseRetryAfter(value, nowMs);
      return delayMs === undefined || (delayMs >= 0 && delayMs <= maxRetryAfterMs);
    }),
  );
});

test('the back-off stays between nothing and the cap, and its ceiling doubles up to the cap', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, share) => {
      const ceilingMs = Math.min(retry.maxDelayMs, retry.baseDelayMs * 2 ** (attempt - 1));
      const delayMs = computeBackoffDelay(attempt, retry, () => share);
      return delayMs >= 0 && delayMs <= ceilingMs && Math.abs(delayMs - share * ceilingMs) <= 1;
    }),
  );
});

describe('what follows from a failed attempt', () => {
  const fail = (status: number, code = 'some_code', retryAfterMs?: number) =>
    toApiError(JSON.stringify({ error: { type: code } }), { ...call, status, retryAfterMs });
  const decide = (error: unknown, attempt = 1, rule: RetryRule = 'repeatable') =>
    decideRetry({ error, attempt, rule }, retry, half);

  test.each([400, 401, 402, 403, 404, 410, 422, 451, 302, 409])('a %i is never repeated', (status) => {
    expect(decide(fail(status, 'some_code', 5_000))).toEqual({ isRepeated: false, delayMs: 0, isPauseForAll: false });
  });
  test('an answer that breaks the contract is never repeated', () => {
    expect(decide(new ResponseError('not_json', 'x', { ...call, status: 201, body: '' })).isRepeated).toBe(false);
  });
  test('a cooldown is neither repeated nor a reason to pause anybody', () => {
    expect(decide(fail(429, 'cooldown_active', 5_000))).toEqual({
      isRepeated: false,
      delayMs: 0,
      isPauseForAll: false,
    });
  });
  test.each([500, 502, 503, 504])('a lone %i delays its own call with jitter', (status) => {
    expect(decide(fail(status), 3)).toEqual({ isRepeated: true, delayMs: 1_000, isPauseForAll: false });
  });
  test.each([new ConnectionError('connection_reset', 'x', call), new TimeoutError('deadline_passed', 'x', call)])(
    'a call without an answer delays its own repetition (%s)',
    (error) => expect(decide(error)).toEqual({ isRepeated: true, delayMs: 250, isPauseForAll: false }),
  );
  test('Retry-After on 429 and 503 and any 429 hold everybody', () => {
    expect(decide(fail(429))).toEqual({ isRepeated: true, delayMs: 250, isPauseForAll: true });
    expect(decide(fail(429, 'rate_limit_exceeded', 9_000))).toEqual({
      isRepeated: true,
      delayMs: 9_000,
      isPauseForAll: true,
    });
    expect(decide(fail(503, 'service_unavailable', 9_000))).toEqual({
      isRepeated: true,
      delayMs: 9_000,
      isPauseForAll: true,
    });
  });
  test('"Retry-After: 0" does not switch the back-off off', () => {
    expect(decide(fail(503, 'service_unavailable', 0))).toEqual({
      isRepeated: true,
      delayMs: 250,
      isPauseForAll: false,
    });
  });
  test('the last attempt is not followed by another, and an operation that must not be repeated never is', () => {
    expect(decide(fail(503), retry.maxAttempts).isRepeated).toBe(false);
    expect(decide(fail(503), 1, 'never').isRepeated).toBe(false);
    expect(decide(fail(429, 'rate_limit_exceeded', 9_000), retry.maxAttempts).isPauseForAll).toBe(true);
  });
});
