import { afterEach, describe, expect, test } from 'vitest';
import { type Client, type ClientEvent, type ClientSettings, createClient } from '../../../src/client/client.js';
import {
  answerJson,
  type Received,
  startService,
  type TestService,
  testKey,
  testKeyRecord,
  toEmptyResult,
} from './start-service.js';

const person = { type: 'person', name: 'Plantina Nominova' } as const;
const newKey = 'private_sandbox_rotatedKey7';
const stop: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of stop.splice(0)) await close();
});

const presented = ({ headers }: Received): string =>
  Buffer.from((headers.authorization ?? '').slice('Basic '.length), 'base64')
    .toString()
    .slice(0, -1);

/** A service that knows the keys of `accounts`, each with its public key record. */
const startAccounts = async (accounts: () => Readonly<Record<string, object>>): Promise<TestService> => {
  const service = await startService(
    (request, response) => {
      const record = accounts()[presented(request)];
      if (record === undefined) answerJson(response, 401, { error: { type: 'authentication_error' } });
      else if (request.method === 'GET') answerJson(response, 200, record);
      else answerJson(response, 201, toEmptyResult(request));
    },
    { answersKeys: true },
  );
  stop.push(service.stop);
  return service;
};

const open = (service: TestService, more: Partial<ClientSettings> = {}): Client => {
  const client = createClient({ baseUrl: service.url, apiKey: testKey, rate: { perSecond: 1_000 }, ...more });
  stop.push(() => client.close());
  return client;
};

const searches = (service: TestService): Received[] => service.received.filter(({ method }) => method === 'POST');

describe('before the first call that costs money', () => {
  test('the service is asked once whose key it is, however many calls begin at once', async () => {
    const service = await startAccounts(() => ({ [testKey]: testKeyRecord }));
    const client = open(service);
    await Promise.all(Array.from({ length: 20 }, () => client.aml.search(person)));
    expect(service.received.filter(({ method }) => method === 'GET')).toHaveLength(1);
    expect(service.received[0]?.url).toBe('/api_keys/public');
  });

  test('an account without a public key is searched under the mode of its key, which one event says', async () => {
    const service = await startService(
      (request, response) => {
        if (request.url.startsWith('/dossiers'))
          answerJson(response, 200, { dossiers: [], page: 1, per_page: 1, total: 0, total_pages: 0 });
        else if (request.method === 'GET') answerJson(response, 404, { error: { type: 'not_found' } });
        else answerJson(response, 201, toEmptyResult(request));
      },
      { answersKeys: true },
    );
    stop.push(service.stop);
    const client = open(service);
    const events: ClientEvent[] = [];
    client.listen((event) => void events.push(event));
    await client.aml.search(person);
    await client.aml.search(person);
    expect(events).toEqual([{ kind: 'no_public_key', isTest: true }]);
    expect(await client.identify()).toEqual({ publicKey: null, isTest: true });
    await expect(open(service, { apiKey: 'sk_1' }).aml.search(person)).rejects.toThrow(/service.mode.*no public key/s);
    expect(searches(service)).toHaveLength(2);
  });

  test('an address where neither public keys nor dossiers are known is a wrong one, and nothing is searched', async () => {
    const service = await startService((_request, response) => answerJson(response, 404, {}), { answersKeys: true });
    stop.push(service.stop);
    await expect(open(service).aml.search(person)).rejects.toThrow(/service.baseUrl.*version prefix/s);
    expect(searches(service)).toEqual([]);
  });

  test.each<[string, Partial<ClientSettings>, boolean]>([
    ['a key that looks like a test key but is a live one', {}, false],
    ['a key of an unknown family in test mode where live was agreed on', { apiKey: 'sk_1', mode: 'live' }, true],
    ['a key of an unknown family in live mode where test was agreed on', { apiKey: 'sk_1', mode: 'test' }, false],
  ])('%s is refused and nothing is searched', async (_words, settings, isTest) => {
    const record = { ...testKeyRecord, is_test: isTest };
    const service = await startAccounts(() => ({ [testKey]: record, sk_1: record }));
    const client = open(service, settings);
    await expect(client.aml.search(person)).rejects.toMatchObject({
      name: 'ConfigError',
      problems: [{ where: 'service.mode' }],
    });
    expect(searches(service)).toHaveLength(0);
  });
});

describe('a key that is refused', () => {
  test('is read again once, and the new one of the same account goes on without a failed call', async () => {
    let keys: Readonly<Record<string, object>> = { [testKey]: testKeyRecord };
    const service = await startAccounts(() => keys);
    let reads = 0;
    const events: ClientEvent[] = [];
    const client = open(service, {
      readKeyAgain: () => {
        reads += 1;
        return `${newKey}\n`;
      },
    });
    client.listen((event) => events.push(event));
    const former = client.keyFingerprint;
    await client.aml.search(person);
    keys = { [newKey]: testKeyRecord };
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.aml.search(person)));
    expect(answers).toHaveLength(10);
    expect(reads).toBe(1);
    expect(client.keyFingerprint).not.toBe(former);
    expect(events).toEqual([{ kind: 'key_renewed', fingerprint: client.keyFingerprint }]);
    expect(searches(service).filter((request) => presented(request) === newKey)).toHaveLength(10);
  });

  test.each<[string, string | undefined | Error, object | undefined, string]>([
    ['the same key', testKey, undefined, 'authentication_error'],
    ['nothing', undefined, undefined, 'authentication_error'],
    ['a file that cannot be read', new Error('ENOENT'), undefined, 'key_unusable'],
    ['a key of another account', newKey, { public_key: 'public_sandbox_other', is_test: true }, 'key_unusable'],
    ['a key of the other mode', newKey, { ...testKeyRecord, is_test: false }, 'key_unusable'],
    ['a public key', 'public_sandbox_x', undefined, 'key_unusable'],
    ['a key that is refused as well', newKey, undefined, 'key_unusable'],
  ])('stays refused when reading it again gives %s', async (_words, read, record, code) => {
    let keys: Readonly<Record<string, object>> = { [testKey]: testKeyRecord };
    const service = await startAccounts(() => keys);
    let reads = 0;
    const client = open(service, {
      readKeyAgain: () => {
        reads += 1;
        if (read instanceof Error) throw read;
        return read;
      },
    });
    await client.aml.search(person);
    keys = record === undefined ? {} : { [newKey]: record };
    const failure = await client.aml.search(person).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'AuthenticationError', status: 401, code });
    expect(String(failure)).not.toContain(newKey);
    expect(reads).toBe(1);
    expect(searches(service).filter((request) => presented(request) === newKey)).toHaveLength(0);
  });
});
