import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { AttemptEnd, CallOptions, Client, ClientEvent, ClientSettings } from '../../../src/client/index.js';
import {
  answerJson,
  openClient,
  type Received,
  type TestService,
  testKeyRecord,
  toEmptyResult,
} from './start-service.js';

const person = { type: 'person', name: 'Plantina Nominova' } as const;
let service: TestService;
let client: Client;

const open = async (
  handle: (request: Received, response: ServerResponse) => void,
  more: Partial<ClientSettings> = {},
): Promise<Client> => {
  const quick = { rate: { perSecond: 1_000, concurrency: 1 }, ...more };
  ({ service, client } = await openClient(handle, quick, { answersKeys: true }));
  return client;
};

describe('a timeoutMs of one call', () => {
  /** A service whose answers take a while, so that a timer that fires at once would be seen. */
  const openSlow = (): Promise<Client> =>
    open((request, response) => {
      const answer = (): void => {
        if (request.url === '/sessions') answerJson(response, 201, { session_id: 's_1', url: 'https://v.example/1' });
        else if (request.method === 'GET') answerJson(response, 200, testKeyRecord);
        else answerJson(response, 201, toEmptyResult(request));
      };
      setTimeout(answer, 20);
    });

  test.each([2 ** 31 - 1, 2 ** 31, 1e300, Number.POSITIVE_INFINITY])(
    'of %d is as long as a timer can be, not at once',
    async (timeoutMs) => {
      const { aml } = await openSlow();
      expect(await aml.search(person, { timeoutMs })).toMatchObject({ status: 201, attempts: 1 });
      expect(service.received).toHaveLength(2);
    },
  );

  const operations: [string, (options: CallOptions) => Promise<unknown>][] = [
    ['aml.search', (options) => client.aml.search(person, options)],
    ['dossiers.page', (options) => client.dossiers.page({}, options)],
    ['sessions.create', (options) => client.sessions.create({ level: 'Gold' }, options)],
    ['identify', (options) => client.identify(options)],
  ];
  test.each(operations)('of NaN is refused by %s, sends nothing and fails nobody else', async (_name, operate) => {
    await openSlow();
    const problems = [{ path: 'timeoutMs' }];
    const refused = expect(operate({ timeoutMs: Number.NaN })).rejects.toMatchObject({ name: 'ConfigError', problems });
    // Right behind it: what both need is asked for once.
    const others = expect(client.sessions.create({ level: 'Gold' })).resolves.toMatchObject({ status: 201 });
    await refused;
    expect(service.received).toHaveLength(0);
    await others;
  });

  test.each([0, -1, Number.NEGATIVE_INFINITY])('of %d is refused', async (timeoutMs) => {
    const { aml } = await openSlow();
    await expect(aml.search(person, { timeoutMs })).rejects.toThrow(/call options.*timeoutMs/s);
  });

  test('that is shorter than usual says nothing about the service: it begins no outage', async () => {
    let isHanging = false;
    const { aml, identify, listen } = await open(
      (request, response) => {
        if (request.method === 'GET') answerJson(response, 200, testKeyRecord);
        else if (!isHanging) answerJson(response, 201, toEmptyResult(request));
      },
      { timeoutSeconds: 0.1, rate: { perSecond: 1_000, concurrency: 12 }, retry: { maxAttempts: 1 } },
    );
    await identify();
    const events: ClientEvent['kind'][] = [];
    listen(({ kind }) => events.push(kind));
    const searchMany = (options: CallOptions): Promise<unknown> =>
      Promise.allSettled(Array.from({ length: 12 }, () => aml.search(person, options)));
    isHanging = true;
    await searchMany({ timeoutMs: 20 });
    expect(events).toEqual([]);
    isHanging = false;
    expect((await aml.search(person)).status).toBe(201);
    isHanging = true;
    await searchMany({});
    expect(events).toEqual(['outage_began']);
  });
});

test('a key that no header can hold is neither a connection error nor repeated nor shown, and begins no outage', async () => {
  const publicKey = 'public_sandbox_hostile\r\nx-more: 1';
  const { sessions, identify, listen, aml } = await open((request, response) => {
    if (request.url === '/aml/search') answerJson(response, 201, toEmptyResult(request));
    else answerJson(response, 200, { public_key: publicKey, is_test: true });
  });
  await identify();
  const events: ClientEvent[] = [];
  listen((event) => events.push(event));
  const ends: AttemptEnd[] = [];
  const observer = { ended: (_attempt: unknown, end: AttemptEnd) => void ends.push(end) };
  for (let count = 0; count < 12; count += 1) {
    const failure = await sessions.create({ level: 'Gold' }, { observer }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'NightscreenError', code: 'invalid_request_setting' });
    expect(`${failure} ${failure instanceof Error ? failure.cause : ''}`).not.toContain('hostile');
  }
  // The first of them is the one that fetched the key.
  expect(ends.map(({ isSent }) => isSent)).toEqual([true, ...Array(12).fill(false)]);
  expect(events).toEqual([]);
  expect((await aml.search(person)).status).toBe(201);
});
