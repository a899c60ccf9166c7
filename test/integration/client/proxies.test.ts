import { createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createClient } from '../../../src/client/index.js';
import { findProxy } from '../../../src/outgoing.js';
import { listenOnLoopback } from '../../helpers/loopback.js';
import { testKey } from './start-service.js';

const stop: (() => void)[] = [];
afterEach(() => {
  for (const close of stop.splice(0).reverse()) close();
});

const listen = async (server: ReturnType<typeof createServer>): Promise<number> => {
  stop.push(() => server.close());
  return listenOnLoopback(server);
};

/** What a proxy does with a connection that asks it for something. */
const startProxy = async (answer: (asked: string, socket: Socket) => void) => {
  const proxy = { url: '', asked: [] as string[], connections: 0 };
  const server = createServer((socket) => {
    proxy.connections += 1;
    socket.on('error', () => undefined);
    stop.push(() => socket.destroy());
    socket.once('data', (head) => {
      proxy.asked.push(head.toString().split('\r\n')[0] ?? '');
      answer(head.toString(), socket);
    });
  });
  proxy.url = `http://127.0.0.1:${await listen(server)}`;
  return proxy;
};

const open = (environment: Record<string, string>, more: object = {}) => {
  const client = createClient(
    {
      baseUrl: 'https://service.example/v1',
      apiKey: testKey,
      timeoutSeconds: 5,
      retry: { maxAttempts: 2, baseDelayMs: 1, maxDelayMs: 1 },
      ...more,
    },
    environment,
  );
  stop.push(() => void client.close());
  return client;
};

test('requests go through the proxy of the environment by a tunnel, encrypted from end to end', async () => {
  const tunnelled: number[] = [];
  const proxy = await startProxy((asked, socket) => {
    expect(asked).toContain(`proxy-authorization: Basic ${Buffer.from('ada:pw').toString('base64')}`);
    expect(asked).not.toContain(Buffer.from(`${testKey}:`).toString('base64'));
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.once('data', (hello) => {
      tunnelled.push(hello[0] ?? 0);
      socket.destroy();
    });
  });
  const { apiKeys } = open({ HTTPS_PROXY: proxy.url.replace('http://', 'http://ada:pw@') });
  await expect(apiKeys.public()).rejects.toMatchObject({ name: 'ConnectionError', mayHaveArrived: false });
  expect(proxy.asked[0]).toBe('CONNECT service.example:443 HTTP/1.1');
  // RFC 8446, 5.1: what begins with 22 is a handshake.
  expect(new Set(tunnelled)).toEqual(new Set([22]));
  expect(tunnelled.length).toBeLessThanOrEqual(8);
});

test.each([
  ['at once', (socket: Socket) => socket.destroy()],
  ['after a refusal', (socket: Socket) => socket.end('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n')],
])('a proxy that hangs up %s is asked a few times for each attempt, and the call says so', async (_title, hangUp) => {
  const proxy = await startProxy((_asked, socket) => hangUp(socket));
  const { apiKeys } = open({ https_proxy: proxy.url });
  await expect(apiKeys.public()).rejects.toMatchObject({ name: 'ConnectionError', mayHaveArrived: false });
  expect(proxy.connections).toBeLessThanOrEqual(8);
});

test('`service.proxy` goes before the environment, NO_PROXY and `none` go past every proxy', async () => {
  const proxy = await startProxy((_asked, socket) => socket.destroy());
  const [unused, used] = [
    { HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: 'service.example' },
    { HTTPS_PROXY: proxy.url },
  ];
  await expect(open(unused, { proxy: proxy.url }).apiKeys.public()).rejects.toThrow();
  expect(proxy.connections).toBeGreaterThan(0);
  proxy.connections = 0;
  for (const [environment, more] of [
    [{ ...used, NO_PROXY: '.example' }, {}],
    [{ ...used, NO_PROXY: '*' }, {}],
    [used, { proxy: 'none' }],
    [used, { baseUrl: 'http://127.0.0.1:9/v1' }],
  ] as const)
    await expect(open(environment, more).apiKeys.public()).rejects.toThrow();
  expect(proxy.connections).toBe(0);
  expect(() => open({}, { proxy: 'http://ada:pw@proxy.example' })).toThrow(/service.proxy.*HTTPS_PROXY/s);
});

test.each<[Record<string, string>, string | undefined, string | null]>([
  [{}, undefined, null],
  [{ HTTPS_PROXY: 'http://ada:pw@proxy.example:3128' }, undefined, 'http://proxy.example:3128'],
  [{ HTTPS_PROXY: 'http://proxy.example', NO_PROXY: 'service.example:8443' }, undefined, 'http://proxy.example'],
  [{ HTTPS_PROXY: 'http://proxy.example', no_proxy: 'a.example, service.example' }, undefined, null],
  [{ HTTPS_PROXY: 'http://proxy.example' }, 'none', null],
  [{ NO_PROXY: '*' }, 'http://own.example', 'http://own.example'],
])('by %j and %j the way is %j', (environment, proxy, expected) => {
  expect(findProxy(new URL('https://service.example/v1'), { proxy }, environment)?.url ?? null).toBe(expected);
});
