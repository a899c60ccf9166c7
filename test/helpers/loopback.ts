import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { z } from 'zod';

/** Lets a server listen on loopback, on a free port unless one is given; gives the port. */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return z.object({ port: z.number() }).parse(server.address()).port;
}

/** A loopback port that was free a moment ago, for a server that wants to be told one. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnLoopback(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
