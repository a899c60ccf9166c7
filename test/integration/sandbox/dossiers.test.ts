import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { dossier } from '../../unit/sandbox/world-samples.js';
import { callSandbox, textOf, toOutcome } from './call-sandbox.js';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [dossier('old')] } });
});
afterEach(() => sandbox.close());

const create = (body: unknown, key = sandbox.privateKey) => callSandbox(sandbox, 'POST /dossiers', { body, key });
const isPng = (bytes: Uint8Array): boolean => Buffer.from(bytes.subarray(1, 4)).toString('latin1') === 'PNG';
const detailSchema = z.object({ media: z.array(z.object({ url: z.url() })) });

describe('creating a dossier', () => {
  it('puts it first in the list of its organisation only, and opens its records and a session', async () => {
    const { json } = await create({ type: 'kyc', level: sandbox.kycLevel, reference: 'C-77' });
    const id = textOf(json, 'id');
    const row = { id, token: json['token'], type: 'kyc', status: 'open', reference: 'C-77', is_test: true };
    expect((await callSandbox(sandbox, 'GET /dossiers')).json).toMatchObject({
      total: 2,
      dossiers: [row, { id: 'dossier_old' }],
    });
    const other = await callSandbox(sandbox, 'GET /dossiers', { key: sandbox.otherPrivateKey });
    expect(other.json).toMatchObject({ total: 0 });
    expect((await callSandbox(sandbox, `GET /dossiers/${textOf(json, 'token')}`)).json).toMatchObject({ id });
    const entity = await callSandbox(sandbox, `GET /dossiers/entity/${id.replace('dossier', 'entity')}`);
    expect(entity.json).toMatchObject({ dossier_id: id });
    const session = new URL(textOf(json, 'verification_url')).pathname.split('/').at(-1);
    expect((await callSandbox(sandbox, `GET /sessions/${session}`, { key: null })).status).toBe(200);
  });

  it('gives the QR image as a PNG, and only when it was asked for', async () => {
    const withQr = await create({ type: 'kyc', level: sandbox.kycLevel, generate_qr: true });
    expect(isPng(Buffer.from(textOf(withQr.json, 'qr_base64_png'), 'base64'))).toBe(true);
    expect((await create({ type: 'kyc', level: sandbox.kycLevel })).json).not.toHaveProperty('qr_base64_png');
  });

  it('belongs to the organisation and the mode of the key', async () => {
    await create({ type: 'kyb', level: sandbox.kybLevel }, sandbox.otherPrivateKey);
    const other = await callSandbox(sandbox, 'GET /dossiers', { key: sandbox.otherPrivateKey });
    expect(other.json).toMatchObject({ total: 1, dossiers: [{ type: 'kyb', is_test: true }] });
    await create({ type: 'kyb', level: sandbox.kybLevel }, sandbox.livePrivateKey);
    const live = await callSandbox(sandbox, 'GET /dossiers', { key: sandbox.livePrivateKey });
    expect(live.json).toMatchObject({ total: 1, dossiers: [{ type: 'kyb', is_test: false }] });
    expect((await callSandbox(sandbox, 'GET /dossiers')).json).toMatchObject({ dossiers: [{ id: 'dossier_old' }] });
  });

  it('knows no level of the other product family', async () => {
    const outcomes = [
      { type: 'kyc', level: sandbox.kybLevel },
      { type: 'kyb', level: sandbox.kycLevel },
      { type: 'kyc', level: 'none' },
    ].map(async (body) => toOutcome(await create(body)));
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set(['404 validation_error']));
  });

  it.each([
    '{',
    {},
    { type: 'doc', level: 'kyc_standard' },
    { type: 'kyc' },
    { type: 'kyc', level: 'kyc_standard', send_sms: true },
    { type: 'kyc', level: 'kyc_standard', send_email: true },
    { type: 'kyc', level: 'kyc_standard', send_sms: true, phone_number: '12' },
    { type: 'kyc', level: 'kyc_standard', send_email: true, email_address: 'nobody' },
    { type: 'kyc', level: 'kyc_standard', send_sms: 'yes' },
  ])('answers 400 to the body %o', async (body) => {
    expect(toOutcome(await create(body))).toBe('400 invalid_request_error');
  });
});

describe('media links', () => {
  const readLink = async (): Promise<string> => {
    const { json } = await callSandbox(sandbox, 'GET /dossiers/dossier_old');
    return detailSchema.parse(json).media[0]?.url ?? '';
  };

  it('give a PNG for five minutes by the clock of the sandbox, and 403 from then on', async () => {
    const url = await readLink();
    sandbox.advanceClock(299_000);
    const response = await fetch(url);
    expect([response.status, isPng(new Uint8Array(await response.arrayBuffer()))]).toEqual([200, true]);
    sandbox.advanceClock(1_000);
    expect((await fetch(url)).status).toBe(403);
    expect((await fetch(await readLink())).status).toBe(200);
  });

  it('open nothing once they were altered', async () => {
    const url = await readLink();
    const altered = [
      url.replace('expires=1', 'expires=9'),
      url.replace('old', 'new'),
      url.slice(0, -2),
      url.split('?')[0],
    ];
    for (const link of altered) expect((await fetch(link ?? '')).status).toBe(403);
  });
});
