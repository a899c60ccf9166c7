import { createHash, verify } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { listenOnLoopback } from '../../helpers/loopback.js';
import { dossier, listed } from '../../unit/sandbox/world-samples.js';
import { callSandbox, steerSandbox } from './call-sandbox.js';

interface Received {
  headers: IncomingHttpHeaders;
  raw: string;
}
const bodySchema = z.strictObject({
  event_id: z.string(),
  created_at: z.iso.datetime(),
  event_type: z.string(),
  resource: z.looseObject({}),
  organization: z.string(),
  jwt: z.string(),
});

let sandbox: Sandbox;
let receiver: Server;
let url: string;
let received: Received[];
/** The status of each answer in turn, then 200; 0 cuts the connection. */
let answers: number[];
beforeEach(async () => {
  received = [];
  answers = [];
  receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, raw: await text(request) });
    const status = answers.shift() ?? 200;
    if (status === 0) request.socket.destroy();
    else response.writeHead(status).end();
  });
  url = `http://127.0.0.1:${await listenOnLoopback(receiver)}/hooks`;
  const watchlist = [listed('amla_ivan', 'Ivan Morozkin')];
  sandbox = await startSandbox({ world: { watchlist, dossiers: [dossier('a')] } });
});
afterEach(async () => {
  await sandbox.close();
  receiver.close();
});

const parse = ({ raw }: Received) => bodySchema.parse(JSON.parse(raw));
const typesReceived = (): string[] => received.map((one) => parse(one).event_type);
const keyOf = ({ headers }: Received) => headers['idempotency-key'];
const header = ({ headers }: Received): string => String(headers['x-bynn-signature']);

/** The claims of a JWT that the sandbox's key verifies; undefined when it does not. */
const readClaims = (jwt: string): Record<string, unknown> | undefined => {
  const [head = '', claims = '', signature = ''] = jwt.split('.');
  const content = Buffer.from(`${head}.${claims}`);
  const isGenuine = verify('sha256', content, sandbox.eventKey, Buffer.from(signature, 'base64url'));
  return isGenuine ? JSON.parse(Buffer.from(claims, 'base64url').toString()) : undefined;
};
const ofRaw = (raw: string): string => createHash('sha256').update(raw).digest('hex');
const withRetries = { timeout: 20_000 };
const whenReceived = (count: number) => expect.poll(() => received.length, withRetries).toBe(count);
const isDone = () => sandbox.events().every(({ state }) => state === 'delivered');

