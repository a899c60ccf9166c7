import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { dossier, listed } from '../../unit/sandbox/world-samples.js';
import { callSandbox, steerSandbox, toOutcome } from './call-sandbox.js';

let sandbox: Sandbox;

beforeEach(async () => {
  const watchlist = ['a', 'b', 'c'].map((id) => listed(id, 'Ivan Morozkin'));
  sandbox = await startSandbox({
    world: { watchlist, dossiers: [dossier('1'), dossier('2'), dossier('live', { is_test: false })] },
    maxResults: 2,
  });
});
afterEach(() => sandbox.close());

const search = (body: unknown, key = sandbox.privateKey) => callSandbox(sandbox, 'POST /aml/search', { body, key });
const ledgerUrl = (): URL => new URL('/_sandbox/ledger', sandbox.url);
const person = { type: 'person', name: 'Морозкин  Иван' };

it('a name of another site that leads to this machine reads nothing', async () => {
  const asked = request(ledgerUrl(), { headers: { host: 'evil.example' } }).end();
  const [answer]: IncomingMessage[] = await once(asked, 'response');
  answer?.resume();
  expect(answer?.statusCode).toBe(421);
  expect((await fetch(ledgerUrl())).status).toBe(200);
});

describe('searching over HTTP', () => {
  it('echoes the name as sent, cuts the results and still counts all', async () => {
    const { status, json } = await search(person);
    expect(status).toBe(201);
    expect(json).toMatchObject({ query: person.name, type: 'person', total: 3, results: [{}, {}] });
  });

  it.each(['{', {}, { type: 'robot', name: 'A' }, { type: 'person', name: ' ' }, { type: 'person' }])(
    'answers 400 to the body %o',
    async (body) => {
      expect(toOutcome(await search(body))).toBe('400 invalid_request_error');
    },
  );

  it('knows the new world from the next call on', async () => {
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    expect((await search(person)).json).toMatchObject({ total: 0, results: [] });
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
    await search(person, sandbox.livePrivateKey);
    await callSandbox(sandbox, 'GET /dossiers?per_page=1', { key: null });
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
    const text = await (await fetch(ledgerUrl())).text();
    expect(JSON.parse(text)).toMatchObject({ counts: { 'POST /aml/search 201': 1, 'GET /dossiers 401': 1 } });
    expect(text).not.toContain(sandbox.livePrivateKey);
  });

  it('is steered over HTTP and says what is wrong with an order', async () => {
    expect((await steerSandbox(sandbox, 'faults', [{ status: 402 }])).status).toBe(204);
    expect((await search(person)).status).toBe(402);
    expect((await steerSandbox(sandbox, 'faults', [{ status: 'no' }])).status).toBe(400);
    const { status, json } = await steerSandbox(sandbox, 'world', { watchlists: ['/nowhere/list.json'] });
    expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining('/nowhere/list.json')]);
    expect((await fetch(ledgerUrl(), { method: 'DELETE' })).status).toBe(204);
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
    const { json: said } = await callSandbox(sandbox, 'GET /api_keys/public');
    const { livePrivateKey, otherPrivateKey, publicKey } = sandbox;
    await sandbox.close();
    return { key: sandbox.privateKey, livePrivateKey, otherPrivateKey, publicKey, said };
  };
  const first = await read();
  expect(first.said).toEqual({ public_key: first.publicKey, is_test: true });
  expect(await read(first.key)).toEqual(first);
  const other = await read();
  expect(other.publicKey).not.toBe(first.publicKey);
});
