import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeRun } from '../../../src/runs/describe-run.js';
import { runImport } from '../../../src/runs/import/import-run.js';
import { type Database, readValue } from '../../../src/store/database/database.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { names, openHeldSites, readStates, worldOf } from '../../helpers/held-world.js';
import { listenAlong, openSmallSites } from '../../helpers/small-site.js';
import {
  dayMs,
  hourMs,
  listed,
  people,
  type TestAppContext,
  usualScreening,
  watchlist,
} from '../../helpers/small-world.js';

const { signal } = new AbortController();
const oneByOne = { rate: { perSecond: 400, concurrency: 1 } };

/** How many customers are in which state. */
async function countStates(database: Database): Promise<Record<string, number>> {
  const states = (await readStates(database)).map(({ state }) => state);
  return Object.fromEntries([...new Set(states)].map((state) => [state, states.filter((one) => one === state).length]));
}

const countRecorded = (database: Database): Promise<number> =>
  readValue(database, z.number(), 'select count(*)::integer as changes from customer_state_change');

/** The workplace of a run that is stopped by a signal after so many searches. */
function stopAfter(app: TestAppContext, done: number): { app: TestAppContext; signal: AbortSignal } {
  const stop = new AbortController();
  const listening = listenAlong(app, (event) => {
    if (event.kind === 'progress' && event.done === done) stop.abort(new Error('asked to stop'));
  });
  return { app: listening, signal: stop.signal };
}

describeOnPostgres('a run that stops', (open, databases) => {
  const begin = openSmallSites(open);
  const { beginAfterGood } = openHeldSites(databases);

  it('at its limit applies what is proven, with alerts and recorded states, and the rest when it goes on', async () => {
    const { database, work, run } = await begin();
    const stopped = await run(await work({ offsetMs: -hourMs, ...oneByOne }), { kind: 'onboard', maxSearches: 4 });
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 4, counts: { screened: 4, remaining: 2 } });
    expect(stopped.openAlerts).toMatchObject({ waiting: 2 });
    expect(await countStates(database)).toEqual({ open_alert: 2, clear: 2, not_screened: 2 });
    expect(await countRecorded(database)).toBe(6);
    const whole = await run(await work(), { kind: 'onboard' });
    expect(whole).toMatchObject({ runId: stopped.runId, state: 'complete', counts: { screened: 6 } });
    expect(await countStates(database)).toEqual({ open_alert: 2, clear: 4 });
    expect(
      await readRows(database, `select count(*)::integer as opened from alert_event where kind = 'opened'`),
    ).toEqual([{ opened: 2 }]);
    expect(await run(await work({ offsetMs: 1 }), { selection: 'all' })).toMatchObject({ counts: { changes: 0 } });
  });

  it('by a signal applies nothing; an import that takes the roster applies what is proven first', async () => {
    const { database, roster, work, run } = await begin();
    const everyTwo = { screening: { ...usualScreening, controlsEvery: 2 } };
    const stopping = stopAfter(await work({ offsetMs: -hourMs, ...oneByOne, settings: everyTwo }), 5);
    const stopped = await run(stopping.app, {}, stopping.signal);
    expect(stopped).toMatchObject({ state: 'stopped', haltedBy: 'signal' });
    expect(await countStates(database)).toEqual({ not_screened: 6 });
    const waves = 'select proven_wave, applied_wave from run where run_id = 1';
    expect(await readRows(database, waves)).toEqual([{ provenWave: 3, appliedWave: 0 }]);
    expect((await describeRun(await work(), stopped.runId)).unproven).toBe(1);
    await runImport(await work(), roster, signal);
    const states = await countStates(database);
    expect(states['not_screened']).toBe(2);
    expect(await readRows(database, 'select state, applied_wave from run where run_id = 1')).toEqual([
      { state: 'abandoned', appliedWave: 3 },
    ]);
    // Its findings are those of a run of its own; the next one searches only for the others.
    const next = await run(await work(), { writeReport: true });
    expect(next).toMatchObject({ state: 'complete', counts: { screened: 2 } });
    expect(await countStates(database)).toEqual({ open_alert: 2, clear: 4 });
  });

  it('whose part would be held opens only its new hits, says so, and is judged as a whole when it has ended', async () => {
    const { sandbox, database, work, run, before } = await beginAfterGood();
    const fresh = names[25] ?? '';
    sandbox.setWorld(worldOf([listed('new', fresh)]));
    const stopped = await run(await work(), { maxSearches: 29 });
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 4 });
    expect(stopped.reasons[0]).toMatch(
      /its answers for \d+ customers wait for the end of the run, because .* vanished/,
    );
    const asBefore = (await readStates(database)).filter(({ state }, place) => state === before[place]?.state);
    expect(asBefore.length).toBeGreaterThanOrEqual(29);
    expect((await readRows(database, 'select is_held, applied_wave from run where run_id = 2'))[0]).toEqual({
      isHeld: false,
      appliedWave: 0,
    });
    const held = await run(await work({ offsetMs: 1 }));
    expect(held).toMatchObject({ runId: stopped.runId, state: 'incomplete', counts: { screened: 0, failed: 30 } });
    expect(held.reasons.join()).toContain('are held, because');
  });

  it('is applied once by whoever takes it over after a kill, before it goes on', async () => {
    const { sandbox, database, work, run } = await begin();
    const everyTwo = { screening: { ...usualScreening, controlsEvery: 2 } };
    const stopping = stopAfter(await work({ offsetMs: -hourMs, ...oneByOne, settings: everyTwo }), 5);
    await run(stopping.app, {}, stopping.signal);
    await database.execute(`update run set state = 'running', finished_at = null, sums = null where run_id = 1`);
    // A service that finds nobody fails the round that comes first.
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    const red = await run(await work({ settings: everyTwo }));
    expect(red).toMatchObject({ state: 'incomplete', counts: { screened: 4, failed: 2 } });
    expect((await countStates(database))['not_screened']).toBe(2);
    sandbox.setWorld({ watchlist, dossiers: [] });
    expect(await run(await work({ offsetMs: dayMs }))).toMatchObject({
      state: 'complete',
      counts: { planned: people.length, changes: 0 },
    });
  });
});
