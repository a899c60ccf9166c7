import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Client, Clock, InvitationInput } from '../../../src/client/index.js';
import { systemClock } from '../../../src/clock.js';
import { answerJson, openClient, type Received, type TestService } from './start-service.js';

const recipient = 'plantina@nominova.example';
const input: InvitationInput = { workflowToken: 'wf_1', channel: 'email', recipient, reference: 'r-1' };

let service: TestService;
let client: Client;
let waitsMs: number[];

/** Waits of a second and more are noted and cut short. */
const hastyClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => {
    if (ms >= 1_000) waitsMs.push(ms);
    return systemClock.sleep(ms >= 1_000 ? 5 : ms, signal);
  },
};

const start = async (handle: (request: Received, response: ServerResponse) => void, more = {}): Promise<Client> => {
  waitsMs = [];
  ({ service, client } = await openClient(handle, { clock: hastyClock, ...more }));
  return client;
};

const toQuery = ({ url }: Received): Record<string, string> =>
  Object.fromEntries(new URL(url, 'http://service').searchParams);
const toPage = (invitations: object[], page = 1, perPage = 20, total = invitations.length): object => ({
  invitations,
  pagination: { page, perPage, total, totalPages: Math.ceil(total / perPage) },
});

type Fault =
  | 'none'
  | 'cut_before'
  | 'cut_after'
  | '500_before'
  | '500_after'
  | '503_before'
  | 'unread_201'
  | 'page_200'
  | 'hang_before'
  | 'hang_after';

/** Invitations that are kept and listed as the interface says; each creation meets the next of `faults`, none after the last. */
const startInvitations = async (faults: Fault[], answerList?: (response: ServerResponse) => void): Promise<Client> => {
  const kept: object[] = [];
  let creations = 0;
  return start((request, response) => {
    if (request.method === 'GET') {
      if (answerList) return answerList(response);
      const { reference } = toQuery(request);
      return answerJson(response, 200, toPage(kept.filter((one) => 'reference' in one && one.reference === reference)));
    }
    const fault = faults[creations] ?? 'none';
    creations += 1;
    const { reference } = JSON.parse(request.body);
    const createdAt = new Date().toISOString();
    const invitation = { token: `adi_${creations}`, status: 'pending', reference, recipient, createdAt };
    if (!/before|page/.test(fault)) kept.unshift(invitation);
    if (fault.startsWith('hang')) return;
    if (fault.startsWith('cut')) return void response.socket?.destroy();
    if (fault === 'unread_201') return void response.writeHead(201).end('{"token":');
    if (fault === 'page_200') return void response.writeHead(200).end('<html>maintenance</html>');
    if (/^50/.test(fault)) return answerJson(response, Number(fault.slice(0, 3)), {});
    return answerJson(response, 201, invitation);
  });
};

const countSent = (): number => service.received.filter(({ method }) => method === 'POST').length;
const countLookUps = (): number => service.received.filter(({ method }) => method === 'GET').length;

