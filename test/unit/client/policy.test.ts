import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxRetryAfterMs, parseRetryAfter, toApiError } from '../../../src/client/answers.js';
import { computeBackoffDelay, decideRetry } from '../../../src/client/calls.js';
import type { Operation } from '../../../src/client/operation.js';
import { serviceSettingsSchema } from '../../../src/client/settings.js';
import { ConnectionError, NightscreenError, ResponseError, TimeoutError } from '../../../src/errors.js';

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
  ['Sunday, 06-Nov-94 08:49:37 GMT', undefined],
  ['Tue Mar  4 05:06:17 2025', 10_000],
  ['2025-03-04', undefined],
  ['NaN', undefined],
  ['', undefined],
  [undefined, undefined],
  [['1', '3'], 3_000],
  [['3', 'Tue, 04 Mar 2025 05:06:17 GMT', 'soon', '-9'], 10_000],
  [['soon', '-9'], undefined],
  [[], undefined],
  ['1, 3', 3_000],
  ['Tue, 04 Mar 2025 05:06:17 GMT, 2', 10_000],
])('Retry-After %j asks for %j ms', (value, expected) => {
  expect(parseRetryAfter(value, nowMs)).toBe(expected);
});

test('Retry-After never asks for a negative, endless or broken time, whatever it says', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.array(fc.string())), (value) => {
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

const fail = (status: number, code = 'some_code', retryAfterMs?: number) =>
  toApiError(JSON.stringify({ error: { type: code } }), { ...call, status, retryAfterMs });
const arrived = new ConnectionError('connection_reset', 'x', call);
const notSent = new ConnectionError('connection_refused', 'x', { ...call, mayHaveArrived: false });
const late = new TimeoutError('deadline_passed', 'x', call);
const broken = new ResponseError('not_json', 'x', { ...call, status: 201, body: '' });

describe('what follows from a failed attempt', () => {
  const decide = (error: unknown, attempt = 1, rule: Operation<unknown>['retry'] = 'repeatable') =>
    decideRetry({ error, attempt, rule }, retry, half);

  const final = { isRepeated: false, delayMs: 0, isPauseForAll: false, isRefusedForPace: false };
  const repeated = ['repeatable', 'after_refusal', 'never'] as const;
  // Each row: the failure, and whether it is repeated under each of the three rules.
  test.each<[string, unknown, [boolean, boolean, boolean]]>([
    ...[302, 400, 401, 402, 403, 404, 409, 410, 422, 451].map(
      (status): [string, unknown, [boolean, boolean, boolean]] => [
        `status ${status}`,
        fail(status, 'some_code', 5_000),
        [false, false, false],
      ],
    ),
    ['a 429 for pace', fail(429, 'rate_limit_exceeded'), [true, true, false]],
    ['a cooldown', fail(429, 'cooldown_active', 5_000), [false, false, false]],
    ['a 408', fail(408), [true, false, false]],
    ['a 425', fail(425), [true, false, false]],
    ['a 503', fail(503), [true, false, false]],
    ['a 503 with Retry-After', fail(503, 'service_unavailable', 7_000), [true, false, false]],
    ...[500, 502, 504].map((status): [string, unknown, [boolean, boolean, boolean]] => [
      `status ${status}`,
      fail(status),
      [true, false, false],
    ]),
    ['a cut connection', arrived, [true, false, false]],
    ['a connection that never came about', notSent, [true, true, false]],
    ['a deadline that passed', late, [true, false, false]],
    ['an answer that breaks the contract', broken, [false, false, false]],
    ['anything else', new Error('x'), [false, false, false]],
  ])('%s is repeated only where that is safe', (_words, error, expected) => {
    expect(repeated.map((rule) => decide(error, 1, rule).isRepeated)).toEqual(expected);
    for (const rule of repeated) expect(decide(error, retry.maxAttempts, rule).isRepeated).toBe(false);
  });

  test.each([400, 401, 402, 403, 404, 410, 422, 451, 302, 409])('a %i is an answer, and nobody waits', (status) => {
    expect(decide(fail(status, 'some_code', 5_000))).toEqual({ ...final, reachability: 'there' });
  });
  test.each([
    ['not_json', 200],
    ['unexpected_status', 200],
  ])('a success that is %s comes from a stand-in: the service is out of reach', (code, status) => {
    const standIn = new ResponseError(code, 'x', { ...call, status, body: '<html>' });
    expect(decide(standIn)).toEqual({ ...final, reachability: 'out_of_reach' });
  });
  test.each(['invalid_body', 'too_large', 'echo_mismatch'])(
    'an answer that breaks the contract otherwise (%s) says nothing about whether the service is there',
    (code) => {
      const breach = new ResponseError(code, 'x', { ...call, status: 201, body: '{}' });
      expect(decide(breach)).toEqual({ ...final, reachability: 'unknown' });
    },
  );
  test('a request that nobody may send is not repeated and says nothing about the service', () => {
    const fault = new NightscreenError('invalid_request_setting', 'x');
    expect(decide(fault)).toEqual({ ...final, reachability: 'unknown' });
  });
  test('a cooldown pauses nobody, and a throttle of what is never repeated neither', () => {
    expect(decide(fail(429, 'cooldown_active', 5_000))).toEqual({ ...final, reachability: 'there' });
    expect(decide(fail(429, 'rate_limit_exceeded', 5_000), 1, 'never')).toEqual({ ...final, reachability: 'there' });
  });
  test.each([fail(500), fail(502), fail(503), fail(504)])('a lone %s delays its own call with jitter', (error) => {
    expect(decide(error, 3)).toEqual({ ...final, isRepeated: true, delayMs: 1_000, reachability: 'out_of_reach' });
  });
  test.each([arrived, notSent, late])('a call without an answer delays its own repetition (%s)', (error) => {
    expect(decide(error)).toEqual({ ...final, isRepeated: true, delayMs: 250, reachability: 'out_of_reach' });
  });
  test('any 429 for pace and any Retry-After hold everybody, also when the call itself is not repeated', () => {
    const paused = { isRepeated: true, isPauseForAll: true };
    expect(decide(fail(429))).toMatchObject({ ...paused, delayMs: 250, isRefusedForPace: true, reachability: 'there' });
    expect(decide(fail(429, 'rate_limit_exceeded', 9_000))).toMatchObject({ ...paused, delayMs: 9_000 });
    expect(decide(fail(503, 'service_unavailable', 9_000))).toMatchObject({ ...paused, delayMs: 9_000 });
    expect(decide(fail(503, 'service_unavailable', 9_000), 6)).toMatchObject({ ...paused, isRepeated: false });
  });
  test('"Retry-After: 0" does not switch the back-off off', () => {
    expect(decide(fail(503, 'service_unavailable', 0))).toMatchObject({ delayMs: 250, isPauseForAll: false });
  });
});
