import { expect, test } from 'vitest';
import { toApiError } from '../../../src/client/transport/to-api-error.js';

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
