import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { callSandbox, type Received, steerSandbox, textOf, toOutcome } from './call-sandbox.js';

const PATH = '/autodoc/invitations';
const COOLDOWN_MS = 180_000;
const DELIVERY_MS = 1_000;

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
});
afterEach(() => sandbox.close());

const bodyWith = (more: object = {}) => ({
  workflowToken: sandbox.workflowToken,
  channel: 'email',
  recipient: 'ada@example.org',
  ...more,
});
const create = (more: object = {}) => callSandbox(sandbox, `POST ${PATH}`, { body: bodyWith(more) });
const createToken = async (more: object = {}) => textOf((await create(more)).json, 'token');
const retrieve = (token: string) => callSandbox(sandbox, `GET ${PATH}/${token}`);
const resend = (token: string) => callSandbox(sandbox, `POST ${PATH}/${token}/resend`);
const list = (query = '') => callSandbox(sandbox, `GET ${PATH}?${query}`);
const messageOf = ({ json }: Received): string => JSON.stringify(json['error']);

describe('creating an invitation', () => {
  it('answers pending, and the provider accepts it a second later by the clock of the sandbox', async () => {
    const { json } = await create({ reference: 'R-9' });
    const token = textOf(json, 'token');
    expect(json).toMatchObject({
      status: 'pending',
      sentAt: null,
      deliveryAttempts: 1,
      reference: 'R-9',
      locale: 'en',
    });
    expect(Date.parse(textOf(json, 'expiresAt')) - Date.parse(textOf(json, 'createdAt'))).toBe(30 * 86_400_000);
    sandbox.advanceClock(DELIVERY_MS);
    const sent = await retrieve(token);
    expect(sent.json).toMatchObject({ status: 'sent', deliveryAttempts: 1 });
    expect(Date.parse(textOf(sent.json, 'sentAt')) - Date.parse(textOf(json, 'createdAt'))).toBe(DELIVERY_MS);
    expect((await retrieve(token.replace('adi_', ''))).json).toEqual(sent.json);
  });

  it('makes a new one each time: it is not idempotent', async () => {
    expect(await createToken({ reference: 'same' })).not.toBe(await createToken({ reference: 'same' }));
    expect((await list('reference=same')).json).toMatchObject({ pagination: { total: 2 } });
  });

  it.each([
    ['400 invalid_request_error', { workflowToken: undefined }],
    ['400 invalid_request_error', { channel: undefined }],
    ['400 invalid_request_error', { recipient: 7 }],
    ['422 validation_error', { channel: 'pigeon' }],
    ['422 validation_error', { recipient: 'nobody' }],
    ['422 validation_error', { channel: 'sms' }],
    ['422 validation_error', { recipient: `${'a'.repeat(251)}@b.cd` }],
    ['422 validation_error', { reference: 'r'.repeat(256) }],
    ['422 validation_error', { locale: 'xx' }],
    ['404 workflow_not_found', { workflowToken: 'wf_unknown' }],
    ['201', { recipient: `${'a'.repeat(250)}@b.cd`, reference: 'r'.repeat(255) }],
    ['201', { channel: 'sms', recipient: '+45 (12) 34-56.78' }],
  ])('answers %s to %j', async (outcome, more) => {
    expect(toOutcome(await create(more))).toBe(outcome);
  });

  it('answers 400 to a body that is no JSON, and 404 to the workflow of another organisation', async () => {
    expect(toOutcome(await callSandbox(sandbox, `POST ${PATH}`, { body: '{' }))).toBe('400 invalid_request_error');
    const foreign = await callSandbox(sandbox, `POST ${PATH}`, { body: bodyWith(), key: sandbox.otherPrivateKey });
    expect(toOutcome(foreign)).toBe('404 workflow_not_found');
  });
});

describe('listing invitations', () => {
  it('combines its filters, newest first', async () => {
    const one = await createToken({ recipient: 'one_%@example.org', reference: 'A' });
    sandbox.advanceClock(60_000);
    const from = new Date(Date.now() + 60_000 - 5_000).toISOString();
    const two = await createToken({ channel: 'sms', recipient: '+4512345678', reference: 'B' });
    const tokens = async (query: string): Promise<unknown> => {
      const { invitations } = (await list(query)).json;
      return Array.isArray(invitations) ? invitations.map((invitation) => invitation.token) : 'none';
    };
    expect(await tokens('')).toEqual([two, one]);
    expect(await tokens('channel=sms')).toEqual([two]);
    expect(await tokens('status=sent')).toEqual([one]);
    expect(await tokens('reference=A')).toEqual([one]);
    expect(await tokens('reference=a')).toEqual([]);
    expect(await tokens('search=EXAMPLE')).toEqual([one]);
    expect(await tokens(`search=${encodeURIComponent('e_%')}`)).toEqual([one]);
    expect(await tokens(`search=${encodeURIComponent('o%e')}`)).toEqual([]);
    expect(await tokens(`date_from=${from}`)).toEqual([two]);
    expect(await tokens(`date_to=${from}`)).toEqual([one]);
    expect(await tokens(`workflow_token=${sandbox.workflowToken}&channel=email`)).toEqual([one]);
    expect(await tokens('workflow_token=wf_other')).toEqual([]);
  });

  it('shows every one exactly once over its pages', async () => {
    const created = [];
    for (let count = 0; count < 45; count += 1) created.push(await createToken());
    const seen = [];
    for (const page of [1, 2, 3]) {
      const { json } = await list(`page=${page}`);
      expect(json['pagination']).toEqual({ total: 45, totalPages: 3, page, perPage: 20 });
      if (Array.isArray(json['invitations'])) seen.push(...json['invitations'].map((invitation) => invitation.token));
    }
    expect(seen).toEqual(created.reverse());
  });

  it.each(['page=0', 'per_page=0', 'per_page=101', 'status=lost', 'channel=fax', 'search=ab', 'date_from=today'])(
    'answers 400 to %s',
    async (query) => {
      expect(toOutcome(await list(query))).toBe('400 invalid_request_error');
    },
  );
});

