import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { runSweep } from '../../src/runs/sweep-run.js';
import type { Database } from '../../src/store/database/database.js';
import { makeScaledClock } from '../helpers/clocks.js';
import { testDatabases } from '../helpers/databases.js';
import { printFigure } from '../helpers/figures.js';
import { showRun } from '../helpers/show-run.js';
import { listSearches, openSmallSites, searched } from '../helpers/small-site.js';
import { controls, makeCustomerNames as names, people } from '../helpers/small-world.js';

const portal = { status: 200, body: '<html>login</html>', contentType: 'text/html' };
const waiting = { deadline: '8h' };
const usual = { maxAttempts: 6, baseDelayMs: 500 };
/** A day's waiting in a few seconds. */
const hastily = (factor: number) => ({ ...usual, clock: makeScaledClock(factor), settings: { run: waiting } });
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await systemClock.sleep(1);
};

describe('requests that the service never answers', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('are those customers\u2019 failures, however many they are, and cost few control searches', async () => {
    const all = names(200);
    const poison = all.filter((_, index) => index % 15 === 5).slice(0, 12);
    const { sandbox, database, work, run } = await begin(all);
    sandbox.setFaults(poison.map((name) => ({ name, status: 500, times: 100_000 })));
    const app = await work(hastily(500));
    const startedMs = app.clock.elapsedMs();
    const summary = await run(app);
    const minutes = (app.clock.elapsedMs() - startedMs) / 60_000;
    const asked = searched(sandbox, controls[0].name) - 2;
    printFigure(
      `12 of 200 customers that the service never answers: failed after ${minutes.toFixed(0)} minutes, ${asked} control searches`,
    );
    expect(summary).toMatchObject({ state: 'incomplete', counts: { screened: 188, failed: 12, remaining: 0 } });
    expect(summary.counts).toMatchObject({ attempts: listSearches(sandbox).length });
    expect(asked).toBe(12);
    // Each of them stands as evidence by itself.
    const rounds = (await showRun(database, 'default', summary.runId)).controls.flatMap(({ rounds }) => rounds);
    expect(rounds.filter(({ occasion }) => occasion === 'control')).toHaveLength(asked);
    for (const name of poison) expect(searched(sandbox, name)).toBe(12);
  });

  it('are told from an outage without controls, by asking again what was answered', async () => {
    const { sandbox, work, run } = await begin();
    sandbox.setFaults([{ name: 'Aroha Ngata', status: 500, times: 100_000 }]);
    const options = hastily(100);
    const app = await work({ ...options, settings: { ...options.settings, controls: [] } });
    expect(await run(app)).toMatchObject({ counts: { screened: 5, failed: 1, remaining: 0 } });
  });

  it('fail nobody while nothing at all is answered, with controls or without', async () => {
    for (const outage of [{ status: 503 }, { status: 429 }]) {
      const { sandbox, work, run } = await begin();
      sandbox.setConditions({ path: '/aml/search', outage });
      const options = hastily(100);
      const app = await work({ ...options, settings: { run: { ...waiting, deadline: '5m' }, controls: [] } });
      const startedMs = app.clock.elapsedMs();
      const summary = await run(app);
      const minutes = (app.clock.elapsedMs() - startedMs) / 60_000;
      expect(summary).toMatchObject({
        state: 'stopped',
        exitCode: 4,
        counts: { screened: 0, failed: 0, remaining: 6 },
      });
      expect(minutes).toBeGreaterThan(5);
      // Forty minutes more are 24 seconds of this machine, which may be busy.
      expect(minutes).toBeLessThan(45);
    }
  });
});

