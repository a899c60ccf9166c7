import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../../src/client/index.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { dossier, listed } from '../../unit/sandbox/world-samples.js';
import { operationsTable, type Row, type Subjects } from '../client/operations-table.js';
import { callSandbox, toOutcome } from './call-sandbox.js';

let sandbox: Sandbox;
let client: Client;
let subjects: Subjects;

beforeAll(async () => {
  const watchlist = [listed('amla_1', 'Ivan Morozkin'), listed('plain', 'Ana Quintela')];
  sandbox = await startSandbox({ world: { watchlist, dossiers: [dossier('1', { name: 'Ivan Morozkin' })] } });
  const { url, privateKey, kycLevel, kybLevel, workflowToken } = sandbox;
  client = createClient({ baseUrl: url, apiKey: privateKey, rate: { perSecond: 1_000 } });
  const session = await client.sessions.create({ level: kycLevel });
  const invitation = await client.invitations.create({ workflowToken, channel: 'email', recipient: 'ada@example.org' });
  sandbox.advanceClock(200_000);
  const { token } = invitation.data;
  subjects = { kycLevel, kybLevel, workflowToken, session: session.data.session_id, invitation: token ?? '' };
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
});

const toCall = ({ method, url }: Row): string =>
  `${method} ${url.replace('s_1', subjects.session).replace('adi_1', subjects.invitation)}`;

describe('every operation of the interface', () => {
  it('answers 401 to every credential that it does not take, and does no work', async () => {
    const { publicKey, jwt, privateKey } = sandbox;
    for (const row of operationsTable) {
      if (row.credential === 'none') continue;
      const taken = row.credential === 'public' ? [publicKey] : [privateKey];
      if (row.called.startsWith('invitations.')) taken.push(jwt);
      const wrong = [null, 'private_sandbox_unknown', publicKey, jwt, privateKey];
      for (const key of wrong.filter((one) => one === null || !taken.includes(one))) {
        const received = await callSandbox(sandbox, toCall(row), { key, ...(row.body ? { body: row.body } : {}) });
        expect([row.called, toOutcome(received)]).toEqual([row.called, '401 authentication_error']);
      }
    }
    expect(sandbox.ledger().filter((entry) => entry.status === 401 && entry.worked)).toEqual([]);
  });

  it('answers the client as the interface says, and is in the ledger as work done', async () => {
    for (const row of operationsTable) {
      await row.run(client, subjects);
      const [method, path] = toCall(row).split(/[ ?]/);
      expect(sandbox.ledger().at(-1)).toMatchObject({ method, path, status: row.success, worked: true });
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
      '/dossiers/dossier_1',
      '/dossiers/TOKEN1',
      '/dossiers/entity/entity_1',
      '/dossiers/decision/decision_1',
      '/dossiers/identity_document/id_doc_1',
      '/dossiers/address_proof/poa_1',
      '/dossiers/funds_proof/pof_1',
      '/aml/entity/aml_1',
      `/autodoc/invitations/${subjects.invitation}`,
    ];
    for (const path of paths) {
      expect([path, toOutcome(await callSandbox(sandbox, `GET ${path}`))]).toEqual([path, '200']);
      const foreign = await callSandbox(sandbox, `GET ${path}`, { key: sandbox.otherPrivateKey });
      expect([path, toOutcome(foreign)]).toEqual([path, '404 not_found']);
    }
  });

  it.each([
    '/dossiers/dossier_none',
    '/dossiers/entity/entity_none',
    '/dossiers/entity/id_doc_1',
    '/aml/activity/amla_none',
    '/aml/activity/plain',
    '/autodoc/invitations/adi_none',
  ])('answers 404 to GET %s, which is nowhere', async (path) => {
    expect(toOutcome(await callSandbox(sandbox, `GET ${path}`))).toBe('404 not_found');
  });
});
