import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { toFileRoster } from '../../../../src/roster/settings.js';
import type { AppContext } from '../../../../src/runs/app-context.js';
import { listPopulation } from '../../../../src/runs/evidence-lists.js';
import { acceptRun } from '../../../../src/runs/screening/accept-run.js';
import type { PopulationMember } from '../../../../src/store/evidence/population.js';
import { describeOnEachDatabase } from '../../../helpers/databases.js';
import { openHeldSites, readStates } from '../../../helpers/held-world.js';
import { decide, findAlerts, makeAcceptance, openSmallSites, type SmallSite } from '../../../helpers/small-site.js';
import { controls, dayMs, fileOf, hourMs, minuteMs, people, signal, watchlist } from '../../../helpers/small-world.js';

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