describe('resending an invitation', () => {
  const sendFirst = async (): Promise<string> => {
    const token = await createToken();
    sandbox.advanceClock(DELIVERY_MS);
    return token;
  };

  it('is refused for three minutes with the seconds that remain, then makes it pending again', async () => {
    const token = await sendFirst();
    const early = await resend(token);
    expect(toOutcome(early)).toBe('429 cooldown_active');
    expect(messageOf(early)).toMatch(/remaining_seconds: 1(7\d|80)\b/);
    sandbox.moveInvitation(token, { status: 'sent', dossierToken: 'LINKED000' });
    sandbox.advanceClock(COOLDOWN_MS);
    const again = await resend(token);
    const expected = { status: 'pending', sentAt: null, deliveryAttempts: 2, dossierToken: 'LINKED000' };
    expect([again.status, again.json]).toEqual([201, expect.objectContaining(expected)]);
    sandbox.advanceClock(DELIVERY_MS);
    expect((await retrieve(token)).json).toMatchObject({ status: 'sent', deliveryAttempts: 2 });
  });

  it('ends at ten attempts', async () => {
    const token = await sendFirst();
    for (let attempt = 2; attempt <= 10; attempt += 1) {
      sandbox.advanceClock(COOLDOWN_MS + DELIVERY_MS);
      expect((await resend(token)).json).toMatchObject({ deliveryAttempts: attempt });
    }
    sandbox.advanceClock(COOLDOWN_MS + DELIVERY_MS);
    expect(toOutcome(await resend(token))).toBe('422 max_attempts_reached');
  });

  it.each(['pending', 'delivered', 'opened', 'started', 'failed', 'completed', 'rejected'] as const)(
    'is refused while it is %s',
    async (status) => {
      const token = await sendFirst();
      expect((await steerSandbox(sandbox, 'invitations', { token, status })).json).toMatchObject({ status });
      expect(toOutcome(await resend(token))).toBe('422 invalid_state');
    },
  );

  it('is refused once the link has expired, 30 days after it was created', async () => {
    const token = await sendFirst();
    sandbox.advanceClock(30 * 86_400_000);
    expect(toOutcome(await resend(token))).toBe('422 invalid_state');
    expect(toOutcome(await resend('adi_none'))).toBe('404 not_found');
  });

  it('is throttled to 20 a minute per organisation and 30 a minute per address', async () => {
    const outcomes = async (key: string): Promise<string[]> => {
      const found = [];
      for (let count = 0; count < 21; count += 1) {
        found.push(toOutcome(await callSandbox(sandbox, `POST ${PATH}/adi_none/resend`, { key })));
      }
      return found;
    };
    const limited = '429 rate_limit_exceeded';
    expect((await outcomes(sandbox.privateKey)).filter((outcome) => outcome === limited)).toHaveLength(1);
    expect((await outcomes(sandbox.otherPrivateKey)).filter((outcome) => outcome === limited)).toHaveLength(11);
    sandbox.advanceClock(60_000);
    expect(toOutcome(await resend('adi_none'))).toBe('404 not_found');
  });
});

it('what happens outside the service leaves its time and its reason on the invitation', async () => {
  const token = await createToken();
  const move = async (order: object) => (await steerSandbox(sandbox, 'invitations', { token, ...order })).json;
  expect(await move({ status: 'started' })).toMatchObject({
    startedAt: expect.any(String),
    sentAt: expect.any(String),
  });
  expect(await move({ status: 'completed' })).toMatchObject({ completedAt: expect.any(String) });
  expect(await move({ status: 'rejected' })).toMatchObject({ rejectedAt: expect.any(String) });
  const failed = { status: 'failed', errorMessage: 'mailbox full' };
  expect(await move(failed)).toMatchObject({ ...failed, sentAt: null });
  expect(toOutcome(await steerSandbox(sandbox, 'invitations', { token, status: 'lost' }))).toBe(
    '400 invalid_request_error',
  );
  expect((await steerSandbox(sandbox, 'invitations', { token: 'adi_none', status: 'sent' })).status).toBe(404);
});

it('locales are named in the language of the requester, else in English', async () => {
  const nameOfGerman = async (language: string): Promise<unknown> => {
    const headers = { 'accept-language': language };
    const { locales } = (await callSandbox(sandbox, `GET ${PATH}/locales`, { headers })).json;
    return Array.isArray(locales) ? locales.find((locale) => locale.code === 'de')?.name : undefined;
  };
  expect(await nameOfGerman('de-DE,de;q=0.9')).toBe('Deutsch');
  expect(await nameOfGerman('*')).toBe('German');
});
