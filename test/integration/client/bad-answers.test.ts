import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { NightscreenError } from '../../../src/errors.js';
import { answerJson, openClient, type Received, type TestService, toEmptyResult } from './start-service.js';

const name = 'Plantina Nominova';
let service: TestService;

const searchOnce = async (
  handle: (request: Received, response: ServerResponse) => void,
  maxResponseBytes = 100_000,
): Promise<NightscreenError> => {
  const opened = await openClient(handle, { maxResponseBytes });
  service = opened.service;
  return opened.client.aml.search({ type: 'person', name }).then(
    () => expect.unreachable('a bad answer was taken for an answer'),
    (reason: NightscreenError) => reason,
  );
};

const match = {
  id: 'm1',
  name,
  schema: 'Person',
  match: true,
  score: 0.9,
  topics: ['sanction'],
  birth_date: ['1960'],
  country: ['dk'],
};
/** What a listed party may lack without being no match. */
const listFields = ['topics', 'birth_date', 'country'];
const result = { query: name, type: 'person', total: 1, results: [match] };
const nothing = { ...result, total: 0, results: [] };
const below = { ...match, match: false };
const valid = JSON.stringify(result);
const json = (value: unknown): string => JSON.stringify(value);
const without = (value: object, field: string): object =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== field));

