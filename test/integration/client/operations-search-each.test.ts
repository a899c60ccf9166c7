import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AmlSearchInput, type Client, createClient } from '../../../src/client/index.js';
import { answerJson, type Received, startService, type TestService, testKey, toEmptyResult } from './start-service.js';

type Held = [request: Received, response: ServerResponse];

let service: TestService;
let client: Client;
let held: Held[];
/** Those whom the service keeps waiting. */
let isHeld: (customer: number) => boolean;
beforeEach(async () => {
  held = [];
  isHeld = () => false;
  service = await startService((request, response) => {
    if (isHeld(Number(/Customer (\d+)/.exec(request.body)?.[1]))) held.push([request, response]);
    else answer([request, response]);
  });
  client = createClient({ baseUrl: service.url, apiKey: testKey, rate: { perSecond: 10_000, concurrency: 100 } });
});
afterEach(async () => {
  await client.close();
  await service.stop();
});

const answer = ([request, response]: Held): void => answerJson(response, 201, toEmptyResult(request));

const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await delay(2);
};

const toInput = (index: number): AmlSearchInput & { customerId: number } => ({
  type: 'person',
  name: `Customer ${index}`,
  customerId: index,
});

/** An endless or limited source that counts what was pulled and whether it was let go of. */
const createSource = (size = Number.POSITIVE_INFINITY) => {
  const source = {
    pulled: 0,
    isClosed: false,
    *inputs() {
      try {
        for (let index = 0; index < size; index += 1) {
          source.pulled += 1;
          yield toInput(index);
        }
      } finally {
        source.isClosed = true;
      }
    },
    async *slowInputs() {
      for (const input of source.inputs()) {
        await delay(1);
        yield input;
      }
    },
  };
  return source;
};

test.each([1, 3, 8, undefined])(
  'every input is searched once, and never more than %s are pulled ahead of the reader',
  async (concurrency) => {
    for (const kind of ['inputs', 'slowInputs'] as const) {
      const source = createSource(100);
      const seen: number[] = [];
      let mostAhead = 0;
      const options = concurrency === undefined ? {} : { concurrency };
      for await (const { input, answer: found } of client.aml.searchEach(source[kind](), options)) {
        seen.push(input.customerId);
        expect(found?.data.query).toBe(input.name);
        if (seen.length % 25 === 0) await delay(20);
        mostAhead = Math.max(mostAhead, source.pulled - seen.length);
      }
      expect(seen.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, index) => index));
      expect(mostAhead).toBeLessThanOrEqual(concurrency ?? 8);
    }
  },
);

test('a reader that pauses stops the pulling, also from an endless source', async () => {
  const source = createSource();
  const outcomes = client.aml.searchEach(source.inputs(), { concurrency: 5 })[Symbol.asyncIterator]();
  await outcomes.next();
  await until(() => service.received.length === 5);
  await delay(100);
  expect(source.pulled).toBe(5);
  await outcomes.next();
  await delay(50);
  // Two read, five ahead.
  expect(source.pulled).toBeLessThanOrEqual(7);
  await outcomes.return?.();
  expect(source.isClosed).toBe(true);
});

test('outcomes come in the order in which they finish', async () => {
  isHeld = () => true;
  const outcomes = client.aml.searchEach([toInput(0), toInput(1), toInput(2)])[Symbol.asyncIterator]();
  const first = outcomes.next();
  await until(() => held.length === 3);
  const byName = (name: string): Held => held.find(([request]) => request.body.includes(name)) ?? expect.unreachable();
  answer(byName('Customer 2'));
  expect((await first).value).toMatchObject({ input: { customerId: 2 } });
  answer(byName('Customer 0'));
  expect((await outcomes.next()).value).toMatchObject({ input: { customerId: 0 } });
  answer(byName('Customer 1'));
  expect((await outcomes.next()).value).toMatchObject({ input: { customerId: 1 } });
  expect((await outcomes.next()).done).toBe(true);
});

test('a search that fails gives its error and stops nothing', async () => {
  const failing = await startService((request, response) => {
    if (request.body.includes('Customer 1"')) answerJson(response, 422, {});
    else answerJson(response, 201, toEmptyResult(request));
  });
  const other = createClient({ baseUrl: failing.url, apiKey: testKey, rate: { perSecond: 1_000 } });
  const failed: unknown[] = [];
  let succeeded = 0;
  for await (const { input, error, answer: found } of other.aml.searchEach(createSource(20).inputs())) {
    if (found) succeeded += 1;
    else failed.push([input.customerId, error]);
  }
  expect(succeeded).toBe(19);
  expect(failed).toEqual([[1, expect.objectContaining({ name: 'UnprocessableError' })]]);
  await other.close();
  await failing.stop();
});

