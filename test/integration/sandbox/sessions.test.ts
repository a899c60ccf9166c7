import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { callSandbox, textOf, toOutcome } from './call-sandbox.js';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
});
afterAll(() => sandbox.close());

const create = (body: unknown) => callSandbox(sandbox, 'POST /sessions', { key: sandbox.publicKey, body });
const openSession = async (): Promise<string> =>
  textOf((await create({ kyc_level: sandbox.kycLevel, first_name: 'Ada' })).json, 'session_id');
const call = (operation: string, body?: unknown) => callSandbox(sandbox, operation, { key: null, body });
const outcomeOf = async (operation: string, body?: unknown): Promise<string> => toOutcome(await call(operation, body));
const giveConsent = (id: string, decision: string) =>
  outcomeOf(`PATCH /sessions/${id}/consent?gives_consent=${decision}`);
const phone = { phone_number: '+4512345678' };

describe('a session', () => {
  it('is opened for a KYC level only', async () => {
    expect(toOutcome(await create({ kyc_level: sandbox.kybLevel }))).toBe('404 not_found');
    expect(toOutcome(await create({ first_name: 'Ada' }))).toBe('404 not_found');
    const badEmail = { kyc_level: sandbox.kycLevel, email_address: 'nobody' };
    expect(toOutcome(await create(badEmail))).toBe('400 invalid_request_error');
    expect((await create({ kyc_level: sandbox.kycLevel })).json).not.toHaveProperty('qr_base64_png');
  });

  it('asks for consent first, leads through the liveness capture, and ends', async () => {
    const id = await openSession();
    expect((await call(`GET /sessions/${id}`)).json).toMatchObject({ first_name: 'Ada', status: 'consent_pending' });
    expect(await outcomeOf(`GET /sessions/${id}/preflight`)).toBe('451 consent_required');
    expect(await outcomeOf(`POST /sessions/${id}/liveness/start`)).toBe('400 invalid_request_error');
    expect(await giveConsent(id, 'true')).toBe('200');
    const stepNow = async () => (await call(`GET /sessions/${id}/preflight`)).json;
    expect(await stepNow()).toMatchObject({ screen: { show: 'liveness_intro' } });
    expect((await call(`POST /sessions/${id}/liveness/complete`)).json).toEqual({ status: 'retry' });
    expect(await outcomeOf(`POST /sessions/${id}/liveness/start`)).toBe('201');
    expect(await stepNow()).toMatchObject({ screen: { show: 'liveness_capture' } });
    expect((await call(`POST /sessions/${id}/liveness/complete`)).json).toEqual({ status: 'succeeded' });
    expect(await stepNow()).toMatchObject({ screen: { show: 'finished' }, requirement: { status: 'completed' } });
  });

  it('takes new contact data and refuses malformed ones', async () => {
    const id = await openSession();
    expect(await outcomeOf(`POST /sessions/${id}`, { email_address: 'ada@example.org' })).toBe('201');
    expect((await call(`GET /sessions/${id}`)).json).toMatchObject({ email_address: 'ada@example.org' });
    expect(await outcomeOf(`POST /sessions/${id}`, { email_address: 'ada' })).toBe('400 invalid_request_error');
    expect(await outcomeOf(`POST /sessions/${id}`, { phone_number: 'call me' })).toBe('400 invalid_request_error');
  });

  it('sends three messages at most, and none to a malformed number', async () => {
    const id = await openSession();
    expect(await outcomeOf(`POST /sessions/${id}/send_sms`, { phone_number: '12' })).toBe('400 invalid_request_error');
    expect(await outcomeOf(`POST /sessions/${id}/send_sms`)).toBe('400 invalid_request_error');
    const sent = [];
    for (let count = 0; count < 4; count += 1) sent.push(await outcomeOf(`POST /sessions/${id}/send_sms`, phone));
    expect(sent).toEqual(['201', '201', '201', '429 too_many_attempts']);
  });

  it.each([
    ['canceled', (id: string) => outcomeOf(`DELETE /sessions/${id}`)],
    ['refused consent', (id: string) => giveConsent(id, 'false')],
  ])('that is %s is gone for every step', async (_, end) => {
    const id = await openSession();
    await giveConsent(id, 'true');
    expect(await end(id)).toBe('200');
    expect(await outcomeOf(`GET /sessions/${id}`)).toBe('410 session_gone');
    expect(await outcomeOf(`GET /sessions/${id}/preflight`)).toBe('410 session_gone');
    expect(await outcomeOf(`POST /sessions/${id}`, {})).toBe('404 not_found');
    expect(await outcomeOf(`POST /sessions/${id}/send_sms`, phone)).toBe('404 not_found');
    expect(await outcomeOf(`POST /sessions/${id}/liveness/start`)).toBe('400 invalid_request_error');
    expect(await outcomeOf(`DELETE /sessions/${id}`)).toBe('200');
    expect(await giveConsent(id, 'true')).toBe('404 not_found');
  });

  it('knows no consent but true and false', async () => {
    expect(await giveConsent(await openSession(), 'maybe')).toBe('400 invalid_request_error');
  });

  it('that does not exist answers 404', async () => {
    expect(await outcomeOf('GET /sessions/none')).toBe('404 not_found');
  });
});
