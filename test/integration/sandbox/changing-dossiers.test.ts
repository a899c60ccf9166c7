import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { dossier } from '../../unit/sandbox/world-samples.js';
import { callSandbox, steerSandbox, textOf, toOutcome } from './call-sandbox.js';

const DAY_MS = 86_400_000;

let sandbox: Sandbox;
beforeEach(async () => {
  const dossiers = ['a', 'b', 'c', 'd'].map((key, day) =>
    dossier(key, { created_at: `2026-01-0${9 - day}T00:00:00Z` }),
  );
  sandbox = await startSandbox({ world: { watchlist: [], dossiers } });
});
afterEach(() => sandbox.close());

const listIds = async (query = '', key = sandbox.privateKey): Promise<unknown[]> => {
  const { json } = await callSandbox(sandbox, `GET /dossiers?${query}`, { key });
  return Array.isArray(json['dossiers']) ? json['dossiers'].map((row) => String(row.id).replace('dossier_', '')) : [];
};
const readDossier = async (id: string) => (await callSandbox(sandbox, `GET /dossiers/dossier_${id}`)).json;

describe('dossiers that change', () => {
  it('move by command, and by clock at the times that were named, however far the clock is moved at once', async () => {
    sandbox.changeDossiers([
      { update: 'dossier_a', set: { status: 'open' } },
      { update: 'TOKENa', set: { status: 'needs_attention' }, afterMs: DAY_MS },
      { update: 'dossier_a', set: { status: 'rejected' }, afterMs: 2 * DAY_MS },
    ]);
    expect(await readDossier('a')).toMatchObject({ status: 'open', completed_at: null });
    const startMs = Date.now();
    sandbox.advanceClock(DAY_MS);
    expect(await readDossier('a')).toMatchObject({ status: 'needs_attention', completed_at: null });
    sandbox.advanceClock(10 * DAY_MS);
    const rejected = await readDossier('a');
    expect(rejected).toMatchObject({ status: 'rejected', completed_at: rejected['updated_at'] });
    expect(Math.abs(Date.parse(textOf(rejected, 'updated_at')) - startMs - 2 * DAY_MS)).toBeLessThan(5_000);
  });

  it('move when the real time has come too, without a call', async () => {
    sandbox.setEvents({ url: 'http://127.0.0.1:9/', hold: true });
    sandbox.changeDossiers([{ remove: 'dossier_a', afterMs: 20 }]);
    await expect.poll(() => sandbox.events(), { timeout: 20_000 }).toMatchObject([{ type: 'dossier.deleted' }]);
  });

  it('come, go and are committed late while the list is walked', async () => {
    sandbox.changeDossiers([
      { insert: { id: 'dossier_new' }, afterCalls: 1 },
      { insert: { id: 'dossier_late', created_at: '2026-01-08T12:00:00Z' }, afterCalls: 1 },
      { remove: 'dossier_c', afterCalls: 2 },
    ]);
    expect(await listIds('per_page=2')).toEqual(['a', 'b']);
    expect(await listIds('per_page=1&starting_after=dossier_b')).toEqual(['c']);
    expect(await listIds('starting_after=dossier_c')).toEqual([]);
    expect(await listIds()).toEqual(['new', 'a', 'late', 'b', 'd']);
  });

  it('leave a cursor that is gone, which is an empty last page or a 404 as asked', async () => {
    sandbox.changeDossiers([{ remove: 'dossier_b' }]);
    const walkOn = () => callSandbox(sandbox, 'GET /dossiers?starting_after=dossier_b');
    expect((await walkOn()).json).toMatchObject({ dossiers: [], has_more: false });
    sandbox.setMissingCursor('not_found');
    expect(toOutcome(await walkOn())).toBe('404 not_found');
    expect(await listIds('starting_after=dossier_a')).toEqual(['c', 'd']);
  });

  it('belong to the mode that was named, and a test dossier can stray into live data', async () => {
    sandbox.changeDossiers([
      { mode: 'live', insert: { id: 'dossier_paid' } },
      { mode: 'live', insert: { id: 'dossier_stray', is_test: true, created_at: '2026-01-01T00:00:00Z' } },
    ]);
    const { json } = await callSandbox(sandbox, 'GET /dossiers', { key: sandbox.livePrivateKey });
    expect(json['dossiers']).toMatchObject([{ is_test: false }, { id: 'dossier_stray', is_test: true }]);
    expect(await listIds()).toEqual(['a', 'b', 'c', 'd']);
    expect(() => sandbox.changeDossiers([{ mode: 'live', remove: 'dossier_a' }])).toThrow('dossier_a');
  });

  it('have only the records that their state brought so far', async () => {
    const id = sandbox.changeDossiers([{ insert: { status: 'draft' } }])[0]?.replace('dossier_', '') ?? '';
    const kinds = {
      entity: `/dossiers/entity/entity_${id}`,
      document: `/dossiers/identity_document/id_doc_${id}`,
      address: `/dossiers/address_proof/poa_${id}`,
      funds: `/dossiers/funds_proof/pof_${id}`,
      screening: `/aml/entity/aml_${id}`,
      decision: `/dossiers/decision/decision_${id}`,
    };
    const findRecords = async (status: 'draft' | 'open' | 'completed' | 'approved' | 'archived'): Promise<string[]> => {
      sandbox.changeDossiers([{ update: `dossier_${id}`, set: { status } }]);
      const found = [];
      for (const [kind, path] of Object.entries(kinds)) {
        if ((await callSandbox(sandbox, `GET ${path}`)).status === 200) found.push(kind);
      }
      return found;
    };
    expect(await findRecords('draft')).toEqual([]);
    expect(await readDossier(id)).toMatchObject({ entities: [] });
    expect(await findRecords('open')).toEqual(['entity']);
    expect(await readDossier(id)).toMatchObject({ entities: [{ identity_documents: [], liveness_images: [] }] });
    expect(await findRecords('completed')).toEqual(['entity', 'document', 'address', 'funds', 'screening']);
    expect(await findRecords('approved')).toEqual(Object.keys(kinds));
    expect(await findRecords('archived')).toEqual(Object.keys(kinds));
  });

  it('forget what was still to come when the world is replaced', async () => {
    sandbox.changeDossiers([
      { insert: { id: 'dossier_later' }, afterMs: 1_000 },
      { insert: { id: 'dossier_later' }, afterCalls: 1 },
    ]);
    sandbox.setWorld({ watchlist: [], dossiers: [dossier('z')] });
    sandbox.advanceClock(2_000);
    await listIds();
    expect(await listIds()).toEqual(['z']);
  });

  it.each([
    [{ insert: { id: 'dossier_a' } }],
    [{ insert: { token: 'TOKENa' } }],
    [{ insert: { status: 'lost' } }],
    [{ update: 'dossier_none', set: {} }],
    [{ update: 'dossier_a', set: { id: 'dossier_b' } }],
    [{ remove: 'dossier_none' }],
    [{ remove: 'dossier_a', afterMs: 1, afterCalls: 1 }],
    [{ remove: 'dossier_a', afterCalls: 0 }],
  ])('are refused the change %j', async (change) => {
    expect((await steerSandbox(sandbox, 'dossiers', [change])).status).toBe(400);
    expect(await listIds()).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('invitations', () => {
  const PATH = '/autodoc/invitations';
  const invite = async (reference: string, key = sandbox.privateKey): Promise<string> => {
    const body = { workflowToken: sandbox.workflowToken, channel: 'email', recipient: 'ada@example.org', reference };
    return textOf((await callSandbox(sandbox, `POST ${PATH}`, { body, key })).json, 'token');
  };
  const retrieve = async (token: string) => (await callSandbox(sandbox, `GET ${PATH}/${token}`)).json;

  it('lead to a dossier with their reference, and end as it ends', async () => {
    const ends = { approved: 'completed', completed: 'completed', rejected: 'rejected' } as const;
    for (const [status, end] of Object.entries(ends)) {
      const token = await invite(`C-${status}`);
      sandbox.moveInvitation(token, { status: 'started' });
      const { json } = await callSandbox(sandbox, `GET /dossiers?search=C-${status}`);
      const dossierToken = textOf(await retrieve(token), 'dossierToken');
      expect(json['dossiers']).toMatchObject([{ id: dossierToken, reference: `C-${status}`, status: 'open' }]);
      expect((await steerSandbox(sandbox, 'dossiers', [{ update: dossierToken, set: { status } }])).status).toBe(200);
      expect(await retrieve(token)).toMatchObject({ status: end, [`${end}At`]: expect.any(String) });
    }
  });

  it('end their dossier, by clock too', async () => {
    const token = await invite('C-7');
    sandbox.moveInvitation('C-7', { status: 'started', afterMs: 60_000 });
    sandbox.moveInvitation('C-7', { status: 'rejected', afterMs: 120_000 });
    sandbox.advanceClock(60_000);
    const { dossierToken, status } = await retrieve(token);
    expect(status).toBe('started');
    sandbox.advanceClock(60_000);
    expect((await callSandbox(sandbox, `GET /dossiers/${dossierToken}`)).json).toMatchObject({ status: 'rejected' });
  });

  it('of test and live data are apart, and so are their dossiers', async () => {
    const token = await invite('C-8', sandbox.livePrivateKey);
    expect(toOutcome(await callSandbox(sandbox, `GET ${PATH}/${token}`))).toBe('404 not_found');
    expect((await callSandbox(sandbox, `GET ${PATH}?reference=C-8`)).json).toMatchObject({ pagination: { total: 0 } });
    const live = { key: sandbox.livePrivateKey };
    expect((await callSandbox(sandbox, `GET ${PATH}?reference=C-8`, live)).json).toMatchObject({
      pagination: { total: 1 },
    });
    sandbox.moveInvitation(token, { status: 'started' });
    expect(await listIds('search=C-8')).toEqual([]);
    expect((await callSandbox(sandbox, 'GET /dossiers?search=C-8', live)).json).toMatchObject({
      dossiers: [{ is_test: false }],
    });
  });
});
