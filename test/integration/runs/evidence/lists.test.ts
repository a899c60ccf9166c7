import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { toFileRoster } from '../../../../src/roster/settings.js';
import type { AppContext } from '../../../../src/runs/app-context.js';
import { listAffected, listPopulation } from '../../../../src/runs/evidence-lists.js';
import { acceptRun } from '../../../../src/runs/screening/accept-run.js';
import type { AffectedCustomer } from '../../../../src/store/evidence/affected.js';
import type { PopulationMember } from '../../../../src/store/evidence/population.js';
import { describeOnEachDatabase } from '../../../helpers/databases.js';
import { openHeldSites, readStates } from '../../../helpers/held-world.js';
import { decide, findAlerts, makeAcceptance, openSmallSites, type SmallSite } from '../../../helpers/small-site.js';
import {
  controls,
  dayMs,
  fileOf,
  hourMs,
  minuteMs,
  people,
  signal,
  usualScreening,
  watchlist,
} from '../../../helpers/small-world.js';

const ago = (days: number): Date => new Date(Date.now() - days * dayMs);

/** The members by reference, and the sums. */
async function readMembers(app: AppContext, at: Date | null = null, roster?: string) {
  const list = await listPopulation(app, { at, roster }, signal);
  const members: Record<string, PopulationMember> = {};
  for await (const batch of list.batches) for (const member of batch) members[member.reference] = member;
  return { members, sums: list.finish() };
}

/** Runs a night so many days ago over customers of these names; an ended one has left, and an empty name cannot be read. */
async function runNight(
  { roster, work, run }: SmallSite,
  days: number,
  names: readonly string[],
  ended: readonly string[] = [],
) {
  const lines = names.map((name, index) => {
    const reference = `C-${index + 1}`;
    return `${reference},person,${name},${ended.includes(reference) ? '2020-01-01' : ''}\n`;
  });
  await writeFile(fileOf(roster), `customer_id,type,name,end_date\n${lines.join('')}`);
  const app = await work({ offsetMs: -days * dayMs });
  const columns = { ...roster.columns, endDate: 'end_date' };
  return run(app, { roster: { ...roster, columns }, acceptRoster: await makeAcceptance(app) });
}

