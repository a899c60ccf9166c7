import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { dirtyJob } from '../../../jobs/dirty.js';
import { dossierLinkSchema } from '../../../src/roster/settings.js';
import type { RunSettings } from '../../../src/runs/app-context.js';
import { screenMarked, sweepMarked } from '../../../src/runs/dirty-run.js';
import { openEventSpool } from '../../../src/runs/event-spool.js';
import { openOrganisation } from '../../../src/runs/session.js';
import { runSweep } from '../../../src/runs/sweep-run.js';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import { findLastSweep } from '../../../src/store/dossiers/dossiers.js';
import { markDossiers } from '../../../src/store/dossiers/event-marks.js';
import { findLastNights } from '../../../src/store/operations/watch-facts.js';
import { findReportableRuns } from '../../../src/store/runs.js';
import { type Listener, type ListenerParts, startListener } from '../../../src/webhooks/listener.js';
import { listenSettingsSchema } from '../../../src/webhooks/settings.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { eventKey, foreignKey, sendEvent, signEvent } from '../../helpers/play-events.js';
import { acceptChanges, openPreparedSites, type SmallSite, searched } from '../../helpers/small-site.js';
import {
  buildSandboxDossier,
  hourMs,
  listed,
  minuteMs,
  people,
  signal,
  usualScreening,
} from '../../helpers/small-world.js';

const closing: Listener[] = [];
afterEach(async () => {
  for (const listener of closing.splice(0)) await listener.stop();
});

async function listen(parts: Partial<ListenerParts> = {}) {
  const complaints: string[] = [];
  const listener = await startListener({
    settings: listenSettingsSchema.parse({}),
    port: 0,
    publicKey: eventKey,
    keep: async (events) => events.length,
    complain: (_, message) => complaints.push(message),
    ...parts,
  });
  closing.push(listener);
  return {
    listener,
    complaints,
    send: (...of: Parameters<typeof signEvent>) => sendEvent(listener.port, signEvent(...of)),
  };
}

const about = { dossier_id: 'dossier_Ada' };

