import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, createClient } from '../../../src/client/index.js';
import type { AttemptObserver } from '../../../src/client/operation.js';
import { madeSubjects, operationsTable, type Row } from './operations-table.js';
import { answerJson, type Received, startService, type TestService, testKey } from './start-service.js';

const publicKey = 'public_sandbox_x';
const publicKeyPath = '/api_keys/public';
const token = 'jwt.of.somebody';

let service: TestService;
let asked: Received[] = [];
let answer: (response: ServerResponse) => void = () => undefined;

beforeAll(async () => {
  service = await startService(
    (request, response) => {
      const isBeside = request.url === publicKeyPath && !isPublicKeyAsked;
      if (isBeside) return answerJson(response, 200, { public_key: publicKey, is_test: true });
      asked.push(request);
      return answer(response);
    },
    { answersKeys: true },
  );
});
afterAll(() => service.stop());
let isPublicKeyAsked = false;

const run = async (row: Row, answering: typeof answer, more: object = {}, isIdentified = false): Promise<unknown> => {
  asked = [];
  answer = answering;
  isPublicKeyAsked = row.called === 'apiKeys.public';
  const client = createClient({
    baseUrl: service.url,
    apiKey: testKey,
    rate: { perSecond: 1_000 },
    retry: { maxAttempts: 1 },
    ...more,
  });
  try {
    if (isIdentified) await client.identify();
    return await row.run(client, madeSubjects);
  } finally {
    await client.close();
  }
};

const succeed = (row: Row, more?: object): Promise<unknown> =>
  run(row, (response) => answerJson(response, row.success, row.answer), more);

const toBasic = (key: string): string => `Basic ${Buffer.from(`${key}:`).toString('base64')}`;

test('the table names every function of every resource of the client', () => {
  const client = createClient({ baseUrl: service.url, apiKey: testKey });
  const resources = Object.entries(client).filter(([, value]) => typeof value === 'object');
  const functions = resources.flatMap(([name, resource]) => Object.keys(resource).map((called) => `${name}.${called}`));
  expect(functions.toSorted()).toEqual(operationsTable.map(({ called }) => called).toSorted());
  expect(new Set(operationsTable.map(({ operation }) => operation)).size).toBe(26);
});

describe.each(operationsTable.map((row): [string, Row] => [row.called, row]))('%s', (_called, row) => {
  test('sends what the interface asks for, once, and takes the success it names', async () => {
    await succeed(row);
    expect(asked).toHaveLength(1);
    const [request] = asked;
    expect([request?.method, request?.url]).toEqual([row.method, row.url]);
    expect(request?.body === '' ? undefined : JSON.parse(request?.body ?? '')).toEqual(row.body);
    const expected = { private: toBasic(testKey), public: expect.stringContaining(publicKey), none: undefined };
    const shown = request?.headers.authorization;
    if (row.credential === 'public') expect([`Bearer ${publicKey}`, toBasic(publicKey)]).toContain(shown);
    else expect(shown).toEqual(expected[row.credential]);
  });

  test('a JWT stands in for the private key on invitations and nowhere else', async () => {
    await succeed(row, { jwt: token });
    const isInvitation = row.called.startsWith('invitations.');
    expect(asked[0]?.headers.authorization === `Bearer ${token}`).toBe(isInvitation);
  });

  test.each([200, 201].filter((status) => status !== row.success))('status %i is no success', async (status) => {
    const failed = run(row, (response) => answerJson(response, status, row.answer));
    await expect(failed).rejects.toMatchObject({ name: 'ResponseError', code: 'unexpected_status', status });
  });

  test('an answer that is no record is a ResponseError', async () => {
    const failed = run(row, (response) => answerJson(response, row.success, null));
    await expect(failed).rejects.toMatchObject({ name: 'ResponseError', code: 'invalid_body' });
  });

  test('observers and messages are told the route, not what opens something', async () => {
    const reported: string[] = [];
    const observer: AttemptObserver = {
      started: ({ operation, path }) => {
        if (operation === row.operation) reported.push(path);
      },
    };
    const failed = run(row, (response) => answerJson(response, 418, {}), { observer });
    const shown = row.route ?? row.url.split('?')[0];
    await expect(failed).rejects.toMatchObject({ name: 'ApiError', path: shown });
    await expect(failed).rejects.toThrow(`${row.method} ${shown} `);
    expect(reported).toContain(shown);
  });

  test('whose key it is is asked before it is sent, if it costs money', async () => {
    const before = service.received.length;
    await succeed(row);
    const [first] = service.received.slice(before);
    const isAskedFirst = row.called !== 'apiKeys.public' && first?.url === publicKeyPath;
    expect(isAskedFirst).toBe(row.isBillable);
  });

  test.each([
    [429, 'rate_limit_exceeded'],
    [500, undefined],
  ])('after a %i it is sent again only if its rule allows', async (status, code) => {
    const fail = (response: ServerResponse) => answerJson(response, status, code ? { error: { type: code } } : {});
    const retry = { maxAttempts: 2, baseDelayMs: 1, maxDelayMs: 2 };
    await expect(run(row, fail, { retry }, true)).rejects.toMatchObject({ status });
    const isRepeated = row.retry === 'repeatable' || (row.retry === 'after_refusal' && status === 429);
    expect(asked).toHaveLength(isRepeated ? 2 : 1);
  });
});

