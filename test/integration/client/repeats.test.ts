import { channel } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, buildConnector } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import type { Client, ClientSettings } from '../../../src/client/index.js';
import type { Attempt, AttemptEnd } from '../../../src/client/operation.js';
import { makeScaledClock } from '../../helpers/clocks.js';
import { countBusiestSecond } from '../../helpers/figures.js';
import { answerJson, openClient, type Received, type TestService, toEmptyResult } from './start-service.js';

const toPerson = (number: number) => ({ type: 'person', name: `Customer ${number}` }) as const;
const person = toPerson(0);
let service: TestService;
let client: Client;
let dispatcher: Agent | undefined;
afterEach(async () => {
  await dispatcher?.destroy();
  dispatcher = undefined;
});

const open = async (
  handle: (request: Received, response: ServerResponse) => void,
  more: Partial<ClientSettings> = {},
): Promise<Client> => {
  const quick = {
    rate: { perSecond: 1_000, concurrency: 1 },
    retry: { maxAttempts: 3, baseDelayMs: 1, maxDelayMs: 1 },
  };
  ({ service, client } = await openClient(handle, { ...quick, ...more }));
  return client;
};

describe('an observer that notes attempts', () => {
  const openFailing = (failures: number): Promise<Client> =>
    open((request, response) => {
      const isOver = service.received.length > failures;
      answerJson(response, isOver ? 201 : 503, isOver ? toEmptyResult(request) : {});
    });

  test('is waited for before each attempt', async () => {
    const { aml } = await openFailing(2);
    const reported: string[] = [];
    const observer = {
      leaving: async (operation: string) => {
        reported.push(`leaving ${operation}`);
        await delay(20);
        reported.push('noted');
      },
      started: ({ attempt }: Attempt) => void reported.push(`attempt ${attempt}`),
    };
    expect((await aml.search(person, { observer })).attempts).toBe(3);
    const noted = ['leaving aml.search', 'noted'];
    expect(reported).toEqual([...noted, 'attempt 1', ...noted, 'attempt 2', ...noted, 'attempt 3']);
  });

  test.each(['of the client', 'of the call'])(
    'ends the call when it cannot, and nothing is sent (%s)',
    async (whose) => {
      const observer = { leaving: () => Promise.reject(new Error('no room in the ledger')) };
      const { aml } = await open(
        (_request, response) => answerJson(response, 503, {}),
        whose === 'of the client' ? { observer } : {},
      );
      const searched = aml.search(person, whose === 'of the call' ? { observer } : {});
      await expect(searched).rejects.toThrow('no room in the ledger');
      expect(service.received).toHaveLength(0);
    },
  );

  test('lets nothing leave when somebody asks to stop meanwhile', async () => {
    const { aml } = await openFailing(0);
    const stop = new AbortController();
    const ends: AttemptEnd[] = [];
    const observer = {
      leaving: async () => stop.abort(new Error('asked to stop')),
      ended: (_attempt: Attempt, end: AttemptEnd) => void ends.push(end),
    };
    await expect(aml.search(person, { observer, waitSignal: stop.signal })).rejects.toThrow('asked to stop');
    expect(service.received).toHaveLength(0);
    expect(ends).toMatchObject([{ isSent: false }]);
  });

  test('keeps to the rate when many leave at once after a slow note', async () => {
    const rate = { perSecond: 40, concurrency: 40 };
    const answer = (request: Received, response: ServerResponse) => answerJson(response, 201, toEmptyResult(request));
    const { aml, identify } = await open(answer, { rate });
    const observer = { leaving: () => delay(350 - (performance.now() % 350)) };
    await identify();
    // When they left, not when they arrived: a busy machine, on which the service is this process too, delays each by its own time.
    const leftMs: number[] = [];
    const note = (): void => void leftMs.push(performance.now());
    const leaving = channel('undici:client:sendHeaders');
    leaving.subscribe(note);
    await Promise.all(Array.from({ length: 60 }, (_, number) => aml.search(toPerson(number), { observer })));
    leaving.unsubscribe(note);
    expect([service.received, leftMs].map(({ length }) => length)).toEqual([60, 60]);
    expect(countBusiestSecond(leftMs)).toBeLessThanOrEqual(40);
    const gaps = leftMs.map((atMs, place) => atMs - (leftMs[place - 1] ?? 0));
    // Evenly spaced they would be 25 ms apart.
    expect(gaps.filter((gapMs) => gapMs < 17).length, 'they left in bunches').toBeGreaterThan(30);
  });
});

