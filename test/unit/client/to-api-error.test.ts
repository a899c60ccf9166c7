import { expect, test } from 'vitest';
import { toApiError } from '../../../src/client/answers.js';
import { RateLimitError } from '../../../src/errors.js';

const toError = (status: number, body: string) => toApiError(body, { method: 'POST', path: '/aml/search', status });

test.each([
  [400, 'InvalidRequestError'],
  [401, 'AuthenticationError'],
  [402, 'PaymentRequiredError'],
  [403, 'PermissionError'],
  [404, 'NotFoundError'],
  [410, 'GoneError'],
  [422, 'UnprocessableError'],
  [429, 'RateLimitError'],
  [451, 'ConsentRequiredError'],
  [503, 'ServiceUnavailableError'],
  [500, 'ServerError'],
  [599, 'ServerError'],
  [302, 'ApiError'],
  [418, 'ApiError'],
])('status %i is a %s whatever the body', (status, name) => {
  for (const body of ['', '<html>', '[]', 'null', '{"error":{"type":"x"}}', '{"error":7}', '{"cut']) {
    expect(toError(status, body)).toMatchObject({ name, status });
  }
});

test.each([
  ['{"error":{"type":"rate_limit_exceeded","message":"m"}}', 'rate_limit_exceeded'],
  ['{"error":{"code":"invalid_state"}}', 'invalid_state'],
  ['{"error":{"type":null,"code":"invalid_state"}}', 'invalid_state'],
  ['{"code":"not_found","message":"m"}', 'not_found'],
  ['{"error":"unauthorized"}', 'unauthorized'],
  ['{"error":{},"code":"not_found"}', 'not_found'],
  ['{"error":"No hit for Ivan Petrov"}', 'http_400'],
  ['{"error":{"type":"private_sandbox_plantedKey42"}}', 'http_400'],
  ['{"message":"m"}', 'http_400'],
  ['<html>', 'http_400'],
])('the code of %s is %s', (body, code) => {
  expect(toError(400, body).code).toBe(code);
});

test("nothing of the service's message reaches ours", () => {
  const error = toError(422, '{"error":{"type":"validation_error","message":"Ivan Petrov is unknown"}}');
  expect(error.message).toBe('POST /aml/search was answered with status 422 (validation_error)');
  expect(error.body).toContain('is unknown');
});

test.each<[string, number | undefined]>([
  ['{"error":{"type":"cooldown_active","message":"wait","remaining_seconds":42}}', 42],
  ['{"type":"cooldown_active","remaining_seconds":"7"}', 7],
  ['{"error":{"type":"cooldown_active","message":"Please wait (remaining_seconds: 120)."}}', 120],
  ['{"error":{"type":"cooldown_active","message":"Please wait."}}', undefined],
  ['{"error":{"remaining_seconds":-1}}', undefined],
  ['<html>', undefined],
])('the hint of a cooldown %s is %s', (body, seconds) => {
  const error = toError(429, body);
  expect(error).toBeInstanceOf(RateLimitError);
  expect(error).toMatchObject({ remainingSeconds: seconds });
});

test("the service's own words are there for who asks for them", () => {
  expect(toError(422, '{"error":{"message":"Ivan Petrov is unknown"}}').serviceMessage).toBe('Ivan Petrov is unknown');
  expect(toError(422, '{"message":"m"}').serviceMessage).toBe('m');
  expect(toError(502, '<html>').serviceMessage).toBeUndefined();
});
