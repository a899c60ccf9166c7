import { createServer, type Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How the stub answers from now on; what an order leaves out stays as it was. */
export interface StubOrder {
  /** The share of names with two matches; every tenth of those has a hit. */
  matchShare?: number;
  /** The share of names whose answer is another than without this: one match more. */
  changedShare?: number;
  /** The share of searches that are refused with 503. */
  refusedShare?: number;
}

/** The searches since the last report. */
export interface StubReport {
  searches: number;
  /** When each arrived, in milliseconds. */
  arrivedMs: number[];
  /** The longest time for which this process read nothing, in milliseconds: arrivals are as uncertain as that. */
  gapMs: number;
}

const order: Required<StubOrder> = { matchShare: 0.2, changedShare: 0, refusedShare: 0 };
const gap = monitorEventLoopDelay({ resolution: 5 });
let arrivedMs: number[] = [];
let searches = 0;

const toMatch = (name: string, hash: number, rank: number, isHit: boolean): object => ({
  id: `amla_${hash.toString(36).padStart(16, 'q7Rk')}${rank}`,
  name: `${name} Petrov-Vodkin`,
  schema: 'Person',
  match: isHit,
  score: 0.9 - rank * 0.06,
  topics: ['sanction', 'role.pep'],
  birth_date: ['1961-04-12', '1961'],
  country: ['ru', 'cy'],
});

/** FNV-1a and a final mix: names that differ in one digit have nothing in common. */
const hashName = (name: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
};

const toSearchAnswer = (requestBody: string): string => {
  const { type, name }: { type: unknown; name: string } = JSON.parse(requestBody);
  const hash = hashName(name);
  const matches = hash % 10_000 < order.matchShare * 10_000 ? 2 : 0;
  const isChanged = Math.floor(hash / 10_000) % 10_000 < order.changedShare * 10_000;
  const isHit = hash % 10 === 0;
  const results: object[] = [];
  for (let rank = 1; rank <= matches + Number(isChanged); rank += 1) {
    results.push(toMatch(name, hash, rank, isHit && rank === 1));
  }
  return JSON.stringify({ query: name, type, total: results.length, results });
};

const toResponse = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nx-request-id: req_${searches}\r\n\r\n${body}`;

const publicKey = JSON.stringify({ public_key: 'public_sandbox_stub', is_test: true });
const refusal = JSON.stringify({ error: 'unavailable' });
// The same ones are refused in each round: an even series without a period.
let turn = 0;
const isRefused = (): boolean => {
  turn = (turn + 0.618_033_988_75) % 1;
  return turn < order.refusedShare;
};

const answer = (head: string, body: string): string => {
  if (!head.startsWith('POST /v1/aml/search ')) return toResponse('200 OK', publicKey);
  searches += 1;
  arrivedMs.push(performance.now());
  return isRefused() ? toResponse('503 Service Unavailable', refusal) : toResponse('201 Created', toSearchAnswer(body));
};

/** HTTP/1.1 without anything that our clients do not send: node:http would bound what is measured. */
const serve = (socket: Socket): void => {
  let pending: Buffer | null = null;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (piece: Buffer) => {
    let bytes: Buffer = pending === null ? piece : Buffer.concat([pending, piece]);
    pending = null;
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n');
      const head = end < 0 ? '' : bytes.toString('latin1', 0, end);
      const [, length = '0'] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
      const next = end + 4 + Number(length);
      if (end < 0 || bytes.length < next) break;
      socket.write(answer(head, bytes.toString('utf8', end + 4, next)));
      bytes = bytes.subarray(next);
    }
    if (bytes.length > 0) pending = bytes;
  });
};

const report = (): StubReport => {
  const found = { searches: arrivedMs.length, arrivedMs, gapMs: gap.max / 1e6 };
  arrivedMs = [];
  gap.reset();
  return found;
};

gap.enable();
process.on('message', (message: StubOrder | 'report') => {
  if (message === 'report') process.send?.(report());
  else Object.assign(order, message);
});
process.on('disconnect', () => process.exit());
const server = createServer(serve).listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the stub has no port');
  process.send?.(`http://127.0.0.1:${address.port}/v1`);
});