describeOnEachDatabase('the population at a moment', (open, databases) => {
  const openSite = openSmallSites(open);
  const { beginAfterHeld } = openHeldSites(databases);

  it('has who was in scope then, with state, newest run and outcome: who left, returned, failed or has no accepted record', async () => {
    const site = await openSite();
    const { database, sandbox, work } = site;
    await runNight(site, 5, people);
    await decide(database, await findAlerts(database, 'C-1'), { now: ago(4.5) });
    sandbox.setFaults([{ name: people[2] ?? '', status: 400 }]);
    const second = await runNight(site, 4, [...people, 'Ngozi Ballantyne', ''], ['C-2', 'C-4']);
    sandbox.setFaults([]);
    await runNight(site, 3, [...people, 'Ngozi Ballantyne', ''], ['C-2']);
    await decide(database, await findAlerts(database, 'C-2'), { now: ago(2.5) });
    const last = await runNight(site, 2, [...people, 'Ngozi Ballantyne', ''], ['C-2']);
    const app = await work();

    expect((await readMembers(app, ago(6))).sums).toEqual({ inScope: 0, notValid: 0, states: {} });
    expect((await readMembers(app, ago(4.75))).sums.states).toEqual({ open_alert: 2, clear: 4 });
    expect((await readMembers(app, ago(4.25))).members['C-1']).toMatchObject({ state: 'false_positive', record: 1 });

    const afterSecond = await readMembers(app, ago(3.9));
    expect(Object.keys(afterSecond.members)).toEqual(['C-1', 'C-2', 'C-3', 'C-5', 'C-6', 'C-7', 'C-8']);
    const { runId } = second;
    expect(afterSecond.members).toMatchObject({
      'C-1': { state: 'false_positive', outcome: 'screened', runId, reason: null, hasLeft: false },
      'C-2': { state: 'open_alert', outcome: 'screened', hasLeft: true },
      'C-3': { state: 'not_screened', outcome: 'failed', because: 'http_400', reason: 'http_400' },
      'C-7': { state: 'clear', outcome: 'screened', record: 1, mode: 'test' },
      'C-8': { state: 'not_screened', outcome: 'skipped', reason: 'row_rejected', record: null, asOf: null, runId },
    });
    // The answer of the night before.
    expect(afterSecond.members['C-3']?.asOf?.getTime()).toBeLessThan(ago(4.9).getTime());
    expect(afterSecond.sums).toMatchObject({ inScope: 7, notValid: 2, states: { not_screened: 2 } });

    const afterThird = await readMembers(app, ago(2.9));
    expect(afterThird.members).toMatchObject({
      'C-2': { hasLeft: true },
      'C-3': { state: 'clear' },
      'C-4': { state: 'clear' },
    });
    const afterLast = await readMembers(app, ago(1.9));
    expect(afterLast.members['C-2']).toBeUndefined();
    expect(afterLast.members['C-3']).toMatchObject({ runId: last.runId, reason: null });

    const now = await readMembers(app);
    expect(now.members['C-3']).toMatchObject({ state: 'not_screened', recordedState: 'clear', reason: 'expired' });
    const status = await readStates(database);
    expect(status.map(({ reference }) => reference)).toEqual(Object.keys(now.members));
    for (const { reference, state, asOf } of status) expect(now.members[reference]).toMatchObject({ state, asOf });
  });

  it('has nobody as clear whose answer is held, and all of them once the night is accepted', async () => {
    const { app, held, work } = await beginAfterHeld();
    const heldAt = new Date();
    const waits = await readMembers(app);
    expect(waits.sums).toEqual({ inScope: 30, notValid: 30, states: { not_screened: 10, open_alert: 20 } });
    expect(waits.members['C-30']).toMatchObject({ outcome: 'failed', because: 'held', recordedState: 'clear' });
    const later = await work({ offsetMs: minuteMs });
    await acceptRun(later, held.runId, await makeAcceptance(later), signal);
    const after = await work({ offsetMs: 2 * minuteMs });
    const accepted = await readMembers(after);
    expect(accepted.members['C-30']).toMatchObject({ outcome: 'screened', state: 'clear', runId: held.runId });
    expect((await readMembers(after, heldAt)).members['C-30']).toMatchObject({ state: 'not_screened', reason: 'held' });
  });

  it('has nobody as clear in a night whose control search failed, and has the answers of an earlier run for who was not due', async () => {
    const { sandbox, work, run } = await openSite();
    await run(await work({ offsetMs: -2 * hourMs, settings: { controls: [...controls] } }));
    await run(await work({ offsetMs: -hourMs, settings: { controls: [...controls] } }));
    const { members } = await readMembers(await work());
    expect(members['C-3']).toMatchObject({ outcome: 'skipped', because: 'not_due', state: 'clear', reason: null });
    expect(members['C-3']?.asOf?.getTime()).toBeLessThan(Date.now() - 1.9 * hourMs);
    sandbox.setWorld({ watchlist: watchlist.slice(0, 2), dossiers: [] });
    await run(await work({ settings: { controls: [...controls] } }), { selection: 'all' });
    const unproven = await readMembers(await work({ offsetMs: minuteMs }));
    expect(unproven.sums.states).toEqual({ open_alert: 2, not_screened: 4 });
    expect(unproven.members['C-3']).toMatchObject({ outcome: 'failed', reason: 'control_failed' });
  });

  it('is of one roster where one is named; an unknown one is refused', async () => {
    const { roster, work, run } = await openSite();
    const app = await work();
    await run(app);
    await run(app, { roster: toFileRoster('others', fileOf(roster)) });
    expect((await readMembers(await work({ offsetMs: minuteMs }))).sums.inScope).toBe(12);
    expect((await readMembers(await work({ offsetMs: minuteMs }), null, 'others')).sums.inScope).toBe(6);
    await expect(readMembers(app, null, 'nobody')).rejects.toThrow('nobody was never imported');
  });
});

const toDay = (days: number): string => ago(days).toISOString().slice(0, 10);

/** The affected customers in their order, the number of runs, and the sums. */
async function readAffectedSince(
  app: AppContext,
  [first, last]: readonly [number, number],
  { topic, roster }: { topic?: string; roster?: string } = {},
) {
  const list = await listAffected(app, { since: toDay(first), until: toDay(last), topic, roster }, signal);
  const customers: AffectedCustomer[] = [];
  for await (const batch of list.batches) customers.push(...batch);
  return { customers, runs: list.runs, sums: list.finish() };
}

const listFates = (customers: readonly AffectedCustomer[]) =>
  customers.map(({ reference, sinceThen }) => [reference, sinceThen]);

