import { describe, expect, onTestFinished, test } from 'vitest';
import { type ClientSettings, createClient } from '../../../src/client/client.js';
import type { Attempt, AttemptEnd } from '../../../src/client/operation.js';
import {
  answerJson,
  openClient,
  startRawService,
  startService,
  type TestService,
  testKey,
  toEmptyResult,
} from './start-service.js';

const person = { type: 'person', name: 'Plantina Nominova' } as const;

const quick = (baseUrl: string, more: Partial<ClientSettings> = {}): ClientSettings => ({
  baseUrl,
  apiKey: testKey,
  rate: { perSecond: 1_000 },
  retry: { maxAttempts: 3, baseDelayMs: 1, maxDelayMs: 5 },
  ...more,
});

const isIdentification = ({ operation }: Attempt): boolean => operation === 'api_keys.public';

/** Hears of every attempt but those that ask whose key it is. */
const listen = () => {
  const reported: (Attempt & AttemptEnd)[] = [];
  let startedCount = 0;
  return {
    reported,
    countStarted: () => startedCount,
    started: (attempt: Attempt) => {
      if (!isIdentification(attempt)) startedCount += 1;
    },
    ended: (attempt: Attempt, end: AttemptEnd) => {
      if (!isIdentification(attempt)) reported.push({ ...attempt, ...end });
    },
  };
};

test.each(['basic', 'bearer'] as const)('what goes out is what the interface asks for (%s)', async (authentication) => {
  const service = await startService(
    (request, response) => {
      if (request.method === 'POST')
        answerJson(response, 201, { query: person.name, type: 'person', total: 0, results: [] });
      else answerJson(response, 200, { public_key: 'public_sandbox_x', is_test: true });
    },
    { answersKeys: true },
  );
  onTestFinished(service.stop);
  const aml = { nameField: 'full_name' };
  const client = createClient(quick(`${service.url}/v1/`, { authentication, aml }));
  await client.aml.search(person);
  expect((await client.apiKeys.public()).data).toEqual({ public_key: 'public_sandbox_x', is_test: true });
  await client.close();
  const [publicKey, search] = service.received;
  expect([search?.method, search?.url]).toEqual(['POST', '/v1/aml/search']);
  expect([publicKey?.method, publicKey?.url]).toEqual(['GET', '/v1/api_keys/public']);
  expect(JSON.parse(search?.body ?? '')).toEqual({ type: 'person', full_name: person.name });
  expect(search?.headers.authorization).toBe(
    authentication === 'bearer' ? `Bearer ${testKey}` : `Basic ${Buffer.from(`${testKey}:`).toString('base64')}`,
  );
  expect(search?.headers['user-agent']).toMatch(/^nightscreen\/\d+\.\d+\.\d+/);
});

describe('the total deadline ends a call whatever hangs', () => {
  const timeout = { timeoutMs: 300 };
  const expectTimeout = async (
    { url, stop }: Pick<TestService, 'url' | 'stop'>,
    expectedStatus: number | null,
  ): Promise<void> => {
    onTestFinished(stop);
    const reported: AttemptEnd[] = [];
    const observer = { ended: (_attempt: Attempt, end: AttemptEnd) => void reported.push(end) };
    const client = createClient(quick(url, { observer, retry: { maxAttempts: 1 } }));
    const startedMs = performance.now();
    await expect(client.dossiers.page({}, timeout)).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'deadline_passed',
    });
    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThan(290);
    expect(tookMs).toBeLessThan(1_000);
    expect(reported).toMatchObject([{ outcome: 'timeout', status: expectedStatus }]);
  };

  test('a service that accepts and says nothing', async () => {
    const current = await startRawService(() => undefined);
    await expectTimeout(current, null);
  });
  test('a body that comes byte by byte, for ever', async () => {
    const current = await startService((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    await expectTimeout(current, 200);
  });
  test('headers that never end', async () => {
    const current = await startRawService((socket) => {
      const timer = setInterval(() => socket.write('x-more: 1\r\n'), 20);
      socket.write('HTTP/1.1 201 Created\r\n');
      socket.on('close', () => clearInterval(timer));
    });
    await expectTimeout(current, null);
  });
  test('a connect that hangs', async () => {
    // A TLS hello that is never answered hangs before the request can be sent.
    const current = await startRawService(() => undefined);
    await expectTimeout({ ...current, url: current.url.replace('http:', 'https:') }, null);
  });
});

test('a 401 whose body hangs is still a 401', async () => {
  const { service, client } = await openClient((_request, response) => {
    response.writeHead(401).write('{"error":');
  });
  await expect(client.aml.search(person, { timeoutMs: 200 })).rejects.toMatchObject({ name: 'AuthenticationError' });
  expect(service.received).toHaveLength(1);
});

