import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** A service that fills each gap of the interface otherwise than the sandbox does. */
export interface DeviantService {
  /** With the version prefix. */
  url: string;
  /** `METHOD path` of each request, oldest first, with the body where there was one. */
  readonly requests: readonly { line: string; body: string }[];
  close(): Promise<void>;
}

const dossiers = ['a', 'b', 'c'].map((letter) => ({
  id: `dossier_${letter.repeat(24)}`,
  type: 'kyc',
  status: letter === 'c' ? 'open' : 'approved',
  name: 'Planted Customer',
}));

type Answer = [status: number, body: unknown];

const refuse = (status: number, code: string, detail: string): Answer => [status, { code, detail }];

const list = (query: URLSearchParams): Answer => {
  const after = query.get('starting_after');
  if (after === null) return [200, { dossiers, page: 1, per_page: 100, total: dossiers.length, total_pages: 1 }];
  // An unknown cursor starts again at the head, and filters are forgotten after a cursor.
  const place = dossiers.findIndex(({ id }) => id === after);
  return [200, { dossiers: dossiers.slice(place + 1), has_more: false, next_cursor: '' }];
};

/** Starts it; searches take their name in `query`, match ids change with each search, invitations break off. */
export async function startDeviantService(): Promise<DeviantService> {
  const requests: { line: string; body: string }[] = [];
  let searches = 0;

  const search = (body: string): Answer => {
    const input: unknown = JSON.parse(body);
    const name: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, 'query') : undefined;
    if (typeof name !== 'string') return refuse(422, 'validation_error', 'The parameter query is required');
    searches += 1;
    const match = { id: `m${searches}`, name, schema: 'Person', match: true, score: 1, topics: [], birth_date: [] };
    return [201, { query: name, type: 'person', total: 1, results: [{ ...match, country: [] }] }];
  };

  const answer = (method: string, path: string, query: URLSearchParams, body: string): Answer => {
    if (method === 'POST' && path === '/v1/aml/search') return search(body);
    if (path === '/v1/api_keys/public') return [200, { public_key: 'public_sandbox_p', is_test: true }];
    if (path === '/v1/dossiers') return list(query);
    if (path === '/v1/autodoc/invitations/locales') return [200, [{ code: 'en', name: 'English' }]];
    return refuse(404, 'no_such_thing', 'Planted Customer is not here');
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(Buffer.from(piece));
    const body = Buffer.concat(pieces).toString('utf8');
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://stub');
    const method = request.method ?? '';
    requests.push({ line: `${method} ${pathname}`, body });
    if (pathname === '/v1/autodoc/invitations') return void request.socket.destroy();
    const [status, value] = answer(method, pathname, searchParams, body);
    response.writeHead(status, {
      'content-type': 'application/json',
      date: new Date(Date.now() - 120_000).toUTCString(),
      'x-ratelimit-limit': '40',
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
