import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { flagError } from '../../errors.js';
import { isExpectedHost } from '../../loopback.js';
import type { Health } from './health.js';

/** Where metrics are served; without a host on all addresses of this machine. */
export interface MetricsAddress {
  host: string | undefined;
  port: number;
}

/** Reads `:9464`, `127.0.0.1:9464` or `[::1]:9464`; throws ConfigError. Port 0 takes a free one. */
export function parseMetricsAddress(text: string): MetricsAddress {
  const [, ipv6, name, port = ''] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535) {
    throw flagError('--metrics', `${text} is no address such as :9464 or 127.0.0.1:9464`);
  }
  return { host: ipv6 ?? (name === '' ? undefined : name), port: Number(port) };
}

/** A server that runs. */
export interface MetricsServer {
  port: number;
  stop(): Promise<void>;
}

type Answer = { status: number; contentType: string; text: string };

async function answer(path: string, health: Health): Promise<Answer> {
  if (path === '/metrics') return { status: 200, ...(await health.write()) };
  // Whoever answers is alive, and its loop turns.
  if (path === '/healthz') return { status: 200, contentType: 'text/plain', text: 'ok\n' };
  if (path !== '/readyz')
    return { status: 404, contentType: 'text/plain', text: 'there is /metrics, /healthz and /readyz\n' };
  const { isReady, checks } = await health.readiness();
  const text = Object.entries(checks).map(([name, state]) => `${name}: ${state}\n`);
  return { status: isReady ? 200 : 503, contentType: 'text/plain', text: text.join('') };
}

const misdirected: Answer = {
  status: 421,
  contentType: 'text/plain',
  text: 'no such host here: ask by the IP address, or add the name to metrics.hosts in the configuration\n',
};

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  health: Health,
  hosts: readonly string[],
): Promise<void> {
  const [path = '/'] = (request.url ?? '/').split('?');
  const isReading = request.method === 'GET' || request.method === 'HEAD';
  const refused: Answer | null = isReading ? null : { status: 405, contentType: 'text/plain', text: 'only GET\n' };
  const isExpected = isExpectedHost(request.headers.host, hosts);
  const { status, contentType, text } = isExpected ? (refused ?? (await answer(path, health))) : misdirected;
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : text);
}

/** Serves `/metrics`, `/healthz` and `/readyz` to IP literals, localhost, the host of the address and `names`; throws ConfigError when the address cannot be taken. */
export async function startMetricsServer(
  { host, port }: MetricsAddress,
  health: Health,
  names: readonly string[] = [],
): Promise<MetricsServer> {
  const hosts = host === undefined ? names : [host, ...names];
  const server = createServer((request, response) => {
    respond(request, response, health, hosts).catch(() => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end('the answer could not be made\n');
    });
  });
  server.requestTimeout = 10_000;
  try {
    server.listen(host === undefined ? { port } : { port, host });
    await once(server, 'listening');
  } catch (error) {
    throw flagError(
      '--metrics',
      `${host ?? ''}:${port} cannot be listened at: ${error instanceof Error ? error.message : ''}`,
    );
  }
  const address = server.address();
  return {
    port: address !== null && typeof address === 'object' ? address.port : port,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