describe('an invitation whose outcome is unknown', () => {
  test.each<[Fault, string]>([
    ['cut_after', 'ConnectionError'],
    ['500_after', 'ServerError'],
    ['unread_201', 'ResponseError'],
  ])('after %s is found by its reference and not sent again', async (fault) => {
    const { invitations } = await startInvitations([fault]);
    const answer = await invitations.create(input);
    expect(answer).toMatchObject({ data: { token: 'adi_1', reference: 'r-1' }, status: 200, attempts: 2 });
    expect([countSent(), countLookUps()]).toEqual([1, 1]);
    expect(waitsMs).toEqual([1_000]);
    const lookUp = service.received.at(-1);
    const expected = { reference: 'r-1', workflow_token: 'wf_1', channel: 'email', per_page: '100' };
    expect(lookUp && toQuery(lookUp)).toEqual(expected);
  });

  test.each<Fault>(['cut_before', '500_before', '503_before', 'page_200'])(
    'after %s is sent once more, but not before two look-ups found nothing',
    async (fault) => {
      const { invitations } = await startInvitations([fault]);
      const answer = await invitations.create(input);
      expect(answer).toMatchObject({ data: { token: 'adi_2', status: 'pending' }, status: 201, attempts: 4 });
      expect(service.received.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'POST']);
      expect(waitsMs).toEqual([1_000, 4_000]);
    },
  );

  test('is sent three times at most, and looked up after the last', async () => {
    const { invitations } = await startInvitations(Array(9).fill('500_before'));
    await expect(invitations.create(input)).rejects.toMatchObject({ name: 'ServerError', status: 500 });
    expect([countSent(), countLookUps()]).toEqual([3, 6]);
  });

  test('is sent as often as maxRetries allows, and looked up all the same', async () => {
    const { invitations } = await startInvitations(Array(9).fill('500_before'));
    await expect(invitations.create(input, { maxRetries: 0 })).rejects.toMatchObject({ name: 'ServerError' });
    expect([countSent(), countLookUps()]).toEqual([1, 2]);
  });

  test('is found even when only the third sending did the work', async () => {
    const { invitations } = await startInvitations(['cut_before', 'cut_before', 'cut_after']);
    expect((await invitations.create(input)).data.token).toBe('adi_3');
    expect(countSent()).toBe(3);
  });

  test('that the service said it created is never sent again, even when it cannot be found', async () => {
    const { invitations } = await startInvitations(['unread_201'], (response) => answerJson(response, 200, toPage([])));
    await expect(invitations.create(input)).rejects.toMatchObject({ name: 'ResponseError', code: 'not_json' });
    expect([countSent(), countLookUps()]).toEqual([1, 2]);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['fails', (response) => answerJson(response, 500, {})],
    ['is refused', (response) => answerJson(response, 401, {})],
    ['is cut', (response) => void response.socket?.destroy()],
    ['cannot be read', (response) => answerJson(response, 200, { nothing: true })],
    ['shows other references', (response) => answerJson(response, 200, toPage([{ status: 'sent', reference: 'r-2' }]))],
    ['shows no references', (response) => answerJson(response, 200, toPage([{ status: 'sent' }]))],
    ['counts what it does not show', (response) => answerJson(response, 200, toPage([], 1, 20, 4))],
  ])('is not sent again when the look-up %s: the first error is thrown', async (_title, answerList) => {
    const { invitations } = await startInvitations(['500_before'], answerList);
    await expect(invitations.create(input)).rejects.toMatchObject({ name: 'ServerError', method: 'POST' });
    expect(countSent()).toBe(1);
  });

  test('with a reference that several have is an error of its own, without the reference or recipient', async () => {
    const twice = [1, 2].map((index) => ({
      token: `adi_${index}`,
      status: 'sent',
      reference: 'r-1',
      recipient,
      createdAt: new Date().toISOString(),
    }));
    const { invitations } = await startInvitations(['cut_after'], (response) =>
      answerJson(response, 200, toPage(twice)),
    );
    const created = invitations.create(input);
    await expect(created).rejects.toMatchObject({
      name: 'NightscreenError',
      code: 'reference_not_unique',
      cause: { name: 'ConnectionError' },
    });
    await expect(created).rejects.not.toThrow(/r-1|plantina/);
    expect(countSent()).toBe(1);
  });

  test('whose time was up is found by its reference', async () => {
    const { invitations } = await startInvitations(['hang_after']);
    expect(await invitations.create(input, { timeoutMs: 60 })).toMatchObject({ data: { token: 'adi_1' }, status: 200 });
    expect([countSent(), countLookUps()]).toEqual([1, 1]);
  });

  test('whose time was up is never sent again, because the service may still be at it', async () => {
    const { invitations } = await startInvitations(['hang_before']);
    const created = invitations.create(input, { timeoutMs: 60 });
    await expect(created).rejects.toMatchObject({ name: 'TimeoutError', method: 'POST' });
    expect([countSent(), countLookUps()]).toEqual([1, 2]);
  });

  const toListed = (more: object, minutesAgo = 0): object => {
    const createdAt = new Date(Date.now() - minutesAgo * 60_000).toISOString();
    return { token: 'adi_9', status: 'sent', reference: 'r-1', recipient, createdAt, ...more };
  };
  const list =
    (...listed: object[]) =>
    (response: ServerResponse): void =>
      answerJson(response, 200, toPage(listed));

  test.each<[string, object]>([
    ['went to somebody else', toListed({ recipient: 'other@nominova.example' })],
    ['shows no recipient', toListed({ recipient: null })],
    ['was created long before', toListed({}, 6)],
    ['does not say when it was created', toListed({ createdAt: null })],
  ])('is not taken for one with its reference that %s: the first error is thrown', async (_title, listed) => {
    const { invitations } = await startInvitations(['500_before'], list(listed));
    await expect(invitations.create(input)).rejects.toMatchObject({ name: 'ServerError', method: 'POST' });
    expect([countSent(), countLookUps()]).toEqual([1, 2]);
  });

  test.each<[string, object]>([
    ['by a clock that is four minutes behind', toListed({}, 4)],
    ['when its recipient is listed in capitals', toListed({ recipient: recipient.toUpperCase() })],
  ])('is found %s', async (_title, listed) => {
    const { invitations } = await startInvitations(['cut_after'], list(listed));
    expect((await invitations.create(input)).data.token).toBe('adi_9');
  });

  test('is found beside older ones with its reference', async () => {
    const older = [toListed({ token: 'adi_1' }, 9_000), toListed({ token: 'adi_2', recipient: '+45 1' })];
    const { invitations } = await startInvitations(['cut_after'], list(toListed({}), ...older));
    expect((await invitations.create(input)).data.token).toBe('adi_9');
  });

  test('by SMS is found whatever the spaces in the number that is listed', async () => {
    const { invitations } = await startInvitations(['cut_after'], list(toListed({ recipient: '+45 12 34 56 78' })));
    const answer = await invitations.create({ ...input, channel: 'sms', recipient: '+4512345678' });
    expect(answer.data.token).toBe('adi_9');
  });

  test('is given up at once by a wait signal between two look-ups', async () => {
    const stop = new AbortController();
    const slowClock: Clock = {
      ...systemClock,
      sleep: (ms, signal) => {
        if (ms === 4_000) setTimeout(() => stop.abort(new Error('stop')), 20);
        return systemClock.sleep(ms === 1_000 ? 1 : ms, signal);
      },
    };
    const { invitations } = await start(
      (request, response) => {
        if (request.method === 'GET') answerJson(response, 200, toPage([]));
        else answerJson(response, 500, {});
      },
      { clock: slowClock },
    );
    const startedMs = performance.now();
    await expect(invitations.create(input, { waitSignal: stop.signal })).rejects.toThrow('stop');
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    expect([countSent(), countLookUps()]).toEqual([1, 1]);
  });

  test.each<Fault>(['cut_after', '500_before', '503_before', 'unread_201'])(
    'after %s and without a reference is neither looked up nor sent again',
    async (fault) => {
      const { invitations } = await startInvitations([fault]);
      const { reference: _none, ...others } = input;
      await expect(invitations.create(others)).rejects.toMatchObject({ method: 'POST' });
      expect(service.received).toHaveLength(1);
    },
  );

  test('is given up with the reason when aborted while waiting', async () => {
    const stop = new AbortController();
    const { invitations } = await startInvitations(['cut_after'], () => stop.abort(new Error('stop')));
    await expect(invitations.create(input, { signal: stop.signal })).rejects.toThrow('stop');
    expect(countSent()).toBe(1);
  });

  test('lets its observer note every sending and every look-up', async () => {
    const { invitations } = await startInvitations(['cut_before']);
    const reported: string[] = [];
    const observer = {
      leaving: async (operation: string) => void reported.push(`leaving ${operation}`),
      started: ({ operation }: { operation: string }) => void reported.push(operation),
      ended: (_attempt: unknown, { outcome }: { outcome: string }) => void reported.push(outcome),
    };
    await invitations.create(input, { observer });
    const lookUp = ['leaving invitations.list', 'invitations.list', 'ok'];
    const creation = ['leaving invitations.create', 'invitations.create'];
    expect(reported).toEqual([...creation, 'connection', ...lookUp, ...lookUp, ...creation, 'ok']);
  });
});

