import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/index.js';
import { answerJson, openClient, type Received, type TestService } from './start-service.js';

let service: TestService;
let client: Client;

const created = { session_id: 's_1', url: 'https://verify.example/s_1' };
const publicKeyPath = '/api_keys/public';

const start = async (handle: (request: Received, response: ServerResponse) => void): Promise<Client> => {
  ({ service, client } = await openClient(handle, {}, { answersKeys: true }));
  await client.identify().catch(() => undefined);
  service.received.length = 0;
  return client;
};

/** A service whose public key is `currentKey()`, and which refuses every other. */
const startWithKey = (currentKey: () => string, shownKey = currentKey): Promise<Client> =>
  start((request, response) => {
    if (request.url === publicKeyPath) return answerJson(response, 200, { public_key: shownKey(), is_test: true });
    const isRight = request.headers.authorization?.endsWith(currentKey()) ?? false;
    return answerJson(response, isRight ? 201 : 401, isRight ? created : { error: { type: 'unauthorized' } });
  });

const countKeys = (): number => service.received.filter(({ url }) => url === publicKeyPath).length;
const countSent = (): number => service.received.filter(({ url }) => url === '/sessions').length;

test('the public key is fetched once for all sessions, also for those that start at once', async () => {
  const { sessions } = await startWithKey(() => 'public_sandbox_1');
  await Promise.all(Array.from({ length: 10 }, () => sessions.create({ level: 'Gold' })));
  expect((await sessions.create({ level: 'Gold' })).data).toMatchObject(created);
  expect([countKeys(), countSent()]).toEqual([1, 11]);
});

test('after a refusal the public key is fetched anew, and the session created with the new one', async () => {
  let key = 'public_sandbox_1';
  const { sessions } = await startWithKey(() => key);
  await sessions.create({ level: 'Gold' });
  key = 'public_sandbox_2';
  expect((await sessions.create({ level: 'Gold' })).data.session_id).toBe('s_1');
  await sessions.create({ level: 'Gold' });
  expect([countKeys(), countSent()]).toEqual([2, 4]);
});

test('a public key that stays the same is not presented again after a refusal', async () => {
  const { sessions } = await startWithKey(
    () => 'public_sandbox_2',
    () => 'public_sandbox_1',
  );
  await expect(sessions.create({ level: 'Gold' })).rejects.toMatchObject({ name: 'AuthenticationError' });
  expect([countKeys(), countSent()]).toEqual([2, 1]);
});

test('a key that is refused anew and anew is tried twice at most', async () => {
  let shown = 0;
  const { sessions } = await startWithKey(
    () => 'public_sandbox_right',
    () => {
      shown += 1;
      return `public_sandbox_${shown}`;
    },
  );
  await expect(sessions.create({ level: 'Gold' })).rejects.toMatchObject({ name: 'AuthenticationError' });
  expect([countKeys(), countSent()]).toEqual([2, 2]);
});

/** A service that is asked for the public key beside what `handle` answers. */
const startBeside = (handle: (request: Received, response: ServerResponse) => void): Promise<Client> =>
  start((request, response) => {
    if (request.url !== publicKeyPath) return handle(request, response);
    return answerJson(response, 200, { public_key: 'public_sandbox_1', is_test: true });
  });

test.each<[object, object]>([
  [created, created],
  [
    { token: 's_1', verification_url: 'https://v.example/1' },
    { session_id: 's_1', url: 'https://v.example/1' },
  ],
  [
    { id: 's_1', url: 'https://v.example/1', qr_base64_png: null, branding: {} },
    { session_id: 's_1', branding: {} },
  ],
])('a session answered as %j is understood', async (body, expected) => {
  const { sessions } = await startBeside((_request, response) => answerJson(response, 201, body));
  expect((await sessions.create({ level: 'Gold' })).data).toMatchObject(expected);
});

test.each<[object, string]>([
  [{ url: 'https://v.example/1' }, 'no session_id'],
  [{ session_id: 's_1' }, 'no url'],
  [{ session_id: '', url: 'https://v.example/1' }, 'session_id'],
])('a session answered as %j is a ResponseError and is not created again', async (body, complaint) => {
  const { sessions } = await startBeside((_request, response) => answerJson(response, 201, body));
  const sent = sessions.create({ level: 'Gold' });
  await expect(sent).rejects.toMatchObject({ name: 'ResponseError', code: 'invalid_body' });
  await expect(sent).rejects.toThrow(complaint);
  expect(countSent()).toBe(1);
});

test('an SMS is never sent twice, not even when the connection was cut', async () => {
  const { sessions } = await startBeside((_request, response) => void response.socket?.destroy());
  const sent = sessions.sendSms('s_1', { phone_number: '+45 1' });
  await expect(sent).rejects.toMatchObject({ name: 'ConnectionError' });
  expect(service.received).toHaveLength(1);
});