describe('a request whose connection comes about too late', () => {
  const factor = 50;

  /** Connections are made at once, but for the second: its making is told of, and it comes about when it is allowed to. */
  const holdConnections = () => {
    const connect = buildConnector({});
    const begun = new AbortController();
    const allowed = new AbortController();
    let count = 0;
    dispatcher = new Agent({
      connect: (options, callback) => {
        count += 1;
        if (count !== 2) return connect(options, callback);
        begun.abort();
        return allowed.signal.addEventListener('abort', () => void connect(options, callback));
      },
    });
    return { dispatcher, begun: begun.signal, allow: () => allowed.abort() };
  };

  // undici takes a connection for busy a little longer than its answer is on the way: a request that came by then would open the second.
  const connectionIsFree = (agent: Agent) =>
    expect.poll(() => Object.values(agent.stats).map((stats) => ('free' in stats ? stats.free : 0))).toEqual([1]);

  const observe = () => {
    const ends: [boolean, string][] = [];
    const ended = (_attempt: Attempt, { isSent, outcome }: AttemptEnd): void => void ends.push([isSent, outcome]);
    return { ends, ended };
  };
  const heldBackThenSent = [
    [false, 'aborted'],
    [true, 'ok'],
  ];

  const openHolding = (
    held: ReturnType<typeof holdConnections>,
    handle: (request: Received, response: ServerResponse) => void,
  ): Promise<Client> =>
    open(
      (request, response) => {
        // The quick connection must be taken, or the late request would use it.
        if (held.begun.aborted) handle(request, response);
        else held.begun.addEventListener('abort', () => handle(request, response));
      },
      {
        clock: makeScaledClock(factor),
        dispatcher: held.dispatcher,
        rate: { perSecond: 1_000, concurrency: 2 },
        // The one that is held back must not count.
        retry: { maxAttempts: 1 },
      },
    );

  test('in a pause that began meanwhile is held back, sent after it, and loses no attempt', async () => {
    const held = holdConnections();
    const { aml, identify } = await openHolding(held, (request, response) => {
      if (service.received.length > 1) answerJson(response, 201, toEmptyResult(request));
      else answerJson(response, 429, {}, { 'retry-after': '60' });
    });
    await identify();
    await connectionIsFree(held.dispatcher);
    const observer = observe();
    const first = aml.search(toPerson(1));
    const late = aml.search(toPerson(2), { observer });
    await expect(first).rejects.toMatchObject({ name: 'RateLimitError' });
    const refusedMs = performance.now();
    held.allow();
    expect((await late).status).toBe(201);
    expect(observer.ends).toEqual(heldBackThenSent);
    expect(service.received).toHaveLength(2);
    // The pause began before this process got round to measuring it: slack for a busy machine.
    expect((service.received[1]?.atMs ?? 0) - refusedMs).toBeGreaterThan(60_000 / factor - 200);
  });

  test('in an outage that began meanwhile is held back, and sent when that is over', async () => {
    const held = holdConnections();
    let isOut = true;
    const events: string[] = [];
    const { aml, identify, listen } = await openHolding(held, (request, response) => {
      answerJson(response, isOut ? 503 : 201, isOut ? {} : toEmptyResult(request));
    });
    await identify();
    await connectionIsFree(held.dispatcher);
    listen(({ kind }) => events.push(kind));
    const observer = observe();
    const failing = (async () => {
      for (let count = 0; count < 10; count += 1) await aml.search(toPerson(count)).catch(() => undefined);
    })();
    const late = aml.search(toPerson(99), { observer });
    await failing;
    expect(events).toEqual(['outage_began']);
    isOut = false;
    held.allow();
    expect((await late).status).toBe(201);
    expect(service.received).toHaveLength(11);
    expect(observer.ends).toEqual(heldBackThenSent);
    expect(events).toEqual(['outage_began', 'outage_ended']);
  });
});

