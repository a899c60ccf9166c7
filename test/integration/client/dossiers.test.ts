import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.js';
import type { DossierListQuery } from '../../../src/client/dossiers.js';
import { answerJson, openClient, type TestService } from './start-service.js';

let service: TestService;

const toDossier = (index: number): object => ({
  id: `dossier_${index}`,
  token: null,
  type: 'kyc',
  status: index % 2 === 0 ? 'approved' : 'paused_by_a_new_rule',
  risk_score: null,
  created_at: '2025-01-02T03:04:05+05:30',
  updated_at: '2025-01-02T03:04:05.123Z',
  completed_at: null,
  something_new: true,
});

const startClient = async (answer: (query: URLSearchParams) => unknown): Promise<Client> => {
  const opened = await openClient((request, response) =>
    answerJson(response, 200, answer(new URL(request.url, 'http://service').searchParams)),
  );
  service = opened.service;
  return opened.client;
};

/** A list of `size` dossiers that keeps to the interface; `isCursorShown` is what the interface leaves open. */
const serveList =
  (size: number, isCursorShown: boolean) =>
  (query: URLSearchParams): unknown => {
    const perPage = Number(query.get('per_page') ?? 50);
    const after = query.get('starting_after');
    const start = after === null ? (Number(query.get('page') ?? 1) - 1) * perPage : Number(after.split('_')[1]) + 1;
    const end = Math.min(size, start + perPage);
    const dossiers = Array.from({ length: Math.max(0, end - start) }, (_, offset) => toDossier(start + offset));
    if (after === null) {
      return {
        dossiers,
        page: 1 + start / perPage,
        per_page: perPage,
        total: size,
        total_pages: Math.ceil(size / perPage),
      };
    }
    const nextCursor = isCursorShown && end < size ? `dossier_${end - 1}` : null;
    return { dossiers, has_more: end < size, ...(isCursorShown ? { next_cursor: nextCursor } : {}) };
  };

const collectIds = async (client: Client, query: DossierListQuery): Promise<string[]> => {
  const ids: string[] = [];
  for await (const dossier of client.dossiers.list(query)) ids.push(dossier.id);
  return ids;
};

test.each([0, 1, 9, 10, 11, 20, 95])(
  'a list of %i dossiers is walked whole, once, in order, to its end',
  async (size) => {
    const expected = Array.from({ length: size }, (_, index) => `dossier_${index}`);
    for (const isCursorShown of [true, false]) {
      const client = await startClient(serveList(size, isCursorShown));
      expect(await collectIds(client, { per_page: 10 })).toEqual(expected);
      expect(service.received).toHaveLength(Math.max(1, Math.ceil(size / 10)));
    }
  },
);

test('the walk begins by offset, goes on by key, keeps its filters and fetches no page before it is wanted', async () => {
  const client = await startClient(serveList(30, true));
  const dateFrom = new Date('2025-01-01T00:00:00Z');
  const pages = client.dossiers
    .pages({ per_page: 10, status: 'approved', date_from: dateFrom })
    [Symbol.asyncIterator]();
  await pages.next();
  expect(service.received).toHaveLength(1);
  await pages.next();
  await pages.return?.();
  const [first, second] = service.received.map(({ url }) =>
    Object.fromEntries(new URL(url, 'http://service').searchParams),
  );
  const filters = { per_page: '10', status: 'approved', date_from: '2025-01-01T00:00:00.000Z' };
  expect(first).toEqual({ ...filters, page: '1' });
  expect(second).toEqual({ ...filters, starting_after: 'dossier_9' });
});

test('a walk can start after a known dossier', async () => {
  const client = await startClient(serveList(13, true));
  expect(await collectIds(client, { per_page: 10, starting_after: 'dossier_9' })).toEqual([
    'dossier_10',
    'dossier_11',
    'dossier_12',
  ]);
});

const first = { page: 1, per_page: 1, total: 9, total_pages: 9 };
test.each<[string, (after: string | null) => unknown, string]>([
  [
    'a cursor that comes again',
    (after) =>
      after === null
        ? { ...first, dossiers: [toDossier(1)] }
        : { dossiers: [toDossier(1)], has_more: true, next_cursor: 'dossier_1' },
    'list_cursor_repeated',
  ],
  [
    'an empty page that announces more',
    (after) =>
      after === null
        ? { ...first, dossiers: [toDossier(1)] }
        : { dossiers: [], has_more: true, next_cursor: 'dossier_7' },
    'list_page_empty',
  ],
  [
    'an end right after a page that announced more, because its last dossier is gone',
    (after) => (after === null ? { ...first, dossiers: [toDossier(1)] } : { dossiers: [], has_more: false }),
    'list_cursor_gone',
  ],
  [
    'an end that says that it failed',
    (after) =>
      after === null ? { ...first, dossiers: [toDossier(1)] } : { dossiers: [], has_more: false, errors: ['x'] },
    'failed_answer',
  ],
  ['a numbered page in answer to a key', () => ({ ...first, dossiers: [toDossier(1)] }), 'invalid_body'],
])('%s ends the walk with an error', async (_title, answer, code) => {
  const client = await startClient((query) => answer(query.get('starting_after')));
  await expect(collectIds(client, { per_page: 1 })).rejects.toMatchObject({ name: 'ResponseError', code });
  expect(service.received).toHaveLength(2);
});

test('the error of a list that does not advance names the page', async () => {
  const client = await startClient((query) =>
    query.has('starting_after') ? { dossiers: [], has_more: true } : { ...first, dossiers: [toDossier(1)] },
  );
  await expect(collectIds(client, {})).rejects.toThrow('page 2');
});

test.each([
  { id: undefined },
  { updated_at: undefined },
  { updated_at: 'yesterday' },
  { created_at: '2025-13-45T00:00:00Z' },
  { risk_score: 'high' },
  { status: null },
])('a dossier with %j is never taken', async (wrong) => {
  const client = await startClient(() => ({
    ...first,
    total: 1,
    total_pages: 1,
    dossiers: [{ ...toDossier(1), ...wrong }],
  }));
  await expect(client.dossiers.page({})).rejects.toMatchObject({ name: 'ResponseError', code: 'invalid_body' });
  await expect(client.dossiers.page({})).rejects.toThrow(`dossiers[0].${Object.keys(wrong)[0]}`);
});

test.each([{ page: 0 }, { page: 1_001 }, { per_page: 101 }, { per_page: 1.5 }])(
  '%j is refused before it is sent',
  async (query) => {
    const client = await startClient(serveList(1, true));
    await expect(client.dossiers.page(query)).rejects.toMatchObject({ name: 'ConfigError' });
    expect(service.received).toHaveLength(0);
  },
);
