import { describe, expect, it } from 'vitest';
import { resumeRun } from '../../../src/runs/resume-run.js';
import { runSweep } from '../../../src/runs/sweep-run.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import { makeScaledClock } from '../../helpers/clocks.js';
import { testDatabases } from '../../helpers/databases.js';
import { showRun } from '../../helpers/show-run.js';
import { listenAlong, listSearches, openSmallSites, searched } from '../../helpers/small-site.js';
import {
  buildSandboxDossier,
  controls,
  people,
  signal,
  type TestAppContext,
  watchlist,
} from '../../helpers/small-world.js';

const waiting = { deadline: '60s' };
const names = Array.from({ length: 120 }, (_, index) => `Customer Number ${index}`);
const portal = { status: 200, body: '<html>login</html>', contentType: 'text/html' };
const soon = (ms: number, act: () => void): void => void setTimeout(act, ms);
/** Begins outages of these paths one after the other; each ends once the run waits for it, however long that takes. */
const endOnceMet = (sandbox: Sandbox, { events }: TestAppContext, paths: readonly string[]): void => {
  let ended = 0;
  const begin = () => sandbox.setConditions(paths[ended] === undefined ? {} : { path: paths[ended] ?? '', outage: {} });
  begin();
  const watch = setInterval(() => {
    const met = events.filter((event) => event.kind === 'warning' && event.code === 'waiting_for_service').length;
    if (met <= ended) return;
    ended = met;
    begin();
    if (ended >= paths.length) clearInterval(watch);
  }, 10);
};

describe('a service that is out of reach', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('at the start is waited for, whether the key, the control searches or, at a known address, the service itself is out of reach', async () => {
    const { sandbox, work, run } = await begin();
    const first = await work({ clock: makeScaledClock(10), settings: { run: waiting } });
    endOnceMet(sandbox, first, ['/api_keys/public', '/aml/search']);
    const summary = await run(first, { selection: 'all' });
    expect(summary).toMatchObject({ state: 'complete', counts: { screened: people.length, failed: 0 } });
    for (const code of ['waiting_for_service', 'service_is_back']) {
      const reported = first.events.filter((event) => event.kind === 'warning' && event.code === code);
      expect(reported).toEqual(Array(2).fill(expect.objectContaining({ runId: summary.runId })));
    }
    // The service has answered at this address, so a portal in its place is an outage too.
    sandbox.setFaults([{ path: '/api_keys/public', raw: portal, times: 2 }]);
    const app = await work({ clock: makeScaledClock(20), settings: { run: waiting } });
    expect(await run(app, { selection: 'all' })).toMatchObject({ state: 'complete' });
    expect(app.events).toContainEqual(expect.objectContaining({ code: 'waiting_for_service' }));
  });

  it('for longer than the deadline stops the run, which can be resumed, and reports when it began', async () => {
    const { sandbox, work, run } = await begin(names.slice(0, 60));
    const stopped = run(await work({ settings: { run: { deadline: '1s' } } }));
    soon(200, () => sandbox.setConditions({ path: '/aml/search', outage: {} }));
    const startedMs = performance.now();
    const summary = await stopped;
    // Nothing but the deadline ends it: the outage lasts.
    expect(performance.now() - startedMs).toBeLessThan(25_000);
    expect(summary).toMatchObject({ state: 'stopped', exitCode: 4, counts: { failed: 0 } });
    expect(summary.reasons.join()).toMatch(/out of reach since .*run\.deadline \(1s\)/);
    sandbox.setConditions({});
    expect(await resumeRun(await work(), summary.runId, signal)).toMatchObject({
      state: 'complete',
      counts: { screened: 60, remaining: 0 },
    });
    for (const name of names.slice(0, 60)) expect(searched(sandbox, name)).toBeGreaterThan(0);
  });

  it('delays a sweep and does not end it', async () => {
    const { sandbox, work } = await begin();
    sandbox.setWorld({ watchlist, dossiers: Array.from({ length: 50 }, (_, index) => buildSandboxDossier(index)) });
    const app = await work({ clock: makeScaledClock(10), settings: { run: waiting } });
    endOnceMet(sandbox, app, ['/dossiers']);
    const summary = await runSweep(app, { writeReport: false }, signal);
    expect(summary).toMatchObject({ state: 'complete', counts: { dossiers: 50, proven: true } });
  });

  it('a key that is replaced during the run is recorded, and no search is made twice', async () => {
    const { sandbox, database, work, run } = await begin(names.slice(0, 100));
    const app = await work({ readKeyAgain: () => sandbox.privateKey });
    const rotating = listenAlong(app, (event) => {
      if (event.kind === 'stage_started' && event.stage === 'screen') soon(50, () => sandbox.rotateKey());
    });
    const summary = await run(rotating);
    expect(summary).toMatchObject({ state: 'complete', counts: { screened: 100 } });
    expect((await showRun(database, 'default', summary.runId)).keyFingerprint.split(', ')).toHaveLength(2);
    expect(listSearches(sandbox).filter(({ worked }) => worked)).toHaveLength(100 + 2 * controls.length);
  });
});

describe('an address at which the service has never answered', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('stops a screening and a sweep at once, with that reason', async () => {
    const { sandbox, work, run } = await begin();
    sandbox.setFaults([{ path: '/api_keys/public', raw: portal, times: 100 }]);
    const app = await work({ settings: { run: waiting } });
    const startedMs = performance.now();
    for (const summary of [await run(app), await runSweep(app, { writeReport: false }, signal)]) {
      expect(summary).toMatchObject({ state: 'stopped', exitCode: 4 });
      expect(summary.reasons.join()).toMatch(/has never answered like the service.*nightscreen doctor/);
    }
    // Far from the minute of the deadline.
    expect(performance.now() - startedMs).toBeLessThan(20_000);
  });
});
