import { createServer } from 'node:http';

/** What the stub service reports the process that started it, and how many searches it has answered when it is asked. */
export type StubMessage = { kind: 'ready'; url: string } | { kind: 'count'; searches: number };

const toMatch = (rank: number): object => ({
  id: `amla_${String(rank).padStart(24, 'q7Rk')}`,
  name: `Aleksandr Nikolayevich Petrov-Vodkin ${rank}`,
  schema: 'Person',
  match: rank === 1,
  score: 0.97 - rank * 0.06,
  topics: ['sanction', 'role.pep'],
  birth_date: ['1961-04-12', '1961'],
  country: ['ru', 'cy'],
});
// Two of three searches of a real night find somebody: a handful of entries is what an answer usually carries.
const results = JSON.stringify([1, 2, 3, 4, 5].map(toMatch));
const publicKey = JSON.stringify({ public_key: 'public_sandbox_stub', is_test: true });

let searches = 0;

const toSearchAnswer = (requestBody: string): string => {
  const { type, name }: { type: unknown; name: unknown } = JSON.parse(requestBody);
  searches += 1;
  return `{"query":${JSON.stringify(name)},"type":${JSON.stringify(type)},"total":5,"results":${results}}`;
};

const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const isSearch = request.method === 'POST' && request.url === '/v1/aml/search';
    const body = isSearch ? toSearchAnswer(Buffer.concat(pieces).toString('utf8')) : publicKey;
    response.writeHead(isSearch ? 201 : 200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-request-id': `req_${searches}`,
    });
    response.end(body);
  });
});

const emit = (message: StubMessage): void => {
  process.send?.(message);
};

process.on('message', () => emit({ kind: 'count', searches }));
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the stub has no port');
  emit({ kind: 'ready', url: `http://127.0.0.1:${address.port}/v1` });
});
