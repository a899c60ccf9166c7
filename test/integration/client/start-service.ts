import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Client, type ClientSettings, createClient } from '../../../src/client/index.js';
import { listenOnLoopback } from '../../helpers/loopback.js';

/** A request as the test's service received it. */
export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** When its headers arrived, in milliseconds that only grow. */
  atMs: number;
}

/** A service made of one handler, on a free loopback port. */
export interface TestService {
  url: string;
  received: Received[];
  stop(): Promise<void>;
}

const toStop = (sockets: Set<Socket>, close: (done: () => void) => void) => (): Promise<void> =>
  new Promise((resolve) => {
    close(resolve);
    for (const socket of sockets) socket.destroy();
  });

/** The public key record of `testKey`. */
export const testKeyRecord = { public_key: 'public_sandbox_ofTheTest', is_test: true };

/**
 * Starts a real HTTP server that answers with `handle`; the request's body has been read by then. Whose key it is is answered by itself
 * and not recorded, unless the handler `answersKeys`.
 */
export const startService = async (
  handle: (request: Received, response: ServerResponse) => void,
  { answersKeys = false } = {},
): Promise<TestService> => {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const atMs = performance.now();
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      if (request.url?.endsWith('/api_keys/public') && !answersKeys) return answerJson(response, 200, testKeyRecord);
      const entry = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body, atMs };
      received.push(entry);
      handle(entry, response);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listenOnLoopback(server);
  return { url: `http://127.0.0.1:${port}`, received, stop: toStop(sockets, (done) => server.close(done)) };
};

/** Starts a service and a client of it, which end with the test. */
export const openClient = async (
  handle: (request: Received, response: ServerResponse) => void,
  more: Partial<ClientSettings> = {},
  options: { answersKeys?: boolean } = {},
): Promise<{ service: TestService; client: Client }> => {
  const service = await startService(handle, options);
  const client = createClient({
    baseUrl: service.url,
    apiKey: testKey,
    rate: { perSecond: 1_000 },
    retry: { maxAttempts: 2, baseDelayMs: 1, maxDelayMs: 2 },
    ...more,
  });
  onTestFinished(async () => {
    await client.close();
    await service.stop();
  });
  return { service, client };
};

/** Starts a TCP server that does `greet` with each connection and speaks no HTTP of its own accord. */
export const startRawService = async (greet: (socket: Socket) => void): Promise<Omit<TestService, 'received'>> => {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    greet(socket);
  });
  const port = await listenOnLoopback(server);
  return { url: `http://127.0.0.1:${port}`, stop: toStop(sockets, (done) => server.close(done)) };
};

/** Answers with JSON. */
export const answerJson = (
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
};

/** The valid answer to a search that found nothing. */
export const toEmptyResult = (request: Received): object => {
  const { name, type } = JSON.parse(request.body);
  return { query: name, type, total: 0, results: [] };
};

/** A key that must never be seen in a message. */
export const testKey = 'private_sandbox_plantedKey42';
