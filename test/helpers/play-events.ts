import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { Agent, request } from 'node:http';
import { expect } from 'vitest';
import { z } from 'zod';
import { sweepMarked } from '../../src/runs/dirty-run.js';
import { openOrganisation } from '../../src/runs/session.js';
import { runSweep } from '../../src/runs/sweep-run.js';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import type { SandboxDossier } from '../../src/sandbox/world.js';
import type { Database } from '../../src/store/database/database.js';
import { markDossiers } from '../../src/store/dossiers/event-marks.js';
import { startListener } from '../../src/webhooks/listener.js';
import { listenSettingsSchema } from '../../src/webhooks/settings.js';
import { makeSeededRandom } from './figures.js';
import { buildSandboxDossier, makeAppContext, usualScreening } from './small-world.js';

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
// The service has 2,048 bits, with which signing the events of a test takes six times as long.
const makePair = () => generateKeyPairSync('rsa', { modulusLength: 1_024 });
const pair = makePair();

/** The key with which a listener verifies the events of `signEvent`. */
export const eventKey: KeyObject = pair.publicKey;
/** A key that no listener accepts. */
export const foreignKey: KeyObject = makePair().privateKey;

/** An event as it goes over the wire. */
interface SignedEvent {
  body: string;
  headers: Record<string, string>;
}

/** Signs an event as the service does; `signed` in place of the body makes the digest wrong. */
export function signEvent(
  type: string,
  resource: unknown,
  {
    key = pair.privateKey,
    idempotencyKey = randomUUID() as string,
    expiresInS = 86_400,
    body: given = '',
    signed = '',
  } = {},
): SignedEvent {
  const fields = { event_id: randomUUID(), created_at: new Date().toISOString(), event_type: type, resource };
  const body = given === '' ? JSON.stringify(fields) : given;
  const sha256 = createHash('sha256')
    .update(signed === '' ? body : signed)
    .digest('hex');
  const exp = Math.floor(Date.now() / 1_000) + expiresInS;
  const content = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ sha256, exp })}`;
  const signature = `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
  return { body, headers: { 'X-Bynn-Signature': signature, 'Idempotency-Key': idempotencyKey } };
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** Sends an event over a kept connection; gives the status of the answer. */
export const sendEvent = (port: number, { body, headers }: SignedEvent, path = '/events'): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request({ agent, port, path, host: '127.0.0.1', method: 'POST', headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject);
    sent.end(body);
  });

const types = `session.completed decision.approved decision.rejected entity.updated identity_document.created
  address_proof.created proof_of_address.created funds_proof.created proof_of_funds.created
  aml_entity.updated aml_activity.created aml.screening.match dossier.updated dossier.deleted`.split(/\s+/);
const statuses = ['open', 'completed', 'needs_attention', 'approved', 'rejected', 'archived'] as const;
const signal = new AbortController().signal;
const dossiers = 200;
const eventsPerRound = 250;

const dossierRow = z.object({ id: z.string(), snapshot: z.unknown(), isGone: z.boolean() });
const readDossiers = (database: Database) =>
  database.query(
    dossierRow,
    'select dossier_id as id, snapshot, gone_at is not null as "isGone" from dossier order by dossier_id',
  );

/** An event on its way: never sent, sent once, or several times. */
interface Underway {
  id: string;
  type: string;
  idempotencyKey: string;
  fate: 'forged' | 'unknown' | 'genuine';
}

/**
 * Changes a world at random and reports it to one of two databases by so many events: a fifth are lost, a tenth forged, many arrive two or three
 * times, and the events of a round, with the delayed ones, arrive in random order. In the end both databases contain the result of a whole sweep,
 * and before that the first contained the dossiers of its events. Forged events cause no call.
 */