describe('a listener', () => {
  it('takes only what the service has signed, whole and in time', async () => {
    const { listener, complaints, send } = await listen();
    expect(await send('decision.approved', about)).toBe(200);
    expect(await send('decision.approved', about, { key: foreignKey })).toBe(401);
    expect(await send('decision.approved', about, { signed: 'something else' })).toBe(401);
    expect(await send('decision.approved', about, { expiresInS: -120 })).toBe(401);
    expect(await sendEvent(listener.port, { ...signEvent('decision.approved', about), headers: {} })).toBe(401);
    expect(await send('x', about, { body: '{"event_type"' })).toBe(400);
    expect(await send('x', about, { body: '["decision.approved"]' })).toBe(400);
    expect(await send('x', about, { body: '{"event_type":7}' })).toBe(400);
    expect(listener.counts).toMatchObject({ taken: 1, forged: 4, malformed: 3 });
    await send('decision.approved', about, { key: foreignKey });
    // Each way is told once.
    expect(complaints).toHaveLength(5);
  });

  it('reads no more of a body than it may, announced or not', async () => {
    const { listener, send } = await listen();
    const large = JSON.stringify({ event_type: 'decision.approved', resource: about, padding: 'x'.repeat(300_000) });
    expect(await send('x', about, { body: large })).toBe(413);
    const { headers } = signEvent('x', about, { body: large });
    const chunked = await fetch(`http://127.0.0.1:${listener.port}/events`, {
      method: 'POST',
      headers,
      body: new Blob([large]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(chunked.status).toBe(413);
    expect(await send('decision.approved', about)).toBe(200);
    expect(listener.counts).toMatchObject({ taken: 1, tooLarge: 2 });
  });

  it('has one path for events and one for health, and no other name for readers', async () => {
    const { listener } = await listen();
    const origin = `http://127.0.0.1:${listener.port}`;
    expect(await sendEvent(listener.port, signEvent('decision.approved', about), '/hooks')).toBe(404);
    expect((await fetch(`${origin}/events`)).status).toBe(405);
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    expect((await fetch(`${origin}/healthz`, { method: 'POST' })).status).toBe(405);
    const { headers, body } = signEvent('decision.approved', about);
    // A proxy passes the public name on; a page of another site reads nothing by its own.
    expect(await sendEvent(listener.port, { body, headers: { ...headers, host: 'events.example' } })).toBe(200);
    expect(await sendEvent(listener.port, { body, headers: { ...headers, host: 'evil.example' } }, '/healthz')).toBe(
      421,
    );
  });

  it.each([
    ['session.completed', { dossier_id: 'dossier_A1' }, ['dossier_A1'], false],
    ['decision.rejected', { id: 'decision_B', dossier: { id: 'dossier_B2' } }, ['dossier_B2'], false],
    [
      'dossier.updated',
      { id: 'dossier_C3', rel: { url: 'https://service.example/v1/dossiers/dossier_C3' } },
      ['dossier_C3'],
      false,
    ],
    ['dossier.updated', { rel: { url: 'https://service.example/v1/dossiers/dossier_D4?x=1' } }, ['dossier_D4'], false],
    ['address_proof.created', { dossier_id: 'dossier_E5' }, ['dossier_E5'], false],
    ['proof_of_address.created', { dossier_id: 'dossier_E5' }, ['dossier_E5'], false],
    ['funds_proof.created', { dossier_id: 'dossier_F6' }, ['dossier_F6'], false],
    ['proof_of_funds.created', { dossier_id: 'dossier_F6' }, ['dossier_F6'], false],
    ['aml_entity.updated', { dossier_id: 'dossier_G7' }, ['dossier_G7'], true],
    ['aml_activity.created', { dossier_id: 'dossier_H8' }, ['dossier_H8'], true],
    ['aml.screening.match', { dossier_id: 'dossier_H8' }, ['dossier_H8'], true],
    ['aml.screening.match_rejected', { dossier_id: 'dossier_H8' }, ['dossier_H8'], true],
    ['entity.created', { id: 'entity_I9', name: 'dossier_open', status: { dossier_id: 'no dossier' } }, [], false],
    ['decision.approved', { dossier_id: `dossier_${'x'.repeat(65)}`, id: "dossier_1'; drop table run --" }, [], false],
    ['entity.created', null, [], false],
  ] as const)('%s is about %j', async (type, resource, dossierIds, isAml) => {
    const heard: unknown[] = [];
    const { send } = await listen({
      keep: async (events) => heard.push(...events.map((event) => ({ ...event, key: '' }))),
    });
    expect(await send(type, resource)).toBe(200);
    expect(heard).toEqual([{ key: '', dossierIds, isAml }]);
  });

  it('counts unknown types and ignores them', async () => {
    const heard: unknown[] = [];
    const { listener, send } = await listen({ keep: async (events) => heard.push(...events) });
    for (const type of ['invoice.paid', 'dossier', 'aml.screening.other', 'constructor']) {
      expect(await send(type, about)).toBe(200);
    }
    expect(heard).toEqual([]);
    expect(listener.counts).toMatchObject({ taken: 0, unknownType: 4 });
  });

  it('answers 503 where nothing can be kept, and 200 again afterwards', async () => {
    let isDown = true;
    const { listener, complaints, send } = await listen({
      keep: async (events) => {
        if (isDown) throw new Error('the database is away');
        return events.length;
      },
    });
    expect(await send('decision.approved', about)).toBe(503);
    isDown = false;
    expect(await send('decision.approved', about)).toBe(200);
    expect(listener.counts).toMatchObject({ taken: 1, notKept: 1 });
    expect(complaints).toEqual(['the database is away']);
  });

  it('answers what it has received before it stops', async () => {
    let keep = (): void => undefined;
    const { listener, send } = await listen({
      keep: async (events) => {
        await new Promise<void>((resolve) => {
          keep = resolve;
        });
        return events.length;
      },
    });
    const sent = send('decision.approved', about);
    await delay(100);
    const stopped = listener.stop();
    keep();
    expect(await sent).toBe(200);
    const stopping = performance.now();
    await stopped;
    expect(performance.now() - stopping).toBeLessThan(1_000);
    closing.length = 0;
    await expect(send('decision.approved', about)).rejects.toThrow(/ECONNREFUSED|hang up/);
  });
});

const markRow = z.object({ dossierId: z.string(), events: z.number(), isAml: z.boolean(), tries: z.number() });
const readMarks = (database: Database) =>
  database.query(
    markRow,
    'select dossier_id as "dossierId", events, is_aml as "isAml", tries from dossier_mark order by dossier_id',
  );
const readMarkedCustomers = (database: Database): Promise<readonly string[]> =>
  readColumn(
    database,
    z.string(),
    `select reference from customer_mark join customer using (customer_id) order by reference`,
  );
const countRuns = async (database: Database): Promise<number> => (await readRows(database, 'select from run')).length;
const snapshotRow = z.object({ id: z.string(), snapshot: z.unknown(), gone: z.boolean() });
const readSnapshots = (database: Database) =>
  database.query(
    snapshotRow,
    'select dossier_id as id, snapshot, gone_at is not null as gone from dossier order by dossier_id',
  );

const [first, second, third, fourth] = [
  buildSandboxDossier(3, { status: 'open' }),
  buildSandboxDossier(4),
  buildSandboxDossier(5),
  buildSandboxDossier(6),
] as const;
const dossiers = [first, second, third, fourth];

describeOnPostgres('events as hints', (_open, databases) => {
  const workOf = (site: SmallSite) => {
    const roster = { ...site.roster, dossiers: dossierLinkSchema.parse({}) };
    const work = (offsetMs = 0, settings: Partial<RunSettings> = {}) =>
      site.work({ settings: { rosters: [roster], controls: [], ...settings }, offsetMs });
    return { roster, work };
  };

  const beginScreened = openPreparedSites(
    databases,
    async (site) => {
      const app = await workOf(site).work(-3 * hourMs);
      await runSweep(app, { writeReport: false }, signal);
      await site.run(app);
      return (await openOrganisation(app)).organisationId;
    },
    { world: { watchlist: [], dossiers } },
  );

  /** A site after a sweep of four dossiers and a screening three hours ago, with a listener for the sandbox's events. */
  const begin = async () => {
    const { prepared: organisationId, ...site } = await beginScreened();
    const { sandbox, database } = site;
    const { listener } = await listen({
      publicKey: createPublicKey(sandbox.eventKey),
      keep: (events) => markDossiers(database, organisationId, events, new Date()),
    });
    const url = `http://127.0.0.1:${listener.port}/events`;
    sandbox.setEvents({ url });
    const whenDelivered = () =>
      expect.poll(() => sandbox.events().every(({ state }) => state === 'delivered'), { timeout: 20_000 }).toBe(true);
    return { ...site, ...workOf(site), url, listener, whenDelivered, organisationId };
  };

  it('mark a dossier, which is looked up and stored as in a sweep, and its customer, who is screened', async () => {
    const { sandbox, database, work, whenDelivered, listener, roster } = await begin();
    const app = await work();
    const swept = await findLastSweep(database, { organisationId: 1 });
    sandbox.changeDossiers([{ update: first.id, set: { status: 'rejected', risk_score: 90 } }]);
    await whenDelivered();
    expect((await readMarks(database)).map(({ dossierId }) => dossierId)).toEqual([first.id]);
    const run = await sweepMarked(app, signal);
    expect(run).toMatchObject({ kind: 'sweep', state: 'complete', counts: { dossiers: 1, appeared: 0, changed: 1 } });
    expect(await readMarks(database)).toEqual([]);
    const [stored] = await readSnapshots(database);
    expect(stored?.snapshot).toMatchObject({ status: 'rejected', riskScore: 90, reference: 'C-3' });
    // The last sweep remains the whole one; the next whole sweep reports what was found.
    expect(await findLastSweep(database, { organisationId: 1 })).toEqual(swept);
    expect(await readMarkedCustomers(database)).toEqual(['C-3']);

    const searches = searched(sandbox, people[2] ?? '');
    const screened = await screenMarked(app, roster, signal);
    expect(screened).toMatchObject({
      kind: 'screen',
      state: 'complete',
      counts: { planned: 1, screened: 1, skipped: 0 },
    });
    expect(searched(sandbox, people[2] ?? '')).toBe(searches + 1);
    expect(await readMarkedCustomers(database)).toEqual([]);

    const whole = await runSweep(app, { writeReport: false }, signal);
    expect(whole).toMatchObject({ counts: { changed: 1, appeared: 0, gone: 0, proven: true } });
    expect(listener.counts.forged).toBe(0);
  });

  it('the next night reports what such runs find, and they do not count as nights or sweeps', async () => {
    const { sandbox, database, work, organisationId, roster, run } = await begin();
    sandbox.setWorld({ watchlist: [listed('three', people[2] ?? '')], dossiers });
    const hint = { key: 'a'.repeat(64), dossierIds: [first.id], isAml: true };
    await markDossiers(database, organisationId, [hint], new Date());
    const [night] = await findReportableRuns(database, 'default');
    const before = await Promise.all([
      findLastNights(database, organisationId, null),
      findLastNights(database, organisationId, roster.name),
    ]);
    const app = await work();
    expect(await sweepMarked(app, signal)).toMatchObject({ state: 'complete' });
    const found = await screenMarked(app, roster, signal);
    expect(found).toMatchObject({ state: 'complete', counts: { planned: 1, screened: 1 } });
    expect((await findReportableRuns(database, 'default')).map(({ runId }) => runId)).toEqual([night?.runId]);
    const after = await Promise.all([
      findLastNights(database, organisationId, null),
      findLastNights(database, organisationId, roster.name),
    ]);
    expect(after).toEqual(before);
    const next = await run(await work(24 * hourMs), { writeReport: true });
    expect(next).toMatchObject({ state: 'complete' });
    const covered =
      'select unnest(earlier_run_ids) as earlier from report where run_id = (select max(run_id) from run)';
    expect(await readColumn(database, z.number(), covered)).toContain(Number(found?.runId.split('-').at(-1)));
  });

  it('an event about AML screening marks the customer of an unchanged dossier, also when a proven sweep clears the mark of the dossier', async () => {
    const { sandbox, database, work, whenDelivered, url } = await begin();
    sandbox.setEvents({ url, vocabulary: 'published' });
    sandbox.makeEvent({ type: 'aml.screening.match', dossier: second.id });
    sandbox.makeEvent({ type: 'proof_of_address.created', dossier: first.id });
    await whenDelivered();
    expect(await sweepMarked(await work(), signal)).toMatchObject({ counts: { dossiers: 2, changed: 0 } });
    expect(await readMarkedCustomers(database)).toEqual(['C-4']);

    sandbox.setEvents({ url });
    sandbox.makeEvent({ type: 'decision.approved', dossier: first.id });
    sandbox.makeEvent({ type: 'aml_activity.created', dossier: third.id });
    await whenDelivered();
    expect(await readMarks(database)).toHaveLength(2);
    await runSweep(await work(minuteMs), { writeReport: false }, signal);
    expect(await readMarks(database)).toEqual([]);
    expect(await readMarkedCustomers(database)).toEqual(['C-4', 'C-5']);
  });

  it('without marks there is no run and no call; a repeated event marks nothing, and a mark made during the look-up stays', async () => {
    const { sandbox, database, work, roster, whenDelivered, listener, organisationId } = await begin();
    const app = await work();
    const [runs, calls] = [await countRuns(database), sandbox.ledger().length];
    expect(await sweepMarked(app, signal)).toBeNull();
    expect(await screenMarked(app, roster, signal)).toBeNull();
    const dueSlot = { date: '2026-01-01', dueAt: new Date(), attempt: 1, isLate: false };
    expect(await dirtyJob.run(app, signal, dueSlot)).toEqual({ runs: [] });
    expect([await countRuns(database), sandbox.ledger().length]).toEqual([runs, calls]);

    sandbox.makeEvent({ type: 'decision.approved', dossier: first.id });
    await whenDelivered();
    await sweepMarked(app, signal);
    sandbox.deliverEvents({ again: true, times: 3 });
    await expect.poll(() => listener.counts.repeated).toBe(3);
    expect(await readMarks(database)).toEqual([]);

    const key = (digit: string): string => digit.repeat(64);
    const hint = { dossierIds: [first.id], isAml: false };
    await markDossiers(database, organisationId, [{ ...hint, key: key('1') }], new Date());
    const { client } = app;
    const { dossiers: resource } = client();
    const marking = {
      ...app,
      client: () => ({
        ...client(),
        dossiers: {
          ...resource,
          retrieve: async (...given: Parameters<typeof resource.retrieve>) => {
            const answer = await resource.retrieve(...given);
            await markDossiers(database, organisationId, [{ ...hint, key: key('2') }], new Date());
            return answer;
          },
        },
      }),
    };
    expect(await sweepMarked(marking, signal)).toMatchObject({ state: 'complete', counts: { dossiers: 1 } });
    expect(await readMarks(database)).toMatchObject([{ dossierId: first.id, events: 2 }]);
  });

  it('an event before its record waits; an event about an unknown dossier expires; a known dossier that is not found is not gone', async () => {
    const { sandbox, database, work, whenDelivered } = await begin();
    const late = buildSandboxDossier(7, { reference: 'C-1' });
    sandbox.makeEvent({ type: 'decision.approved', dossier: late.id });
    sandbox.makeEvent({ type: 'decision.approved', dossier: 'dossier_Never' });
    sandbox.changeDossiers([{ remove: second.id }]);
    await whenDelivered();
    expect(await sweepMarked(await work(), signal)).toMatchObject({ counts: { dossiers: 3, appeared: 0, changed: 0 } });
    expect((await readMarks(database)).map(({ tries }) => tries)).toEqual([1, 1, 1]);
    // Not before five minutes have passed.
    expect(await sweepMarked(await work(), signal)).toBeNull();
    sandbox.setEvents({ url: null });
    sandbox.changeDossiers([{ insert: late }]);
    expect(await sweepMarked(await work(6 * minuteMs), signal)).toMatchObject({ counts: { dossiers: 3, appeared: 1 } });
    for (let offsetMs = 20 * minuteMs; offsetMs < 30 * hourMs; offsetMs *= 2.1)
      await sweepMarked(await work(offsetMs), signal);
    expect(await readMarks(database)).toEqual([]);
    expect((await readSnapshots(database)).map(({ id, gone }) => [id, gone])).toEqual(
      [...dossiers, late].map(({ id }) => [id, false]),
    );
    await runSweep(await work(), { writeReport: false }, signal);
    expect((await readSnapshots(database)).filter(({ gone }) => gone).map(({ id }) => id)).toEqual([second.id]);
  });

  it('an unavailable service leaves the marks, and an interrupted sweep stays resumable', async () => {
    const { sandbox, database, work, whenDelivered } = await begin();
    const app = await work();
    sandbox.setFaults([{ path: '/dossiers', status: 401 }]);
    const broken = await runSweep(app, { writeReport: false }, signal);
    expect(broken).toMatchObject({ state: 'stopped' });
    sandbox.makeEvent({ type: 'decision.approved', dossier: first.id });
    await whenDelivered();
    sandbox.setFaults([{ path: `/dossiers/${first.id}`, status: 500, times: 50 }]);
    await sweepMarked(app, signal);
    expect(await readMarks(database)).toMatchObject([{ dossierId: first.id, tries: 0 }]);
    sandbox.setFaults([]);
    expect(await sweepMarked(app, signal)).toMatchObject({ state: 'complete' });
    expect(await runSweep(app, { writeReport: false }, signal)).toMatchObject({
      runId: broken.runId,
      state: 'complete',
    });
  });

  it('marked customers are screened within the limits of a run and a day, none twice in an hour, and not when another run has screened them since', async () => {
    const dirty = { searchesPerRun: 2, searchesPerDay: 3 };
    const screening = { ...usualScreening, dirty };
    const { database, work, organisationId, roster, run } = await begin();
    const app = await work(0, { screening });
    await acceptChanges(app);
    const mark = async (letter: string) => {
      const hints = dossiers.map(({ id }, index) => ({
        key: `${letter}${index}`.padEnd(64, '0'),
        dossierIds: [id],
        isAml: true,
      }));
      await markDossiers(database, organisationId, hints, new Date());
      await sweepMarked(app, signal);
    };
    await mark('a');
    expect(await screenMarked(app, roster, signal)).toMatchObject({ counts: { screened: 2, attempts: 2 } });
    expect(await screenMarked(app, roster, signal)).toMatchObject({ counts: { screened: 1, attempts: 1 } });
    expect(await screenMarked(app, roster, signal)).toBeNull();
    expect(await readMarkedCustomers(database)).toEqual(['C-6']);
    // Marked again, they wait for an hour.
    await mark('b');
    expect(await readMarkedCustomers(database)).toEqual(['C-3', 'C-4', 'C-5', 'C-6']);
    const tomorrow = await work(24 * hourMs, { screening });
    await run(tomorrow, { importFirst: false });
    expect(await screenMarked(await work(26 * hourMs, { screening }), roster, signal)).toBeNull();
    expect(await readMarkedCustomers(database)).toEqual([]);
  });

  it('marked customers wait for an interrupted night, and keep their mark when their search fails', async () => {
    const { sandbox, database, work, organisationId, roster, run } = await begin();
    const hint = { key: 'c'.repeat(64), dossierIds: [first.id], isAml: true };
    await markDossiers(database, organisationId, [hint], new Date());
    await sweepMarked(await work(), signal);
    const night = await work();
    await run(night, { selection: 'all', maxSearches: 1 });
    expect(await screenMarked(night, roster, signal)).toBeNull();
    expect(night.events).toContainEqual(expect.objectContaining({ code: 'marks_wait' }));
    await run(await work(), { selection: 'all' });
    const later = await work(2 * hourMs);
    await markDossiers(database, organisationId, [{ ...hint, key: 'd'.repeat(64) }], later.clock.now());
    await sweepMarked(later, signal);
    sandbox.setFaults([{ path: '/aml/search', status: 422, times: 10 }]);
    expect(await screenMarked(later, roster, signal)).toMatchObject({ counts: { failed: 1 } });
    expect(await readMarkedCustomers(database)).toEqual(['C-3']);
    expect(await screenMarked(later, roster, signal)).toBeNull();
    sandbox.setFaults([]);
    expect(await screenMarked(await work(4 * hourMs), roster, signal)).toMatchObject({ counts: { screened: 1 } });
    expect(await readMarkedCustomers(database)).toEqual([]);
  });

  it('stored in files while the database is closed, they mark the same dossiers, once', async () => {
    const { database, work } = await begin();
    const eventsFolder = await mkdtemp(join(tmpdir(), 'nightscreen-events-'));
    const spool = await openEventSpool(eventsFolder);
    const hint = { key: 'e'.repeat(64), dossierIds: [first.id], isAml: true };
    expect(await spool.keep([hint, hint, { ...hint, key: 'f'.repeat(64) }])).toBe(2);
    expect(await spool.keep([hint])).toBe(0);
    const app = { ...(await work()), eventsFolder };
    // A file is not read before it is closed.
    expect(await sweepMarked(app, signal)).toBeNull();
    await spool.close();
    const names = await readdir(eventsFolder);
    expect(names).toHaveLength(1);
    const text = readFileSync(join(eventsFolder, names[0] ?? ''), 'utf8');
    expect(await sweepMarked(app, signal)).toMatchObject({ counts: { dossiers: 1 } });
    expect(await readdir(eventsFolder)).toEqual([]);
    // As after a crash between storing them and removing the file.
    await writeFile(join(eventsFolder, '1-1-1.events'), text);
    await writeFile(join(eventsFolder, '1-1-2.events'), 'not ours');
    // Of a listener that died long ago, in the middle of a line.
    await writeFile(join(eventsFolder, '1-1-3.open'), `${text}[{"key":"`);
    await utimes(join(eventsFolder, '1-1-3.open'), 1_000, 1_000);
    expect(await sweepMarked(app, signal)).toBeNull();
    expect(await readdir(eventsFolder)).toEqual([]);
    expect(await readMarkedCustomers(database)).toEqual(['C-3']);
  });
});