test.each([400, 401, 402, 404, 422, 429])('a refusal with %i is looked up by nobody', async (status) => {
  const { invitations } = await start((_request, response) => answerJson(response, status, {}));
  await expect(invitations.create(input)).rejects.toMatchObject({ status });
  expect(service.received.every(({ method }) => method === 'POST')).toBe(true);
});

test('the workflow goes out under the name that the settings give', async () => {
  const settings = { invitations: { workflowField: 'workflow_id' } };
  const { invitations } = await start(
    (_request, response) => answerJson(response, 201, { status: 'pending', reference: 'r-1' }),
    settings,
  );
  await invitations.create(input);
  expect(JSON.parse(service.received[0]?.body ?? '')).toEqual({
    workflow_id: 'wf_1',
    channel: 'email',
    recipient,
    reference: 'r-1',
  });
});

const toInvitation = (index: number): object => ({ token: `adi_${index}`, status: 'sent' });
const collect = async (items: AsyncIterable<{ token?: string | null | undefined }>): Promise<unknown[]> => {
  const tokens: unknown[] = [];
  for await (const { token } of items) tokens.push(token);
  return tokens;
};

test.each([0, 1, 9, 10, 11, 35])('a list of %i invitations is walked whole, once, in order', async (size) => {
  const all = Array.from({ length: size }, (_, index) => toInvitation(index));
  const { invitations } = await start((request, response) => {
    const { page, per_page: perPage, ...filters } = toQuery(request);
    expect(filters).toEqual({ channel: 'sms' });
    const first = (Number(page) - 1) * Number(perPage);
    answerJson(response, 200, toPage(all.slice(first, first + Number(perPage)), Number(page), Number(perPage), size));
  });
  const tokens = await collect(invitations.list({ per_page: 10, channel: 'sms' }));
  expect(tokens).toEqual(all.map((_, index) => `adi_${index}`));
  expect(service.received).toHaveLength(Math.max(1, Math.ceil(size / 10)));
});

