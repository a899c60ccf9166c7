import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { CallOptions, Client, ClientSettings } from '../../../src/client/index.js';
import {
  answerJson,
  openClient,
  type Received,
  type TestService,
  testKey,
  testKeyRecord,
  toEmptyResult,
} from './start-service.js';

const person = { type: 'person', name: 'Plantina Nominova' } as const;
const newKey = 'private_sandbox_rotatedKey7';
const keyPath = '/api_keys/public';
const created = { session_id: 's_1', url: 'https://verify.example/s_1' };

let service: TestService;
let client: Client;

const open = async (
  handle: (request: Received, response: ServerResponse) => void,
  more: Partial<ClientSettings> = {},
): Promise<Client> => {
  ({ service, client } = await openClient(handle, more, { answersKeys: true }));
  return client;
};

const isAbout = (key: string, { headers }: Received): boolean =>
  headers.authorization === `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
const refuse = (response: ServerResponse): void => answerJson(response, 401, { error: { type: 'unauthorized' } });
const answerKeys = (held: readonly ServerResponse[]): void => {
  for (const response of held) answerJson(response, 200, testKeyRecord);
};
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
};

/** Whoever asks waits for one answer that does not come until it is given. */
interface Question {
  ask(options?: CallOptions): Promise<unknown>;
  /** How often the service, or the key's file, was asked. */
  count(): number;
  answer(): void;
}

/** Each question that a client asks once for all who wait, at the point where its answer is awaited. */
const questions: Record<string, () => Promise<Question>> = {
  'whose key it is': async () => {
    const held: ServerResponse[] = [];
    const { aml } = await open((request, response) => {
      if (request.url === keyPath) held.push(response);
      else answerJson(response, 201, toEmptyResult(request));
    });
    return {
      ask: (options) => aml.search(person, options),
      count: () => held.length,
      answer: () => answerKeys(held),
    };
  },
  'what the new key is': async () => {
    let reads = 0;
    let give: (key: string) => void = () => undefined;
    const { dossiers } = await open(
      (request, response) => {
        if (isAbout(testKey, request)) refuse(response);
        else answerJson(response, 200, request.url === keyPath ? testKeyRecord : { id: 'dossier_1' });
      },
      {
        readKeyAgain: () => {
          reads += 1;
          return new Promise((resolve) => {
            give = resolve;
          });
        },
      },
    );
    return { ask: (options) => dossiers.entity('e_1', options), count: () => reads, answer: () => give(newKey) };
  },
  'what the public key is': async () => {
    const held: ServerResponse[] = [];
    let isHeld = false;
    const { sessions, identify } = await open((request, response) => {
      if (request.url !== keyPath) answerJson(response, 201, created);
      else if (isHeld) held.push(response);
      else answerJson(response, 200, testKeyRecord);
    });
    await identify();
    isHeld = true;
    return {
      ask: (options) => sessions.create({ level: 'Gold' }, options),
      count: () => held.length,
      answer: () => answerKeys(held),
    };
  },
};

describe.each(Object.entries(questions))('who waits to learn %s', (_words, start) => {
  test.each(['signal', 'waitSignal'] as const)(
    'leaves at once when its %s is aborted, and the others get the one answer',
    async (name) => {
      const { ask, count, answer } = await start();
      const stop = new AbortController();
      // The first one is the one that leaves: it began the question.
      const leaver = ask({ [name]: stop.signal });
      const stayer = ask();
      const left = expect(leaver).rejects.toThrow('stop');
      await until(() => count() > 0);
      // Both must have come to wait.
      await new Promise((resolve) => setTimeout(resolve, 30));
      const startedMs = performance.now();
      stop.abort(new Error('stop'));
      await left;
      expect(performance.now() - startedMs).toBeLessThan(500);
      answer();
      await stayer;
      expect(count()).toBe(1);
    },
  );

  test('is refused at once when the client is closed, and closing does not wait for the answer', async () => {
    const { ask, count } = await start();
    const refused = expect(ask()).rejects.toMatchObject({ code: 'client_closed' });
    await until(() => count() > 0);
    const startedMs = performance.now();
    await client.close();
    await refused;
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    await expect(ask()).rejects.toMatchObject({ code: 'client_closed' });
    await expect(client.close()).resolves.toBeUndefined();
  });
});

test.each<[string, (response: ServerResponse) => void]>([
  ['is answered with a page', (response) => void response.writeHead(200).end('<html>')],
  ['has no answer in time', () => undefined],
])('a new key whose check %s is not used, and the refusal of the old one is thrown', async (_words, answer) => {
  const { aml, identify } = await open(
    (request, response) => {
      if (isAbout(newKey, request)) answer(response);
      else if (request.url === keyPath) answerJson(response, 200, testKeyRecord);
      else refuse(response);
    },
    { readKeyAgain: () => newKey, timeoutSeconds: 0.2, retry: { maxAttempts: 2, baseDelayMs: 1, maxDelayMs: 1 } },
  );
  await identify();
  const fingerprint = client.keyFingerprint;
  const failure = await aml.search(person).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: 'AuthenticationError', code: 'key_unusable', path: '/aml/search' });
  expect(String(failure)).toContain('could not be checked');
  expect(String(failure)).not.toContain(newKey);
  expect(client.keyFingerprint).toBe(fingerprint);
  const searches = service.received.filter(({ method }) => method === 'POST');
  expect(searches).toHaveLength(1);
  expect(searches.every((request) => isAbout(testKey, request))).toBe(true);
});
