import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { dossier, listed } from '../../unit/sandbox/world-samples.js';
import { callSandbox, type Sent, textOf, toOutcome } from './call-sandbox.js';
import { listOperations, type Operation, toInvitationBody } from './list-operations.js';

let sandbox: Sandbox;
let sentInvitation: string;
let operations: Operation[];

beforeAll(async () => {
  const watchlist = [listed('amla_ivan', 'Ivan Morozkin'), listed('plain', 'Ana Quintela')];
  sandbox = await startSandbox({ world: { watchlist, dossiers: [dossier('one', { name: 'Ivan Morozkin' })] } });
  const session = await callSandbox(sandbox, 'POST /sessions', {
    key: sandbox.publicKey,
    body: { kyc_level: sandbox.kycLevel },
  });
  const sessionId = textOf(session.json, 'session_id');
  const invitation = await callSandbox(sandbox, 'POST /autodoc/invitations', { body: toInvitationBody(sandbox) });
  sentInvitation = textOf(invitation.json, 'token');
  sandbox.advanceClock(200_000);
  operations = listOperations(sandbox, { sessionId, sentInvitation });
});
afterAll(() => sandbox.close());

const toBody = ({ body }: Operation): Sent => (body === undefined ? {} : { body });

describe('every operation of the interface', () => {
  it('is in the table', () => {
    expect(operations.length).toBe(26);
    expect(new Set(operations.map((operation) => operation.call.replace(/\?.*/, ''))).size).toBe(26);
  });

  it('answers 401 to every credential that it does not take, and does no work', async () => {
    const { publicKey, jwt } = sandbox;
    for (const operation of operations) {
      if (operation.auth === 'none') continue;
      const wrong = new Set<string | null>([null, 'private_sandbox_unknown', publicKey, jwt, sandbox.privateKey]);
      if (operation.auth !== 'public') wrong.delete(sandbox.privateKey);
      if (operation.auth === 'public') wrong.delete(publicKey);
      if (operation.auth === 'private or jwt') wrong.delete(jwt);
      for (const key of wrong) {
        const received = await callSandbox(sandbox, operation.call, { key, ...toBody(operation) });
        expect([operation.call, toOutcome(received)]).toEqual([operation.call, '401 authentication_error']);
      }
    }
    expect(sandbox.ledger().filter((entry) => entry.status === 401 && entry.worked)).toEqual([]);
  });

  it('answers as the interface says, with a request id, and is in the ledger as work done', async () => {
    for (const operation of operations) {
      const key = { private: sandbox.privateKey, 'private or jwt': sandbox.jwt, public: sandbox.publicKey, none: null };
      const received = await callSandbox(sandbox, operation.call, { key: key[operation.auth], ...toBody(operation) });
      expect([operation.call, received.status]).toEqual([operation.call, operation.status]);
      expect(received.json).toMatchObject(operation.answer);
      expect(received.headers.get('x-request-id')).toMatch(/^req_/);
      const [method, path] = operation.call.split(/[ ?]/);
      expect(sandbox.ledger().at(-1)).toMatchObject({ method, path, status: operation.status, worked: true });
    }
  });

  it('takes no other method', async () => {
    for (const call of ['PUT /dossiers', 'GET /aml/search', 'DELETE /autodoc/invitations', 'GET /nothing/here']) {
      expect(toOutcome(await callSandbox(sandbox, call))).toBe('404 not_found');
    }
    expect(toOutcome(await callSandbox(sandbox, 'PUT /sessions/any', { key: null }))).toBe('404 not_found');
  });

  it('takes the keys as user names of Basic too, but never the JWT', async () => {
    const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` });
    const outcomeWith = async (call: string, key: string, body?: unknown): Promise<string> =>
      toOutcome(await callSandbox(sandbox, call, { key: null, headers: basic(key), body }));
    const session = { kyc_level: sandbox.kycLevel };
    expect(await outcomeWith('POST /sessions', sandbox.publicKey, session)).toBe('201');
    expect(await outcomeWith('GET /autodoc/invitations', sandbox.privateKey)).toBe('200');
    expect(await outcomeWith('GET /autodoc/invitations', sandbox.jwt)).toBe('401 authentication_error');
  });

  it('shows no record of an organisation to another one', async () => {
    const paths = [
      ...[
        '/dossiers/dossier_one',
        '/dossiers/TOKENone',
        '/dossiers/entity/entity_one',
        '/dossiers/decision/decision_one',
      ],
      ...['/dossiers/identity_document/id_doc_one', '/dossiers/address_proof/poa_one', '/dossiers/funds_proof/pof_one'],
      ...['/aml/entity/aml_one', `/autodoc/invitations/${sentInvitation}`],
    ];
    for (const path of paths) {
      expect([path, toOutcome(await callSandbox(sandbox, `GET ${path}`))]).toEqual([path, '200']);
      const foreign = await callSandbox(sandbox, `GET ${path}`, { key: sandbox.otherPrivateKey });
      expect([path, toOutcome(foreign)]).toEqual([path, '404 not_found']);
    }
  });

  it.each([
    ...['/dossiers/dossier_none', '/dossiers/entity/entity_none', '/dossiers/identity_document/id_doc_none'],
    ...['/dossiers/decision/decision_none', '/dossiers/address_proof/poa_none', '/dossiers/funds_proof/pof_none'],
    ...['/dossiers/entity/id_doc_one', '/aml/entity/aml_none', '/aml/activity/amla_none', '/aml/activity/plain'],
    ...['/autodoc/invitations/adi_none'],
  ])('answers 404 to GET %s, which is nowhere', async (path) => {
    expect(toOutcome(await callSandbox(sandbox, `GET ${path}`))).toBe('404 not_found');
  });
});
