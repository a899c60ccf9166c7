import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** A proxy before a service that now and then gives two concurrent searches each other's answer. */
export interface SwappingProxy {
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
const patienceMs = 1_000;

/** Starts a proxy before `target` (with the version prefix) that crosses about every `every`th search with the next one. */
export async function startSwappingProxy(target: string, every: number): Promise<SwappingProxy> {
  const { origin, pathname } = new URL(target);
  let searches = 0;
  let crossed = 0;
  let waiting: Passage | undefined;

  const answer = ({ response }: Passage, { status, body }: Passage): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };
  const pass = async (passage: Passage, isSearch: boolean): Promise<void> => {
    if (isSearch && waiting) {
      const partner = waiting;
      waiting = undefined;
      crossed += 2;
      answer(partner, passage);
      return answer(passage, partner);
    }
    if (!isSearch || searches % every !== 0) return answer(passage, passage);
    waiting = passage;
    await delay(patienceMs);
    if (waiting !== passage) return;
    waiting = undefined;
    answer(passage, passage);
  };
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const { authorization = '' } = request.headers;
    const headers = { authorization, 'content-type': 'application/json' };
    const method = request.method ?? 'GET';
    const isSearch = method === 'POST';
    if (isSearch) searches += 1;
    const init = isSearch ? { method, headers, body } : { method, headers };
    const upstream = await fetch(`${origin}${request.url ?? ''}`, init);
    await pass({ response, status: upstream.status, body: await upstream.text() }, isSearch);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    url: `http://127.0.0.1:${address.port}${pathname}`,
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
