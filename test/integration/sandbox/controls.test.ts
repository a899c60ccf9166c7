import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { callSandbox, steerSandbox, textOf, toOutcome } from './call-sandbox.js';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
});
afterEach(() => sandbox.close());

const outcomeWith = async (key: string): Promise<string> =>
  toOutcome(await callSandbox(sandbox, 'GET /api_keys/public', { key }));
const revoked = '401 authentication_error';

describe('the private key', () => {
  it('can be rotated: the old one opens nothing, the new one has the same public key and mode', async () => {
    const { privateKey: old, publicKey } = sandbox;
    const next = sandbox.rotateKey();
    expect([next, sandbox.privateKey]).toEqual([expect.stringMatching(/^private_sandbox_\w{24}$/), next]);
    expect(next).not.toBe(old);
    expect(await outcomeWith(old)).toBe(revoked);
    const { json } = await callSandbox(sandbox, 'GET /api_keys/public');
    expect(json).toEqual({ public_key: publicKey, is_test: true });
    expect([await outcomeWith(sandbox.livePrivateKey), await outcomeWith(sandbox.otherPrivateKey)]).toEqual([
      '200',
      '200',
    ]);
  });
});

describe('every control', () => {
  const post = (part: string, init: RequestInit): Promise<Response> =>
    fetch(new URL(`/_sandbox/${part}`, sandbox.url), { method: 'POST', ...init });

  it('takes POST as well as PUT', async () => {
    for (const method of ['PUT', 'POST']) {
      const response = await post('faults', { method, body: '[{"status": 503}]' });
      expect([method, response.status, await outcomeWith(sandbox.privateKey)]).toEqual([
        method,
        204,
        '503 service_unavailable',
      ]);
    }
  });

  it('is out of reach of pages of other sites, which may POST without asking', async () => {
    const headers = { origin: 'http://elsewhere.example', 'content-type': 'text/plain' };
    expect((await post('keys', { body: '{"revoke": true}', headers })).status).toBe(403);
    expect(await outcomeWith(sandbox.privateKey)).toBe('200');
    const own = { origin: new URL(sandbox.url).origin };
    expect((await post('clock', { body: '{"advanceMs": 1}', headers: own })).status).toBe(200);
  });
});

describe('a body of more than 1 MiB', () => {
  const largest = JSON.stringify({ type: 'person', name: 'a'.repeat(1_048_576 - 27) });
  const toChunks = (text: string): ReadableStream => new Blob([text]).stream();

  it.each([
    ['POST', 'v1/aml/search'],
    ['POST', '_sandbox/faults'],
    ['PUT', '_sandbox/world'],
  ])('is answered 413 to %s %s, whether it was announced or comes in chunks', async (method, path) => {
    const url = new URL(`/${path}`, sandbox.url);
    const headers = { authorization: `Bearer ${sandbox.privateKey}` };
    for (const body of [`${largest}x`, toChunks(`${largest}x`)]) {
      const response = await fetch(url, { method, headers, body, duplex: 'half' });
      expect([response.status, await response.json()]).toMatchObject([413, { error: { type: 'payload_too_large' } }]);
    }
    expect(await outcomeWith(sandbox.privateKey)).toBe('200');
  });

  it('is in the ledger as work not done, and one of exactly that size is taken', async () => {
    expect(largest.length).toBe(1_048_576);
    await callSandbox(sandbox, 'POST /aml/search', { body: `${largest}x` });
    expect(sandbox.ledger()).toMatchObject([{ path: '/aml/search', searchName: null, status: 413, worked: false }]);
    expect((await callSandbox(sandbox, 'POST /aml/search', { body: largest })).status).toBe(201);
  });
});

describe('the clock', () => {
  it('is moved ahead over HTTP, and never back', async () => {
    const { json } = await steerSandbox(sandbox, 'clock', { advanceMs: 86_400_000 });
    expect(Math.abs(Date.parse(textOf(json, 'now')) - Date.now() - 86_400_000)).toBeLessThan(5_000);
    expect((await steerSandbox(sandbox, 'clock', { advanceMs: -1 })).status).toBe(400);
    expect((await steerSandbox(sandbox, 'clock', {})).status).toBe(400);
    expect(() => sandbox.advanceClock(-1)).toThrow();
    expect(() => sandbox.advanceClock(Number.NaN)).toThrow();
  });
});