const sendSomething: readonly [string, (client: Client) => Promise<unknown>][] = [
  ['an empty id', ({ dossiers }) => dossiers.retrieve('')],
  ['a blank id', ({ dossiers }) => dossiers.entity(' ')],
  ['an id that leads elsewhere', ({ aml }) => aml.entity('..')],
  ['a session id that leads elsewhere', ({ sessions }) => sessions.cancel('.')],
  ['half a character as an id', ({ invitations }) => invitations.resend('adi_\ud800')],
  ['a search for nobody', ({ aml }) => aml.search({ type: 'person', name: ' ' })],
  ['a dossier without a level', ({ dossiers }) => dossiers.create({ type: 'kyc', level: '' })],
  ['a session without a level', ({ sessions }) => sessions.create({ level: '' })],
  ['an SMS to nobody', ({ sessions }) => sessions.sendSms('s_1', { phone_number: '' })],
  ['a date without its offset', ({ dossiers }) => dossiers.page({ date_from: '2025-01-01T00:00:00' })],
  ['a date that is none', ({ dossiers }) => dossiers.page({ date_to: new Date(Number.NaN) })],
  ['invitation page 0', ({ invitations }) => invitations.page({ page: 0 })],
  ['101 invitations per page', ({ invitations }) => invitations.page({ per_page: 101 })],
  ['a search for two characters', ({ invitations }) => invitations.page({ search: 'ab' })],
  ['an empty reference', ({ invitations }) => invitations.page({ reference: '' })],
  [
    'a recipient of 256 characters',
    ({ invitations }) =>
      invitations.create({ workflowToken: 'wf_1', channel: 'sms', recipient: `${'Plantina'.repeat(32)}` }),
  ],
  [
    'an empty reference of an invitation',
    ({ invitations }) =>
      invitations.create({ workflowToken: 'wf_1', channel: 'sms', recipient: 'Plantina', reference: '' }),
  ],
  [
    'a reference of 256 characters',
    ({ invitations }) =>
      invitations.create({ workflowToken: 'wf_1', channel: 'sms', recipient: 'x', reference: 'x'.repeat(256) }),
  ],
];
test.each(sendSomething)('%s is a ConfigError that shows no value, and nothing is sent', async (_title, send) => {
  const before = service.received.length;
  const client = createClient({ baseUrl: service.url, apiKey: testKey });
  const sent = send(client);
  await expect(sent).rejects.toMatchObject({ name: 'ConfigError' });
  await expect(sent).rejects.not.toThrow(/Plantina/);
  expect(service.received).toHaveLength(before);
  await client.close();
});