test('a call that is not budgeted is repeated even when the retry budget is empty', async () => {
  let failuresLeft = 0;
  const { aml } = await open(
    (request, response) => {
      failuresLeft -= 1;
      answerJson(response, failuresLeft >= 0 ? 503 : 201, failuresLeft >= 0 ? {} : toEmptyResult(request));
    },
    { retry: { maxAttempts: 20, baseDelayMs: 1, maxDelayMs: 1 } },
  );
  /** Four failures, so that two in a row begin no outage. */
  const search = (isBudgeted: boolean): Promise<string> => {
    failuresLeft = 4;
    return aml.search(person, { isBudgeted }).then(
      () => 'answered',
      () => 'failed',
    );
  };
  let budgeted = 0;
  while ((await search(true)) === 'answered') budgeted += 1;
  expect(budgeted).toBeGreaterThan(10);
  expect(await search(false)).toBe('answered');
  expect(await search(true)).toBe('failed');
});

describe('how one call may differ', () => {
  const failing = (status: number, headers: Record<string, string> = {}) =>
    open((_request, response) => answerJson(response, status, { error: { message: 'not now' } }, headers));

  test.each([0, 1, 4])('it is sent again at most %i times, whatever the settings say', async (maxRetries) => {
    const { aml } = await failing(503);
    const refused = aml.search(person, { maxRetries, isBudgeted: false });
    await expect(refused).rejects.toMatchObject({ status: 503, serviceMessage: 'not now' });
    expect(service.received).toHaveLength(maxRetries + 1);
  });

  test("it has headers of its own, and none in place of the client's", async () => {
    const { aml } = await open((request, response) => answerJson(response, 201, toEmptyResult(request)));
    await aml.search(person, { headers: { 'X-Trace': 'a1' } });
    expect(service.received[0]?.headers).toMatchObject({ 'x-trace': 'a1', accept: 'application/json' });
    for (const headers of [{ Authorization: 'x' }, { 'content-length': '1' }, { 'x-a': 'a\r\nb' }, { 'x a': '1' }])
      await expect(aml.search(person, { headers })).rejects.toThrow(/call options.*headers/s);
    await expect(aml.search(person, { maxRetries: -1, maxWaitMs: 0 })).rejects.toThrow(/maxWaitMs.*maxRetries/s);
    expect(service.received).toHaveLength(1);
  });

  test('it waits through a pause for so long, and then says why it waited', async () => {
    const { aml } = await failing(503, { 'retry-after': '60', 'x-region': 'north' });
    const begun = performance.now();
    const late = aml.search(person, { maxWaitMs: 200 });
    await expect(late).rejects.toMatchObject({
      status: 503,
      headers: expect.objectContaining({ 'x-region': 'north' }),
    });
    // The pause holds for all, and who comes into it was never sent.
    const held = aml.search(toPerson(1), { maxWaitMs: 200 });
    await expect(held).rejects.toMatchObject({ name: 'TimeoutError', code: 'wait_over', mayHaveArrived: false });
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(service.received).toHaveLength(1);
  });
});

test('a client without a private key sends invitations with its JWT, asks nobody whose it is, and does nothing else', async () => {
  const locales = [{ code: 'en', name: 'English' }];
  const { aml, invitations, keyMode } = await open((_request, response) => answerJson(response, 200, { locales }), {
    apiKey: undefined,
    jwt: 'eyJh.eyJz.c2ln',
  });
  expect(keyMode).toBe('unknown');
  await invitations.locales();
  expect(service.received[0]?.headers.authorization).toBe('Bearer eyJh.eyJz.c2ln');
  await expect(aml.search(person)).rejects.toThrow(/service.apiKey.*JWT alone/s);
  expect(service.received).toHaveLength(1);
});
