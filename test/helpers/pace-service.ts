import { createServer } from 'node:http';

/** How the service is to answer from now on. */
export interface PaceServiceOrder {
  /** The share of searches that is answered with 503, by a seeded dice. */
  refusedShare?: number;
  /** Searches accepted in any sliding second; the others are answered with 429 and count for nothing. */
  hiddenLimit?: number | null;
  /** The next search is answered with 503 and asks for a pause of this length. */
  pauseOnceMs?: number;
  /** How long after a search arrives it is answered. */
  latencyMs?: number;
}

/** What the service has seen since it was last asked. */
export interface PaceServiceReport {
  calls: { atMs: number; status: number }[];
}

let refusedShare = 0;
let hiddenLimit = Number.POSITIVE_INFINITY;
let pauseOnceMs: number | null = null;
let latencyMs = 0;
let calls: PaceServiceReport['calls'] = [];
let acceptedMs: number[] = [];
let seed = 20_231;

const random = (): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};

const assess = (atMs: number): 201 | 429 | 503 => {
  acceptedMs = acceptedMs.filter((acceptedAtMs) => acceptedAtMs > atMs - 1_000);
  if (acceptedMs.length >= hiddenLimit) return 429;
  if (Number.isFinite(hiddenLimit)) acceptedMs.push(atMs);
  return random() < refusedShare ? 503 : 201;
};

/** One hit for a name that says so, as a control search wants it. */
const toAnswer = ({ name, type }: { name: string; type: unknown }): object => {
  const hit = { id: 'listed', name, schema: 'Person', match: true, score: 0.95, topics: ['sanction'] };
  const results = name.endsWith(' Listed') ? [hit] : [];
  return { query: name, type, total: results.length, results };
};

const codes = { 429: 'rate_limit_exceeded', 503: 'service_unavailable' };

const server = createServer((request, response) => {
  const atMs = performance.now();
  let body = '';
  request.setEncoding('utf8').on('data', (piece: string) => {
    body += piece;
  });
  request.on('end', () => {
    const answer = (status: number, value: object, headers = {}): void => {
      const write = (): unknown =>
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
      if (latencyMs === 0 || request.method === 'GET') write();
      else setTimeout(write, latencyMs);
    };
    if (request.method === 'GET') return answer(200, { public_key: 'public_sandbox_x', is_test: true });
    if (pauseOnceMs !== null) {
      const seconds = pauseOnceMs / 1_000;
      pauseOnceMs = null;
      calls.push({ atMs, status: 503 });
      return answer(503, { error: { type: codes[503] } }, { 'retry-after': String(seconds) });
    }
    const status = assess(atMs);
    calls.push({ atMs, status });
    if (status !== 201) return answer(status, { error: { type: codes[status] } });
    answer(201, toAnswer(JSON.parse(body)));
  });
});

process.on('message', (order: PaceServiceOrder | 'report') => {
  if (order === 'report') {
    process.send?.({ calls } satisfies PaceServiceReport);
    calls = [];
    return;
  }
  refusedShare = order.refusedShare ?? refusedShare;
  pauseOnceMs = order.pauseOnceMs ?? null;
  latencyMs = order.latencyMs ?? latencyMs;
  if (order.hiddenLimit !== undefined) hiddenLimit = order.hiddenLimit ?? Number.POSITIVE_INFINITY;
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the service has no port');
  process.send?.({ url: `http://127.0.0.1:${address.port}` });
});
