import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { isIP } from 'node:net';
import { flagError, readMessage } from './errors.js';

// The time for the head begins with the connection, or with the end of the request before. A reverse proxy is one address, and the service sends
// fewer requests at the same time.
const usualLimits = { headMs: 5_000, requestMs: 10_000, connectionsOfAddress: 128, connections: 1_024 };

/** An HTTP server whose connections neither wait without end nor, from one address, keep those of others out. */
export function createBoundedServer(handle: RequestListener, limits = usualLimits): Server {
  const { headMs, requestMs, connectionsOfAddress, connections } = limits;
  const server = createServer(
    {
      headersTimeout: headMs,
      keepAliveTimeout: headMs,
      requestTimeout: requestMs,
      // Node looks for late requests every 30 seconds by default.
      connectionsCheckingInterval: headMs / 5,
    },
    handle,
  );
  server.maxConnections = connections;
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    const others = open.get(address) ?? 0;
    if (others >= connectionsOfAddress) {
      socket.destroy();
      return;
    }
    open.set(address, others + 1);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
  return server;
}

/** Listens at an address, without a host at all of this machine; gives the port. Throws ConfigError that names `flag` when it cannot. */
export async function listenAt(server: Server, flag: string, port: number, host?: string): Promise<number> {
  try {
    server.listen(host === undefined ? { port } : { port, host });
    await once(server, 'listening');
  } catch (error) {
    throw flagError(flag, `cannot listen on ${host ?? ''}:${port}: ${readMessage(error)}`);
  }
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : port;
}

/**
 * Whether the `Host` of a request is an IP literal, localhost or one of `names`. A page of another site can point its own name to this machine (DNS
 * rebinding), but no page is served by an address. HTTP/1.0 has no `Host`, and no browser uses it.
 */
export function isExpectedHost(host: string | undefined, names: readonly string[] = []): boolean {
  if (host === undefined || host === '') return true;
  const name = host.replace(/:\d*$/, '').toLowerCase().replace(/\.$/, '');
  const isLiteral = isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  return isLiteral || name === 'localhost' || names.some((each) => each.toLowerCase() === name);
}
