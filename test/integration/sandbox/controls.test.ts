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

  it('can be rotated and revoked over HTTP', async () => {
    const first = sandbox.privateKey;
    const next = textOf((await steerSandbox(sandbox, 'keys', { rotate: true })).json, 'privateKey');
    expect([await outcomeWith(first), await outcomeWith(next)]).toEqual([revoked, '200']);
    expect((await steerSandbox(sandbox, 'keys', { revoke: true })).json).toEqual({ privateKey: null });
    expect(await outcomeWith(next)).toBe(revoked);
    expect((await steerSandbox(sandbox, 'keys', { rotate: false })).status).toBe(400);
  });

  it('can be revoked without a successor, and have one later', async () => {
    sandbox.revokeKey();
    expect(await outcomeWith(sandbox.privateKey)).toBe(revoked);
    expect(await outcomeWith(sandbox.rotateKey())).toBe('200');
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

describe('the ledger', () => {
  it('notes every method, with the time of arrival before the body was read', async () => {
    const beforeMs = performance.now();
    await callSandbox(sandbox, 'PATCH /sessions/none/consent?gives_consent=true', { key: null });
    await callSandbox(sandbox, 'DELETE /sessions/none', { key: null });
    await callSandbox(sandbox, 'POST /sessions', { key: sandbox.publicKey, body: {} });
    const calls = sandbox.ledger();
    expect(calls).toMatchObject([
      { method: 'PATCH', path: '/sessions/none/consent', queryString: 'gives_consent=true', status: 404 },
      { method: 'DELETE', path: '/sessions/none', keyFamily: 'none', status: 404 },
      { method: 'POST', path: '/sessions', keyFamily: 'public_sandbox', mode: 'test', status: 404 },
    ]);
    const times = [beforeMs, ...calls.map((call) => call.atMs), performance.now()];
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });
});