export async function playEvents({
  open,
  events,
  seed,
}: {
  open: () => Promise<Database>;
  events: number;
  seed: number;
}): Promise<{ taken: number; repeated: number; forged: number; lookUps: number }> {
  const random = makeSeededRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const world = new Map(
    Array.from({ length: dossiers }, (_, index) => buildSandboxDossier(index + 1)).map((dossier) => [
      dossier.id,
      dossier,
    ]),
  );
  const sandbox = await startSandbox({ world: { watchlist: [], dossiers: [...world.values()] } });
  const options = {
    rate: { perSecond: 10_000, concurrency: 8 },
    // Most dossiers are removed one day.
    settings: { screening: { ...usualScreening, hold: { lostDossierShare: 1 } } },
  };
  const reported = await makeAppContext(await open(), sandbox, options);
  const unreported = await makeAppContext(await open(), sandbox, options);
  const { organisationId } = await openOrganisation(reported);
  const listener = await startListener({
    settings: listenSettingsSchema.parse({}),
    port: 0,
    publicKey: eventKey,
    keep: (heard) => markDossiers(reported.database, organisationId, heard, new Date()),
    complain: () => undefined,
  });
  try {
    for (const app of [reported, unreported]) await runSweep(app, { writeReport: false }, signal);
    let made = 0;
    let heldBack: Underway[] = [];
    const changedIn = new Map<string, number>();
    const heardIn = new Map<string, number>();
    for (let round = 0; made < events || heldBack.length > 0; round += 1) {
      const sending = heldBack;
      heldBack = [];
      for (let count = 0; count < eventsPerRound && made < events; count += 1, made += 1) {
        const id = changeWorld(world, random, pick, dossiers + made);
        if (world.has(id) || changedIn.has(id)) changedIn.set(id, round);
        const fate = random() < 0.1 ? 'forged' : random() < 0.05 ? 'unknown' : 'genuine';
        const event: Underway = { id, type: pick(types), idempotencyKey: `${seed}-${made}`, fate };
        const chance = random();
        if (fate === 'forged') sending.push({ ...event, id: `dossier_Forged${made}` });
        // Lost, delayed until another round, or sent up to three times.
        else if (chance < 0.2) continue;
        else if (chance < 0.35) heldBack.push(event);
        else for (let times = Math.ceil(random() * 3); times > 0; times -= 1) sending.push(event);
      }
      sandbox.setWorld({ watchlist: [], dossiers: [...world.values()].toSorted(byAge) });
      const shuffled = sending.map((event) => ({ event, at: random() })).toSorted((one, other) => one.at - other.at);
      for (let at = 0; at < shuffled.length; at += 32) {
        const batch = shuffled.slice(at, at + 32).map(({ event }) => event);
        const answers = batch.map(({ id, type, idempotencyKey, fate }) => {
          const name = fate === 'unknown' ? 'invoice.paid' : type;
          const key = fate === 'forged' ? { key: foreignKey } : {};
          return sendEvent(listener.port, signEvent(name, { dossier_id: id }, { ...key, idempotencyKey }));
        });
        expect(await Promise.all(answers)).toEqual(batch.map(({ fate }) => (fate === 'forged' ? 401 : 200)));
      }
      for (const { id, fate } of sending) if (fate === 'genuine') heardIn.set(id, round);
      await sweepMarked(reported, signal);
    }
    const stored = new Map((await readDossiers(reported.database)).map((row) => [row.id, row]));
    const known = [...world.values()].filter(({ id }) => (heardIn.get(id) ?? -1) >= (changedIn.get(id) ?? 0));
    expect(known.length).toBeGreaterThan(dossiers / 4);
    for (const { id, status, risk_score: riskScore } of known) {
      expect(stored.get(id)?.snapshot).toMatchObject({ status, riskScore });
    }
    for (const app of [reported, unreported]) {
      expect(await runSweep(app, { writeReport: false }, signal)).toMatchObject({ state: 'complete' });
    }
    const [ofReported, ofUnreported] = await Promise.all([
      readDossiers(reported.database),
      readDossiers(unreported.database),
    ]);
    const alive = (rows: typeof ofReported) => rows.filter(({ isGone }) => !isGone);
    expect(alive(ofReported)).toEqual(alive(ofUnreported));
    // A dossier that was created and removed between two sweeps is known, as gone, only where an event reported it.
    expect(
      ofReported
        .filter(({ isGone, id }) => isGone && !ofUnreported.some((row) => row.id === id && row.isGone))
        .map(({ id }) => world.has(id)),
    ).not.toContain(true);
    const asked = sandbox.ledger().filter(({ path }) => path.startsWith('/dossiers/'));
    expect(asked.filter(({ path }) => path.includes('Forged'))).toEqual([]);
    const { taken, repeated, forged } = listener.counts;
    return { taken, repeated, forged, lookUps: asked.length };
  } finally {
    await listener.stop();
    await reported.client().close();
    await unreported.client().close();
    await sandbox.close();
  }
}

const byAge = (one: SandboxDossier, other: SandboxDossier): number => other.created_at.localeCompare(one.created_at);

/** Makes a dossier, removes one, or changes one; gives its id. One event in five reports no change. */
function changeWorld(
  world: Map<string, SandboxDossier>,
  random: () => number,
  pick: <T>(items: readonly T[]) => T,
  number: number,
): string {
  const chance = random();
  if (chance < 0.05) {
    const made = buildSandboxDossier(number, { status: pick(statuses) });
    world.set(made.id, made);
    return made.id;
  }
  const dossier = pick([...world.values()]);
  if (chance < 0.08) world.delete(dossier.id);
  else if (chance < 0.8) {
    const updatedAt = new Date(Date.parse(dossier.updated_at) + Math.ceil(random() * 60_000)).toISOString();
    const risk = Math.floor(random() * 100);
    world.set(dossier.id, { ...dossier, status: pick(statuses), risk_score: risk, updated_at: updatedAt });
  }
  return dossier.id;
}