describeOnEachDatabase('the customers with answers of a span', (open, databases) => {
  const openSite = openSmallSites(open);
  const { beginAfterHeld } = openHeldSites(databases);

  it('say what these answers were, and who was screened again, with changes and alerts; who was not comes first', async () => {
    const site = await openSite();
    const { sandbox, work } = site;
    sandbox.setWorld({ watchlist: watchlist.slice(1), dossiers: [] });
    const failing = { name: people[4] ?? '', status: 400 };
    sandbox.setFaults([failing]);
    await runNight(site, 7, people);
    sandbox.setFaults([failing]);
    const last = await runNight(site, 6, people);
    sandbox.setWorld({ watchlist, dossiers: [] });
    sandbox.setFaults([failing, { name: people[2] ?? '', status: 400 }]);
    await runNight(site, 4, people, ['C-4']);
    sandbox.setFaults([failing, { name: people[2] ?? '', status: 400 }]);
    const newest = await runNight(site, 3, people, ['C-4']);
    const app = await work({ offsetMs: -3 * dayMs + hourMs });

    const { customers, sums } = await readAffectedSince(app, [7, 6]);
    // C-5 failed on all these days: no answer about it is in question.
    expect(listFates(customers)).toEqual([
      ['C-3', 'not_screened'],
      ['C-4', 'left'],
      ['C-1', 'screened'],
      ['C-2', 'screened'],
      ['C-6', 'screened'],
    ]);
    expect(sums).toEqual({ customers: 5, sinceThen: { not_screened: 1, left: 1, screened: 3 } });
    expect(customers[0]).toMatchObject({
      runId: last.runId,
      results: 0,
      stateThen: 'clear',
      stateNow: 'not_screened',
      because: 'http_400',
      againRunId: null,
      againAt: null,
    });
    expect(customers[2]).toMatchObject({
      hits: 0,
      stateThen: 'clear',
      stateNow: 'open_alert',
      againRunId: newest.runId,
      againAt: expect.any(Date),
      changesSince: 1,
      alertsSince: 1,
    });
    expect(customers[3]).toMatchObject({ hits: 1, stateThen: 'open_alert', changesSince: 0, alertsSince: 0 });
    // Only the first day: its answers are no longer the last ones, which were given on the second day.
    expect(listFates((await readAffectedSince(app, [7, 7])).customers)[0]).toEqual(['C-1', 'screened']);

    const ofTopic = await readAffectedSince(app, [7, 6], { topic: 'Sanction' });
    expect(ofTopic.customers.map(({ reference }) => reference)).toEqual(['C-3', 'C-4', 'C-1', 'C-6']);
    expect((await readAffectedSince(app, [7, 6], { topic: 'role.pep' })).customers).toHaveLength(5);
    await expect(readAffectedSince(app, [7, 6], { topic: 'sanctoin' })).rejects.toThrow(
      /no match ever had the risk category sanctoin; common ones are .*sanction/,
    );
    expect(await readAffectedSince(app, [20, 10])).toMatchObject({ customers: [], runs: 0 });
    await expect(readAffectedSince(app, [6, 7])).rejects.toThrow('--until');
  });

  it('are not screened again by an answer that is held, until the night is accepted', async () => {
    const { app, held, work } = await beginAfterHeld();
    const waits = await readAffectedSince(app, [1, 1]);
    expect(waits.sums.sinceThen).toEqual({ not_screened: 30, left: 0, screened: 0 });
    expect(new Set(waits.customers.map(({ stateNow }) => stateNow))).toEqual(new Set(['open_alert', 'not_screened']));
    await acceptRun(app, held.runId, await makeAcceptance(app), signal);
    const accepted = await readAffectedSince(await work({ offsetMs: minuteMs }), [1, 1]);
    expect(accepted.sums.sinceThen).toEqual({ not_screened: 0, left: 0, screened: 30 });
    expect(accepted.customers.find(({ reference }) => reference === 'C-30')).toMatchObject({
      stateNow: 'clear',
      againRunId: held.runId,
    });
  });

  it('are also those about whom such an answer was used again later, which screens nobody again', async () => {
    const { roster, work, run } = await openSite();
    const screening = { ...usualScreening, cadenceHours: 240, reuseMaxAge: '5d' } as const;
    const first = await run(await work({ offsetMs: -2 * dayMs, settings: { screening } }));
    const app = await work({ settings: { screening } });
    const later = await run(app, { roster: toFileRoster('others', fileOf(roster)) });
    expect(later.counts).toMatchObject({ reused: 6, searches: 0 });
    const { customers } = await readAffectedSince(app, [2, 1], { roster: 'others' });
    expect(listFates(customers)).toHaveLength(6);
    expect(customers[0]).toMatchObject({ sinceThen: 'not_screened', runId: first.runId, roster: 'others' });
  });
});
