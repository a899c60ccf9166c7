import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { listenOnLoopback } from './loopback.js';

/** What becomes of the next commit that passes: it never arrives, or it arrives and its answer does not. */
export type Cut = 'before' | 'after';

/** A wire between a client and a Postgres server that can be cut exactly at a commit. */
export interface CuttingProxy {
  url: string;
  /** Cuts the connection at the next `commit`; `byCrash`, called when the commit has taken place, may end the server instead. */
  cutAtCommit(cut: Cut, byCrash?: () => Promise<void>): void;
  /** Refuses each connection beyond this number of open ones with this error, as a server or pooler without room does. */
  refuseAbove(most: number, code?: string, message?: string): void;
  /** How many times it was cut. */
  cuts(): number;
  /** How many connections were refused. */
  refusals(): number;
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
  let open = 0;
  let refusals = 0;
  let room = { most: Number.POSITIVE_INFINITY, refusal: Buffer.alloc(0) };
  const server = createServer((client) => {
    if (open >= room.most) {
      refusals += 1;
      client.on('error', () => client.destroy());
      client.once('data', () => client.end(room.refusal));
      return;
    }
    open += 1;
    client.once('close', () => {
      open -= 1;
    });
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
  });
  const own = new URL(url);
  own.port = String(await listenOnLoopback(server));
  return {
    url: own.href,
    cutAtCommit: (cut, byCrash) => {
      crash = byCrash;
      next = cut;
    },
    refuseAbove: (most, code = '53300', message = 'sorry, too many clients already') => {
      const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
      const head = Buffer.from('E\0\0\0\0');
      head.writeInt32BE(fields.length + 4, 1);
      room = { most, refusal: Buffer.concat([head, fields]) };
    },
    cuts: () => cuts,
    refusals: () => refusals,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** A proxy before a service that now and then gives two concurrent searches each other's answer. */
interface SwappingProxy {
  url: string;
  /** How many answers went to the wrong caller. */
  crossed(): number;
  close(): Promise<void>;
}

interface Passage {
  response: ServerResponse;
  status: number;
  body: string;
}

// A search that finds no partner in this time gets its own answer.
const maxWaitMs = 1_000;

/** Starts a proxy before `target` (with the version prefix) that crosses every `every`th search with the next one. */
export async function startSwappingProxy(target: string, every: number): Promise<SwappingProxy> {
  const { origin, pathname } = new URL(target);
  let searches = 0;
  let crossed = 0;
  let waiting: Passage | undefined;

  const answer = ({ response }: Passage, { status, body }: Passage): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
  const pass = async (passage: Passage, search: number | null): Promise<void> => {
    if (search !== null && waiting) {
      const partner = waiting;
      waiting = undefined;
      crossed += 2;
      answer(partner, passage);
      return answer(passage, partner);
    }
    if (search === null || search % every !== 0) return answer(passage, passage);
    waiting = passage;
    await delay(maxWaitMs);
    if (waiting !== passage) return;
    waiting = undefined;
    answer(passage, passage);
  };
  const server = createHttpServer(async (request, response) => {
    const body = await readBody(request);
    const { authorization = '' } = request.headers;
    const headers = { authorization, 'content-type': 'application/json' };
    const method = request.method ?? 'GET';
    // By the order of requests: where many arrive before the first is answered, the answers would all see the same number.
    const search = method === 'POST' ? ++searches : null;
    const init = search === null ? { method, headers } : { method, headers, body };
    const upstream = await fetch(`${origin}${request.url ?? ''}`, init);
    await pass({ response, status: upstream.status, body: await upstream.text() }, search);
  });
  return {
    url: `http://127.0.0.1:${await listenOnLoopback(server)}${pathname}`,
    crossed: () => crossed,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}