test.each<[string, (page: number) => object, string, string]>([
  ['shows page 1 again', () => toPage([toInvitation(1)], 1, 1, 9), 'list_page_not_echoed', 'page 2'],
  [
    'is empty although more is announced',
    (page) => toPage(page === 3 ? [] : [toInvitation(page)], page, 1, 9),
    'list_page_empty',
    'page 3',
  ],
])('a list that %s ends with an error naming the page', async (_title, toAnswer, code, where) => {
  const { invitations } = await start((request, response) =>
    answerJson(response, 200, toAnswer(Number(toQuery(request)['page']))),
  );
  const walked = collect(invitations.list({ per_page: 1 }));
  await expect(walked).rejects.toMatchObject({ name: 'ResponseError', code });
  await expect(walked).rejects.toThrow(where);
});

const pagination = { page: 1, perPage: 20, total: 1, totalPages: 1 };
test.each([['data'], ['invitations'], ['autodoc_invitations']])(
  'the list is found under %s, whatever its name, with its unknown fields',
  async (key) => {
    const { invitations } = await start((_request, response) =>
      answerJson(response, 200, { [key]: [{ status: 'waiting', hue: 'red' }], pagination }),
    );
    expect((await invitations.page()).data).toEqual({ invitations: [{ status: 'waiting', hue: 'red' }], pagination });
  },
);

test.each<[string, unknown, string]>([
  ['no list', { pagination }, 'holds 0 lists'],
  ['two lists', { invitations: [], errors: [], pagination }, 'holds 2 lists'],
  ['no pagination', { invitations: [] }, 'pagination'],
  ['a bare list', [], 'expected object'],
  ['an invitation without a status', { data: [{ token: 'adi_1' }], pagination }, 'invitations[0].status'],
  ['a date that is none', { data: [{ status: 'sent', sentAt: 'today' }], pagination }, 'invitations[0].sentAt'],
])('a page with %s is a ResponseError that says so', async (_title, body, complaint) => {
  const { invitations } = await start((_request, response) => answerJson(response, 200, body));
  const page = invitations.page();
  await expect(page).rejects.toMatchObject({ name: 'ResponseError', code: 'invalid_body' });
  await expect(page).rejects.toThrow(complaint);
});

const danish = { code: 'da', name: 'Danish' };
test.each([[[danish]], [{ locales: [danish] }], [{ data: [danish], count: 1 }]])(
  'locales are read from %j',
  async (body) => {
    const { invitations } = await start((_request, response) => answerJson(response, 200, body));
    expect((await invitations.locales()).data).toEqual({ locales: [danish] });
  },
);

test.each<[unknown, string]>([
  [{ one: [], two: [] }, 'holds 2 lists'],
  [{}, 'holds 0 lists'],
  [[{ code: 'da' }], 'name'],
  ['da', 'expected object'],
])('%j is no list of locales', async (body, complaint) => {
  const { invitations } = await start((_request, response) => answerJson(response, 200, body));
  await expect(invitations.locales()).rejects.toMatchObject({ name: 'ResponseError', code: 'invalid_body' });
  await expect(invitations.locales()).rejects.toThrow(complaint);
});