test.each([401, 402])('a %i is given with its input, pulls nothing more, and is thrown in the end', async (status) => {
  const refusing = await startService((request, response) => {
    if (request.body.includes('Customer 3"')) answerJson(response, status, {});
    else answerJson(response, 201, toEmptyResult(request));
  });
  const other = createClient({ baseUrl: refusing.url, apiKey: testKey, rate: { perSecond: 1_000 } });
  const source = createSource();
  const given: [number, boolean][] = [];
  const reading = (async () => {
    for await (const { input, error } of other.aml.searchEach(source.inputs(), { concurrency: 4 }))
      given.push([input.customerId, error !== undefined]);
  })();
  await expect(reading).rejects.toMatchObject({ status });
  expect(given.filter(([, isRefused]) => isRefused)).toEqual([[3, true]]);
  expect(given).toHaveLength(source.pulled);
  expect(source).toMatchObject({ pulled: expect.toSatisfy((pulled: number) => pulled < 12), isClosed: true });
  await other.close();
  await refusing.stop();
});

test('a reader that stops early ends what is under way and lets go of the source', async () => {
  const source = createSource();
  const outcomes: string[] = [];
  const observer = { ended: (_attempt: unknown, end: { outcome: string }) => void outcomes.push(end.outcome) };
  isHeld = (customer) => customer >= 3;
  let given = 0;
  for await (const { answer: found } of client.aml.searchEach(source.inputs(), { concurrency: 4, observer })) {
    expect(found).toBeDefined();
    given += 1;
    if (given < 3) continue;
    await until(() => held.length >= 2);
    break;
  }
  expect(source.isClosed).toBe(true);
  const { pulled } = source;
  expect(outcomes).toEqual([...Array(3).fill('ok'), ...Array(pulled - 3).fill('aborted')]);
  await delay(50);
  expect(source.pulled).toBe(pulled);
  expect(service.received.length).toBeLessThanOrEqual(pulled);
});

test('what the source throws is thrown after all that is under way was given', async () => {
  async function* breaking(): AsyncGenerator<AmlSearchInput> {
    for (let index = 0; index < 5; index += 1) yield toInput(index);
    throw new Error('the roster broke off');
  }
  let given = 0;
  const reading = async (): Promise<void> => {
    for await (const { answer: found } of client.aml.searchEach(breaking())) if (found) given += 1;
  };
  await expect(reading()).rejects.toThrow('the roster broke off');
  expect(given).toBe(5);
});

test('an abort gives what is finished and what was cut, then throws its reason', async () => {
  const source = createSource();
  const stop = new AbortController();
  const given: boolean[] = [];
  const reading = async (): Promise<void> => {
    for await (const { answer: found } of client.aml.searchEach(source.inputs(), { signal: stop.signal })) {
      given.push(found !== undefined);
      if (given.length === 10) {
        isHeld = () => true;
        void until(() => held.length === 8).then(() => stop.abort(new Error('stop')));
      }
    }
  };
  await expect(reading()).rejects.toThrow('stop');
  expect(given).toHaveLength(source.pulled);
  expect(given.filter((isFound) => !isFound)).toHaveLength(8);
  expect(source.isClosed).toBe(true);
});

test('an abort does not wait for a source that gives nothing', async () => {
  const stop = new AbortController();
  async function* silent(): AsyncGenerator<AmlSearchInput> {
    yield toInput(0);
    await new Promise(() => undefined);
  }
  const outcomes = client.aml.searchEach(silent(), { signal: stop.signal })[Symbol.asyncIterator]();
  await outcomes.next();
  setTimeout(() => stop.abort(new Error('stop')), 50);
  await expect(outcomes.next()).rejects.toThrow('stop');
});

test('a signal that was aborted before pulls nothing', async () => {
  const source = createSource();
  const outcomes = client.aml.searchEach(source.inputs(), { signal: AbortSignal.abort(new Error('stop')) });
  await expect(outcomes[Symbol.asyncIterator]().next()).rejects.toThrow('stop');
  expect(source.pulled).toBe(0);
});

test.each([0, 1.5, 1_001])('a concurrency of %s is refused', async (concurrency) => {
  const outcomes = client.aml.searchEach([toInput(1)], { concurrency });
  await expect(outcomes[Symbol.asyncIterator]().next()).rejects.toMatchObject({ name: 'ConfigError' });
});