describe('events', () => {
  it('of a dossier come for each of its steps, and carry what the look-up of the record shows', async () => {
    sandbox.setEvents({ url });
    const [id = ''] = sandbox.changeDossiers([{ insert: { name: 'Ivan Morozkin' } }]);
    sandbox.changeDossiers([{ update: id, set: { status: 'completed' } }]);
    sandbox.changeDossiers([
      { update: id, set: { status: 'approved' } },
      { remove: id, afterMs: 1_000 },
    ]);
    await whenReceived(13);
    expect(typesReceived()).toEqual([
      'dossier.created',
      'entity.created',
      'dossier.updated',
      'session.completed',
      'identity_document.created',
      'address_proof.created',
      'funds_proof.created',
      'aml_entity.created',
      'aml_activity.created',
      'dossier.updated',
      'decision.approved',
      'aml_activity.rejected',
      'dossier.deleted',
    ]);
    const resources = new Map(received.map((one) => [parse(one).event_type, parse(one).resource]));
    expect(resources.get('dossier.created')).toMatchObject({ id, rel: { url: `${sandbox.url}/dossiers/${id}` } });
    expect(resources.get('session.completed')).toMatchObject({ dossier_id: id });
    for (const [type, resource] of resources)
      expect([type, JSON.stringify(resource)]).toEqual([type, expect.not.stringContaining('signature=')]);
  });

  it('are signed over the exact body, for a day of real time', async () => {
    sandbox.setEvents({ url });
    sandbox.advanceClock(40 * 86_400_000);
    sandbox.makeEvent({ type: 'decision.approved', dossier: 'dossier_a' });
    sandbox.makeEvent({ type: 'something.new', forged: true });
    await whenReceived(2);
    const [genuine, forged] = received;
    if (!genuine || !forged) throw new Error('nothing received');
    const { sha256, exp } = readClaims(header(genuine)) ?? {};
    expect(sha256).toBe(ofRaw(genuine.raw));
    expect(Math.abs(Number(exp) - Date.now() / 1_000 - 86_400)).toBeLessThan(60);
    expect(parse(genuine)).toMatchObject({
      resource: { id: 'decision_a', dossier_id: 'dossier_a', status: 'approved' },
    });
    expect(readClaims(parse(genuine).jwt)).toMatchObject({ event_id: parse(genuine).event_id });
    expect(readClaims(header(forged))).toBeUndefined();
    expect(parse(forged)).toMatchObject({ event_type: 'something.new', resource: { dossier_id: 'dossier_unknown' } });
  });

  it('are retried by the clock with one key and one body until they are taken', async () => {
    answers = [500, 0, 302];
    sandbox.setEvents({ url });
    sandbox.makeEvent({ type: 'decision.rejected' });
    for (const [count, waitMs] of [
      [1, 5_000],
      [2, 10_000],
      [3, 20_000],
    ] as const) {
      await expect.poll(() => sandbox.events()[0]?.attempts.length, withRetries).toBe(count);
      sandbox.advanceClock(waitMs);
    }
    await whenReceived(4);
    await expect.poll(isDone, withRetries).toBe(true);
    expect(new Set(received.map(keyOf)).size).toBe(1);
    expect(new Set(received.map(({ raw }) => raw)).size).toBe(1);
    expect(sandbox.events()[0]).toMatchObject({ attempts: [500, null, 302, 200] });
  });

  it('are given up after a day', async () => {
    answers = Array.from({ length: 50 }, () => 503);
    sandbox.setEvents({ url });
    sandbox.makeEvent({ type: 'decision.rejected' });
    for (let made = 1; sandbox.events()[0]?.state !== 'given_up'; made += 1) {
      await expect.poll(() => sandbox.events()[0]?.attempts.length, withRetries).toBe(made);
      sandbox.advanceClock(5_000 * 2 ** (made - 1));
    }
    expect(received.length).toBe(15);
  });

  it('are held, repeated and put out of order on demand, the same way for the same seed', async () => {
    sandbox.setEvents({ url, hold: true });
    for (let count = 0; count < 30; count += 1) sandbox.makeEvent({ type: 'entity.updated' });
    const keys = sandbox.events().map(({ idempotencyKey }) => idempotencyKey);
    expect(received).toEqual([]);
    expect(sandbox.deliverEvents({ order: 'shuffled', seed: 3, times: 2 })).toBe(60);
    await whenReceived(60);
    const shuffled = received.map(keyOf);
    expect([...new Set(shuffled)].sort()).toEqual([...keys].sort());
    expect([...new Set(shuffled)]).not.toEqual(keys);
    sandbox.deliverEvents({ order: 'shuffled', seed: 3, times: 2, again: true });
    await whenReceived(120);
    expect(received.slice(60).map(keyOf)).toEqual(shuffled);
    sandbox.deliverEvents({ order: 'reversed', again: true });
    await whenReceived(150);
    expect(received.slice(120).map(keyOf)).toEqual(keys.reverse());
    expect(sandbox.deliverEvents({})).toBe(0);
  });

  it('have the published names where asked, and concern one mode', async () => {
    sandbox.setEvents({ url, mode: 'live', vocabulary: 'published' });
    sandbox.changeDossiers([
      { insert: { name: 'Ivan Morozkin' } },
      { mode: 'live', insert: { name: 'Ivan Morozkin', status: 'rejected' } },
    ]);
    await whenReceived(10);
    const names = ['proof_of_address.created', 'proof_of_funds.created'];
    const screening = ['aml.screening.match', 'aml.screening.match_confirmed'];
    expect(typesReceived()).toEqual(expect.arrayContaining([...names, ...screening]));
    expect(parse(received[0] ?? { headers: {}, raw: '' })).toMatchObject({ resource: { is_test: false } });
  });

  it('come from dossiers that the interface creates too, and end when there is nowhere to send them', async () => {
    sandbox.setEvents({ url });
    await callSandbox(sandbox, 'POST /dossiers', { body: { type: 'kyc', level: sandbox.kycLevel } });
    await whenReceived(2);
    sandbox.setEvents({ url: null });
    sandbox.changeDossiers([{ remove: 'dossier_a' }]);
    expect(sandbox.events().length).toBe(2);
    expect(() => sandbox.makeEvent({ type: 'entity.created' })).toThrow('no URL');
  });

  it.each([
    'http://192.0.2.7/hooks',
    'http://elsewhere.example/',
    'http://127.0.0.1.example/',
    'ftp://127.0.0.1/',
    'x',
  ])('are not sent to %s, which is not on this machine', async (elsewhere) => {
    const { status, json } = await steerSandbox(sandbox, 'events', { url: elsewhere });
    expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining('this machine')]);
  });
});