test('a cut connection is repeated, and every attempt is told of', async () => {
  const wide = listen();
  const own = listen();
  const { service, client } = await openClient(
    (request, response) => {
      if (service.received.length === 1) response.socket?.destroy();
      else if (service.received.length === 2) {
        response.writeHead(201, { 'content-length': '500' }).write('{"query":');
        setTimeout(() => response.socket?.destroy(), 20);
      } else answerJson(response, 201, toEmptyResult(request));
    },
    { observer: wide, retry: { maxAttempts: 3, baseDelayMs: 1, maxDelayMs: 5 } },
  );
  const answer = await client.aml.search(person, { observer: own });
  await client.close();
  expect(answer.attempts).toBe(3);
  expect(wide.reported.map((end) => [end.attempt, end.outcome, end.status])).toEqual([
    [1, 'connection', null],
    [2, 'connection', 201],
    [3, 'ok', 201],
  ]);
  expect(wide.reported[2]?.bytes).toBe(Buffer.byteLength(answer.body));
  expect(wide.reported[0]).toMatchObject({ operation: 'aml.search', method: 'POST', path: '/aml/search' });
  expect(own.reported).toEqual(wide.reported);
  expect(wide.countStarted()).toBe(3);
});

test('a refused connection ends with the last error after all attempts', async () => {
  const gone = await startService(() => undefined);
  await gone.stop();
  const observer = listen();
  const client = createClient(quick(gone.url, { observer }));
  await expect(client.dossiers.page({})).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'connection_refused',
    mayHaveArrived: false,
  });
  expect(observer.reported.map(({ isSent }) => isSent)).toEqual([false, false, false]);
});

describe('abort', () => {
  test('ends an attempt under way with the reason and without repetition', async () => {
    const observer = listen();
    const stop = new AbortController();
    // The request has come, and is never answered.
    const { client } = await openClient(() => stop.abort(new Error('stop')), { observer });
    await expect(client.aml.search(person, { signal: stop.signal })).rejects.toThrow('stop');
    expect(observer.reported).toMatchObject([{ outcome: 'aborted', status: null, isSent: true }]);
  });
  test.each([429, 503])('ends the wait after a %i with Retry-After at once', async (status) => {
    const stop = new AbortController();
    const { service, client } = await openClient((_request, response) => {
      answerJson(response, status, {}, { 'retry-after': '60' });
      setTimeout(() => stop.abort(new Error('stop')), 150);
    });
    const startedMs = performance.now();
    await expect(client.aml.search(person, { signal: stop.signal })).rejects.toThrow('stop');
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    expect(service.received).toHaveLength(1);
  });
  test('before the start sends nothing and takes no place from others', async () => {
    const { service, client } = await openClient(
      (request, response) => answerJson(response, 201, toEmptyResult(request)),
      { rate: { perSecond: 5, concurrency: 1 } },
    );
    const stop = new AbortController();
    const first = client.aml.search(person);
    const doomed = Array.from({ length: 50 }, () => client.aml.search(person, { signal: stop.signal }));
    const last = client.aml.search(person);
    stop.abort(new Error('stop'));
    const settled = await Promise.allSettled(doomed);
    expect(settled.every((search) => search.status === 'rejected')).toBe(true);
    await Promise.all([first, last]);
    expect(service.received).toHaveLength(2);
    await client.close();
  });
});

test('close lets the call under way end and refuses the others', async () => {
  const { service, client } = await openClient(
    (request, response) => {
      setTimeout(() => answerJson(response, 201, toEmptyResult(request)), 200);
    },
    { rate: { concurrency: 1 } },
  );
  const underWay = client.aml.search(person);
  const waiting = client.aml.search(person);
  const refused = expect(waiting).rejects.toMatchObject({ code: 'client_closed' });
  while (service.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await Promise.all([client.close(), refused]);
  expect((await underWay).status).toBe(201);
  await expect(client.aml.search(person)).rejects.toMatchObject({ code: 'client_closed' });
  expect(service.received).toHaveLength(1);
});

test('an observer that cannot note the start prevents the call', async () => {
  const observer = {
    started: () => {
      throw new Error('no room in the ledger');
    },
  };
  const { service, client } = await openClient(
    (request, response) => answerJson(response, 201, toEmptyResult(request)),
    { observer },
  );
  await expect(client.aml.search(person)).rejects.toThrow('no room in the ledger');
  expect(service.received).toHaveLength(0);
});