test.each<[string, number, string, string]>([
  ['an HTML page with 200', 200, '<html>maintenance</html>', 'unexpected_status'],
  ['an HTML page with 201', 201, '<html>maintenance</html>', 'not_json'],
  ['a valid result with 200', 200, valid, 'unexpected_status'],
  ['an empty 204', 204, '', 'unexpected_status'],
  ['an empty 201', 201, '', 'not_json'],
  ['a cut JSON text', 201, valid.slice(0, -3), 'not_json'],
  ['a NaN score', 201, valid.replace('0.9', 'NaN'), 'not_json'],
  ['an endless score', 201, valid.replace('0.9', '1e999'), 'invalid_body'],
  ['a null', 201, 'null', 'invalid_body'],
  ['an empty list', 201, '[]', 'invalid_body'],
  ['an error body with 201', 201, json({ error: { type: 'service_unavailable' } }), 'invalid_body'],
  ['results missing', 201, json({ query: name, type: 'person', total: 0 }), 'invalid_body'],
  ['results null', 201, json({ ...result, results: null }), 'invalid_body'],
  ['total missing', 201, json(without(result, 'total')), 'invalid_body'],
  ['total below the number of results', 201, json({ ...result, total: 0 }), 'invalid_body'],
  ['a negative total', 201, json({ ...result, results: [], total: -1 }), 'invalid_body'],
  ['a broken total', 201, json({ ...result, total: 1.5 }), 'invalid_body'],
  ['a match as text', 201, json({ ...result, results: [{ ...match, match: 'true' }] }), 'invalid_body'],
  ['an unknown type', 201, json({ ...result, type: 'vessel' }), 'invalid_body'],
  ['another name echoed', 201, json({ ...result, query: 'Somebody Else' }), 'echo_mismatch'],
  ['another type echoed', 201, json({ ...result, type: 'entity' }), 'echo_mismatch'],
  ['an error beside no results', 201, json({ ...nothing, error: 'index unavailable' }), 'failed_answer'],
  ['errors in its own facts', 201, json({ ...nothing, meta: { errors: [{ source: 'ofac' }] } }), 'failed_answer'],
  ['a part of a search', 201, json({ ...nothing, complete: false }), 'failed_answer'],
  ['a part of a search without hits', 201, json({ ...result, results: [below], status: 'PARTIAL' }), 'failed_answer'],
  ['no results of a list that goes on', 201, json({ ...nothing, has_more: true }), 'failed_answer'],
  ['results named twice', 201, valid.replace(/}$/, ',"results":[]}'), 'duplicate_key'],
  ['results named twice, once escaped', 201, valid.replace(/}$/, ',"r\\u0065sults":[]}'), 'duplicate_key'],
  ['a flag named twice', 201, valid.replace('"match":true', '"match":true,"match":false'), 'duplicate_key'],
  ...Object.keys(match)
    .filter((field) => !listFields.includes(field))
    .map((field): [string, number, string, string] => [
      `a match without ${field}`,
      201,
      json({ ...result, results: [without(match, field)] }),
      'invalid_body',
    ]),
])('%s is never an answer, is not asked for again and shows no name', async (_title, status, body, code) => {
  const error = await searchOnce((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  expect(error).toMatchObject({ name: 'ResponseError', code, status, body });
  expect(error.message).not.toMatch(/Plantina|Nominova|Somebody|plantedKey/);
  expect(service.received).toHaveLength(1);
});

test('the message of a bad answer names the place', async () => {
  const error = await searchOnce((_request, response) =>
    answerJson(response, 201, { ...result, results: [{ ...match, score: null }] }),
  );
  expect(error.message).toContain('results[0].score');
});

test.each([
  ['are missing', listFields.reduce(without, match)],
  ['are null', { ...match, topics: null, birth_date: null, country: null }],
])('a match whose topics, birth dates and countries %s is a match without any', async (_title, sparse) => {
  const { client } = await openClient((_request, response) =>
    answerJson(response, 201, { ...result, results: [sparse] }),
  );
  const { data } = await client.aml.search({ type: 'person', name });
  expect(data.results).toEqual([{ ...match, topics: [], birth_date: [], country: [] }]);
});

test.each<[string, object, string | undefined]>([
  [
    'with nothing but good news is whole',
    { ...nothing, error: null, errors: [], status: 'ok', warnings: ['slow'] },
    undefined,
  ],
  [
    'that is shorter than its total, and says so, is known to be',
    { ...result, results: [below], total: 9, truncated: true },
    undefined,
  ],
  ['with a hit is not lost because it says that it failed', { ...result, errors: ['ofac'] }, 'errors'],
  ['with a hit and no more than its total may be short all the same', { ...result, truncated: true }, 'truncated'],
])('an answer %s', async (_title, body, incompleteBy) => {
  const { client } = await openClient((_request, response) => answerJson(response, 201, body));
  const { data } = await client.aml.search({ type: 'person', name });
  expect(data.incompleteBy).toBe(incompleteBy);
  expect(Object.keys(data)).toEqual(['query', 'type', 'total', 'results', ...(incompleteBy ? ['incompleteBy'] : [])]);
});

test('the same key in two results, and within a text, is no key named twice', async () => {
  const others = [match, { ...match, id: 'm2', name: '", "id": "m1", "' }];
  const { client } = await openClient((_request, response) =>
    answerJson(response, 201, {
      ...result,
      total: 2,
      results: others,
      took: { id: [{ id: 1 }, { id: 2 }], query: '\\' },
    }),
  );
  expect((await client.aml.search({ type: 'person', name })).data.results).toHaveLength(2);
});

test('bytes that are no UTF-8 are never an answer', async () => {
  const error = await searchOnce((_request, response) => {
    response.writeHead(201).end(Buffer.from(valid.replace('Plantina', 'Pl\u00e4ntina'), 'latin1'));
  });
  expect(error.code).toBe('not_json');
});

test('an endless body is cut off and never an answer', async () => {
  let writtenBytes = 0;
  const error = await searchOnce((_request, response) => {
    response.writeHead(201, { 'content-type': 'application/json' });
    const piece = Buffer.alloc(65_536, ' ');
    const write = (): void => {
      while (!response.destroyed && writtenBytes < 200_000_000) {
        writtenBytes += piece.length;
        if (!response.write(piece)) break;
      }
    };
    response.on('drain', write);
    write();
  });
  expect(error).toMatchObject({ name: 'ResponseError', code: 'too_large' });
  expect(writtenBytes).toBeLessThan(50_000_000);
});

test('a redirect is an error and is not followed', async () => {
  const error = await searchOnce((_request, response) => {
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  expect(error).toMatchObject({ name: 'ApiError', code: 'http_307', status: 307 });
  expect(service.received.map((request) => request.url)).toEqual(['/aml/search']);
});

test('unknown fields and an echo in another spelling are tolerated, and the body is kept as received', async () => {
  const body = json({ ...result, query: '  PLANTINA  nominova ', took_ms: 3, results: [{ ...match, hue: 'red' }] });
  const { client } = await openClient((_request, response) => {
    response.writeHead(201, { 'x-request-id': 'req_1' }).end(body);
  });
  const answer = await client.aml.search({ type: 'person', name });
  expect(answer).toMatchObject({ body, status: 201, requestId: 'req_1', attempts: 1 });
  expect(answer.data.results).toEqual([match]);
});

test('answers crossed between concurrent calls are caught by the echo, every one', async () => {
  const held: [Received, ServerResponse][] = [];
  const handle = (request: Received, response: ServerResponse): void => {
    held.push([request, response]);
    if (held.length < 20) return;
    for (const [index, [, heldResponse]] of held.entries()) {
      const other = held[(index + 1) % held.length]?.[0] ?? request;
      answerJson(heldResponse, 201, toEmptyResult(other));
    }
  };
  const { client } = await openClient(handle, { rate: { perSecond: 1_000, concurrency: 20 } });
  const searches = Array.from({ length: 20 }, (_, index) => client.aml.search({ type: 'person', name: `N ${index}` }));
  const codes = (await Promise.allSettled(searches)).map((search) =>
    search.status === 'rejected' ? search.reason.code : 'taken',
  );
  expect(codes).toEqual(Array(20).fill('echo_mismatch'));
});