describe('what stands in the service\u2019s place', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('fails nobody when it answers for a while, and the run goes on', async () => {
    const { sandbox, work, run } = await begin(names(100));
    sandbox.setFaults([{ path: '/aml/search', raw: portal, afterCalls: 40, times: 30 }]);
    const summary = await run(await work(hastily(300)));
    expect(summary).toMatchObject({ state: 'complete', counts: { screened: 100, failed: 0 } });
  });

  it('stops the run, resumable, when it stays', async () => {
    const { sandbox, work, run } = await begin(names(100));
    sandbox.setFaults([{ raw: portal, afterCalls: 40, times: 100_000 }]);
    const summary = await run(await work({ ...hastily(1_000), settings: { run: { ...waiting, deadline: '30m' } } }));
    expect(summary).toMatchObject({
      state: 'stopped',
      exitCode: 4,
      counts: { screened: 37, failed: 0, remaining: 63 },
    });
  });

  it('does not fail a run for one answer to a control that breaks the contract', async () => {
    const { sandbox, work, run } = await begin();
    const broken = { status: 201, body: '{"results":"none"}', contentType: 'application/json' };
    sandbox.setFaults([{ name: controls[0].name, raw: broken, times: 2 }]);
    const app = await work();
    expect(await run(app)).toMatchObject({ state: 'complete', counts: { attempts: listSearches(sandbox).length } });
  });
});

describe('what ends spending', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('an account that is refused is asked no more, however slow the database is', async () => {
    const { sandbox, database, work, run } = await begin(names(200));
    const afterCalls = 41;
    sandbox.setFaults([{ path: '/aml/search', status: 402, afterCalls, times: 100_000 }]);
    const app = await work();
    const summary = await run({ ...app, database: slowly(database) });
    expect(summary).toMatchObject({ state: 'stopped', exitCode: 4, counts: { failed: 0 } });
    expect(listSearches(sandbox).length - afterCalls).toBeLessThanOrEqual(8);
  });

  it('a wish to stop is heard at once while a key is renewed', async () => {
    const { sandbox, work, run } = await begin(names(100));
    const app = await work({ readKeyAgain: () => sandbox.privateKey });
    const stop = new AbortController();
    const going = run(app, {}, stop.signal);
    await until(() => listSearches(sandbox).length > 20);
    sandbox.setFaults([{ path: '/api_keys/public', hang: 'before_headers', times: 100 }]);
    sandbox.rotateKey();
    await until(() => sandbox.ledger().filter(({ path }) => path === '/api_keys/public').length > 1);
    const askedMs = performance.now();
    stop.abort(new Error('enough'));
    const summary = await going;
    expect(summary).toMatchObject({ state: 'stopped', exitCode: 4, counts: { failed: 0 } });
    // The key may take five.
    expect(performance.now() - askedMs).toBeLessThan(4_000);
  });

  it('a pause past the deadline ends the run at once, wherever it is met', async () => {
    for (const path of ['/api_keys/public', '/aml/search', '/dossiers']) {
      const { sandbox, work, run } = await begin();
      sandbox.setFaults([{ path, status: 429, retryAfter: '86400', times: 10 }]);
      const app = await work({ settings: { run: waiting } });
      const startedMs = performance.now();
      const signal = new AbortController().signal;
      const summary = path === '/dossiers' ? await runSweep(app, { writeReport: false }, signal) : await run(app);
      expect(summary).toMatchObject({ state: 'stopped', exitCode: 4 });
      expect(summary.reasons.join()).toMatch(/requests a pause until .*run\.deadline \(8h\)/);
      // The pause asked for lasts a day; a run on a busy machine may take seconds.
      expect(performance.now() - startedMs).toBeLessThan(20_000);
    }
  });

  it('one request that fails after the deadline\u2019s time of day has passed is no outage', async () => {
    const { sandbox, work, run } = await begin();
    let jumpMs = 0;
    const clock = { ...systemClock, now: () => new Date(Date.UTC(2026, 0, 1, 6) + jumpMs) };
    sandbox.setFaults([{ name: 'Tamsin Oyelaran', status: 500, times: 100_000 }]);
    const app = await work({ clock, settings: { run: { deadline: '06:30' } } });
    const going = run(app);
    await until(() => listSearches(sandbox).length > 2);
    jumpMs = 3_600_000;
    expect(await going).toMatchObject({ state: 'incomplete', counts: { screened: people.length - 1, failed: 1 } });
  });
});

/** A database whose every transaction takes long. */
const slowly = (database: Database): Database =>
  new Proxy(database, {
    get: (target, name, receiver) => {
      if (name !== 'transaction') {
        const value: unknown = Reflect.get(target, name, receiver);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return async (work: Parameters<Database['transaction']>[0]) => {
        const result = await target.transaction(work);
        await systemClock.sleep(100);
        return result;
      };
    },
  });
