import { expect, test } from 'vitest';
import { type ClientSettings, createClient } from '../../../src/client/client.js';
import { createPace } from '../../../src/client/pace.js';
import { serviceSettingsSchema } from '../../../src/client/settings.js';
import { ConfigError } from '../../../src/errors.js';

const apiKey = 'private_sandbox_plantedKey42';
const baseUrl = 'https://service.example/v1';

const collectProblems = (settings: ClientSettings): string[] => {
  try {
    createClient(settings);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).not.toContain('plantedKey42');
    return error instanceof ConfigError ? error.problems.map((problem) => problem.where) : [];
  }
  return [];
};

test.each([
  ['private_sandbox_abc', 'test'],
  ['private_abc', 'live'],
  ['abc', 'unknown'],
])('the key %s is of mode %s', (key, mode) => {
  expect(createClient({ baseUrl, apiKey: key }).keyMode).toBe(mode);
});

test('the fingerprint is short, stable and does not show the key', () => {
  const { keyFingerprint } = createClient({ baseUrl, apiKey });
  expect(keyFingerprint).toMatch(/^[0-9a-f]{12}$/);
  expect(createClient({ baseUrl, apiKey }).keyFingerprint).toBe(keyFingerprint);
});

test.each(['', 'public_abc', 'public_sandbox_abc', 'private_a b', 'private_a\n', 'private_ä'])(
  'the key %j is refused',
  (key) => {
    expect(collectProblems({ baseUrl, apiKey: key })).toEqual(['service.apiKey']);
  },
);

test.each(['', 'plantedKey42.a.b\n', 'plantedKey42 a', 'plantedKey42.ä', 'plantedKey42\u0000'])(
  'the JWT %j is refused without being shown',
  (jwt) => {
    expect(collectProblems({ baseUrl, apiKey, jwt })).toEqual(['service.jwt']);
  },
);

test.each(['eyJh.eyJz.c2ln', 'a-._~+/=='])('the JWT %s is taken as it is', (jwt) => {
  expect(collectProblems({ baseUrl, apiKey, jwt })).toEqual([]);
});

test('a key of the other mode is refused before anything is sent', () => {
  expect(collectProblems({ baseUrl, apiKey, mode: 'live' })).toEqual(['service.apiKey']);
  expect(collectProblems({ baseUrl, apiKey: 'private_plantedKey42', mode: 'test' })).toEqual(['service.apiKey']);
  expect(collectProblems({ baseUrl, apiKey, mode: 'test' })).toEqual([]);
});

test.each([
  'http://service.example/v1',
  'http://127.0.0.1.service.example',
  'http://localhost.service.example',
  'http://10.0.0.1',
  'ftp://service.example',
  'https://user:secret@service.example',
  'https://service.example/v1?key=x',
  'https://service.example/#x',
  'service.example',
  '',
])('the base URL %j is refused', (url) => {
  expect(collectProblems({ baseUrl: url, apiKey })).toEqual(['service.baseUrl']);
});

test.each(['http://127.0.0.1:8080', 'http://127.9.9.9', 'http://[::1]:8080/v1', 'http://localhost/v1', baseUrl])(
  'the base URL %s is accepted',
  (url) => expect(collectProblems({ baseUrl: url, apiKey })).toEqual([]),
);

test('all wrong settings are named at once', () => {
  const wrong = { baseUrl: 'http://service.example', apiKey: 'public_x', rate: { perSecond: 0, concurrency: 0.5 } };
  expect(collectProblems(wrong)).toEqual([
    'service.baseUrl',
    'service.apiKey',
    'service.rate.perSecond',
    'service.rate.concurrency',
  ]);
});

test('the settings schema is strict and has every default', () => {
  expect(serviceSettingsSchema.parse({})).toEqual({
    rate: { perSecond: 10, concurrency: 8 },
    timeoutSeconds: 30,
    authentication: 'basic',
    retry: { maxAttempts: 6, baseDelayMs: 500, maxDelayMs: 20_000 },
    maxResponseBytes: 16_777_216,
    aml: { nameField: 'name' },
    dossiers: { levelField: 'level' },
    invitations: { workflowField: 'workflowToken' },
    sessions: { levelField: 'kyc_level' },
  });
  for (const wrong of [
    { url: 'x' },
    { rate: { persecond: 1 } },
    { aml: { nameField: 'type' } },
    { aml: { nameField: '__proto__' } },
  ]) {
    expect(serviceSettingsSchema.safeParse(wrong).success).toBe(false);
  }
});

// What JavaScript lets through and TypeScript would not.
const asSettings = (value: object): ClientSettings => Object.assign({ baseUrl, apiKey }, value);

test.each([
  [{ apiKey: undefined }, 'service.apiKey'],
  [{ baseUrl: undefined }, 'service.baseUrl'],
  [{ pace: {} }, 'service.pace'],
  [{ readKeyAgain: 'x' }, 'service.readKeyAgain'],
  [{ rat: {} }, 'service.rat'],
  [{ rate: { persecond: 5 } }, 'service.rate.persecond'],
])('settings such as %j are refused by name', (value, where) => {
  expect(collectProblems(asSettings(value))).toEqual([where]);
});

test.each([
  [{ perSecond: 0, concurrency: 1 }, ['pace.perSecond']],
  [{ perSecond: Number.POSITIVE_INFINITY, concurrency: 0 }, ['pace.perSecond', 'pace.concurrency']],
  [{ perSecond: Number.NaN, concurrency: 1.5 }, ['pace.perSecond', 'pace.concurrency']],
])('a pace of %o, at which nothing would ever leave, is refused', (rate, where) => {
  try {
    createPace(rate);
    expect.unreachable();
  } catch (error) {
    expect(error instanceof ConfigError && error.problems.map((problem) => problem.where)).toEqual(where);
  }
});

test('address and key come from the environment where none are given, and what is given goes before them', () => {
  const environment = { NIGHTSCREEN_BASE_URL: baseUrl, NIGHTSCREEN_API_KEY: apiKey };
  expect(createClient(undefined, environment).keyMode).toBe('test');
  expect(createClient({ apiKey: 'private_abc' }, environment).keyMode).toBe('live');
  expect(() => createClient({}, {})).toThrow(/service.baseUrl.*service.apiKey.*NIGHTSCREEN_API_KEY/s);
});
