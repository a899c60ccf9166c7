import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { dossier, listed } from '../../unit/sandbox/world-samples.js';

let sandbox: Sandbox;

beforeEach(async () => {
  const watchlist = ['a', 'b', 'c'].map((id) => listed(id, 'Ivan Morozkin'));
  sandbox = await startSandbox({
    world: { watchlist, dossiers: [dossier('1'), dossier('2'), dossier('live', { is_test: false })] },
    maxResults: 2,
  });
});
afterEach(() => sandbox.close());

const bearer = (key: string): string => `Bearer ${key}`;
const basic = (key: string, password = ''): string => `Basic ${Buffer.from(`${key}:${password}`).toString('base64')}`;

const get = (path: string, authorization?: string): Promise<Response> =>
  fetch(`${sandbox.url}${path}`, { headers: authorization === undefined ? {} : { authorization } });
const search = (body: unknown, authorization = bearer(sandbox.privateKey)): Promise<Response> =>
  fetch(`${sandbox.url}/aml/search`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const admin = (method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(new URL(`/_sandbox/${path}`, sandbox.url), {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const person = { type: 'person', name: 'Морозкин  Иван' };

it('a name of another site that leads to this machine reads nothing', async () => {
  const asked = request(new URL('/_sandbox/ledger', sandbox.url), { headers: { host: 'evil.example' } }).end();
  const [answer]: IncomingMessage[] = await once(asked, 'response');
  answer?.resume();
  expect(answer?.statusCode).toBe(421);
  expect((await admin('GET', 'ledger')).status).toBe(200);
});

describe('authentication', () => {
  it('takes the private key as Basic user name or as Bearer token, and answers with the mode of the key', async () => {
    for (const authorization of [bearer(sandbox.privateKey), basic(sandbox.privateKey)]) {
      const response = await get('/api_keys/public', authorization);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ public_key: sandbox.publicKey, is_test: true });
    }
    expect(await (await get('/api_keys/public', bearer(sandbox.livePrivateKey))).json()).toMatchObject({
      is_test: false,
    });
  });

  it('refuses malformed keys with 401 and the error body', async () => {
    const { privateKey } = sandbox;
    const refused = [privateKey, 'Bearer', basic(privateKey, 'x')];
    for (const authorization of refused) {
      const response = await get('/dossiers', authorization);
      expect(response.status).toBe(401);
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      expect(await response.json()).toMatchObject({ error: { type: 'authentication_error' } });
    }
  });
});

describe('searching over HTTP', () => {
  it('echoes the name as sent, cuts the results and still counts all', async () => {
    const response = await search(person);
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({
      query: person.name,
      type: 'person',
      total: 3,
      results: [{}, {}],
    });
  });

  it.each(['{', {}, { type: 'robot', name: 'A' }, { type: 'person', name: ' ' }, { type: 'person' }])(
    'answers 400 to the body %o',
    async (body) => {
      const response = await search(body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    },
  );

  it('knows the new world from the next call on', async () => {
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    expect(await (await search(person)).json()).toMatchObject({ total: 0, results: [] });
  });
});

describe('faults and ledger', () => {
  it('tells a cut before the work from a cut after it', async () => {
    sandbox.setFaults([{ cut: 'before_work' }, { cut: 'after_work' }]);
    await expect(search(person)).rejects.toThrow();
    await expect(search(person)).rejects.toThrow();
    expect(sandbox.ledger().map(({ status, worked }) => ({ status, worked }))).toEqual([
      { status: null, worked: false },
      { status: null, worked: true },
    ]);
  });

  it('keeps who asked for what, and never a key', async () => {
    await search(person, bearer(sandbox.livePrivateKey));
    await get('/dossiers?per_page=1');
    expect(sandbox.ledger()).toMatchObject([
      {
        sequence: 1,
        path: '/aml/search',
        searchName: person.name,
        searchType: 'person',
        keyFamily: 'private',
        mode: 'live',
        status: 201,
        worked: true,
      },
      {
        sequence: 2,
        path: '/dossiers',
        queryString: 'per_page=1',
        keyFamily: 'none',
        mode: null,
        status: 401,
        worked: false,
      },
    ]);
    const text = await (await admin('GET', 'ledger')).text();
    expect(JSON.parse(text)).toMatchObject({ counts: { 'POST /aml/search 201': 1, 'GET /dossiers 401': 1 } });
    expect(text).not.toContain(sandbox.livePrivateKey);
  });

  it('is steered over HTTP and says what is wrong with an order', async () => {
    expect((await admin('PUT', 'faults', [{ status: 402 }])).status).toBe(204);
    expect((await search(person)).status).toBe(402);
    expect((await admin('PUT', 'faults', [{ status: 'no' }])).status).toBe(400);
    const refused = await admin('PUT', 'world', { watchlists: ['/nowhere/list.json'] });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('/nowhere/list.json')]);
    expect((await admin('DELETE', 'ledger')).status).toBe(204);
    expect(sandbox.ledger()).toEqual([]);
  });

  it('ends open connections when it is closed', async () => {
    sandbox.setFaults([{ delayMs: 60_000 }]);
    const pending = search(person);
    pending.catch(() => undefined);
    await expect.poll(() => sandbox.ledger().length).toBe(1);
    await sandbox.close();
    await expect(pending).rejects.toThrow();
    sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
  });
});

it('has the same accounts and keys when it starts again with its private test key, and new ones without', async () => {
  const read = async (privateKey?: string) => {
    const sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] }, privateKey });
    const answer = await fetch(`${sandbox.url}/api_keys/public`, {
      headers: { authorization: `Bearer ${privateKey ?? sandbox.privateKey}` },
    });
    const { livePrivateKey, otherPrivateKey, publicKey } = sandbox;
    await sandbox.close();
    return { key: sandbox.privateKey, livePrivateKey, otherPrivateKey, publicKey, said: await answer.json() };
  };
  const first = await read();
  expect(first.said).toEqual({ public_key: first.publicKey, is_test: true });
  expect(await read(first.key)).toEqual(first);
  const other = await read();
  expect(other.publicKey).not.toBe(first.publicKey);
});
