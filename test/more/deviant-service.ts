import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A service that takes the name of a search in another parameter than the sandbox does. */
export interface DeviantService {
  /** With the version prefix. */
  url: string;
  /** `METHOD path` of each request, oldest first, with the body where there was one. */
  readonly requests: readonly { line: string; body: string }[];
  close(): Promise<void>;
}

type Answer = [status: number, body: unknown];

const refuse = (status: number, code: string, detail: string): Answer => [status, { code, detail }];

/** Starts it; searches take their name in `query`. */
export async function startDeviantService(): Promise<DeviantService> {
  const requests: { line: string; body: string }[] = [];

  const search = (body: string): Answer => {
    const input: unknown = JSON.parse(body);
    const name: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, 'query') : undefined;
    if (typeof name !== 'string') return refuse(422, 'validation_error', 'The parameter query is required');
    const match = { id: 'm1', name, schema: 'Person', match: true, score: 1, topics: [], birth_date: [] };
    return [201, { query: name, type: 'person', total: 1, results: [{ ...match, country: [] }] }];
  };

  const answer = (method: string, path: string, body: string): Answer => {
    if (method === 'POST' && path === '/v1/aml/search') return search(body);
    if (path === '/v1/api_keys/public') return [200, { public_key: 'public_sandbox_p', is_test: true }];
    return refuse(404, 'no_such_thing', 'Planted Customer is not here');
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(Buffer.from(piece));
    const body = Buffer.concat(pieces).toString('utf8');
    const { pathname } = new URL(request.url ?? '', 'http://stub');
    const method = request.method ?? '';
    requests.push({ line: `${method} ${pathname}`, body });
    const [status, value] = answer(method, pathname, body);
    response.writeHead(status, {
      'content-type': 'application/json',
      // Whatever a service sends back, the key must not reach the output.
      'x-ratelimit-policy': request.headers.authorization ?? '',
    });
    response.end(JSON.stringify(value));
  };

  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service has no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    requests,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
