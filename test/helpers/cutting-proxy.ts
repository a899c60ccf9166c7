import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** What becomes of the next commit that passes: it never arrives, or it arrives and its answer does not. */
export type Cut = 'before' | 'after';

/** A wire between a client and a Postgres server that can be cut exactly at a commit. */
export interface CuttingProxy {
  url: string;
  /** Cuts the connection at the next `commit`; `byCrash`, called when the commit has taken place, may end the server instead. */
  cutAtCommit(cut: Cut, byCrash?: () => Promise<void>): void;
  /** How many times it was cut. */
  cuts(): number;
  close(): Promise<void>;
}

// A simple query: its letter, its length, its text, a zero.
const commitMessage = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1');

/** Starts a proxy before the server of `url`; the URL that it gives names the same database. */
export async function startCuttingProxy(url: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let next: Cut | null = null;
  let crash: (() => Promise<void>) | undefined;
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let isDeaf = false;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    upstream.on('data', (chunk: Buffer) => {
      if (!isDeaf) return void client.write(chunk);
      const down = crash ?? (async () => end());
      // A server that crashes says so.
      crash = async () => undefined;
      void down();
    });
    client.on('data', (chunk: Buffer) => {
      if (next === null || !chunk.includes(commitMessage)) return void upstream.write(chunk);
      cuts += 1;
      if (next === 'before') end();
      else {
        isDeaf = true;
        upstream.write(chunk);
      }
      next = null;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const own = new URL(url);
  own.port = String(address.port);
  return {
    url: own.href,
    cutAtCommit: (cut, byCrash) => {
      crash = byCrash;
      next = cut;
    },
    cuts: () => cuts,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
