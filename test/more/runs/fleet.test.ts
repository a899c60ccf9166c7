import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../src/clock.js';
import type { AppContext } from '../../../src/runs/app-context.js';
import type { RunHalted } from '../../../src/runs/halt.js';
import { runWorker } from '../../../src/runs/worker-run.js';
import { readColumn } from '../../../src/store/database/database.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { listenOnLoopback } from '../../helpers/loopback.js';
import { listenAlong, listSearches, openSmallSites, searched } from '../../helpers/small-site.js';
import { controls, people, usualScreening } from '../../helpers/small-world.js';

const names = [...people, ...Array.from({ length: 114 }, (_, number) => `Nobody Listed ${number}`)];
const fleet = { worker: 'separate' } as const;
const settings = { fleet, screening: { ...usualScreening, controlsEvery: 100 } };
/** Chunks of 25 last longer than a worker needs to look for one, so that all workers get some. */
const slow = { rate: { perSecond: 30, concurrency: 4 }, settings };

describeOnPostgres('a run whose searches workers make', (open) => {
  const openSite = openSmallSites(open);

  /** Starts workers; `stop` ends them as a signal does. */
  function startWorkers(apps: readonly AppContext[]) {
    const stopping = new AbortController();
    const working = apps.map((app, number) => runWorker({ ...app, owner: `worker-${number}:1` }, stopping.signal));
    return {
      stop: async () => {
        stopping.abort(new Error('the test is over'));
        await Promise.all(working);
      },
    };
  }

  it('screens everybody once, in waves between control searches, by all workers', async () => {
    const { sandbox, database, work, run } = await openSite(names);
    const workers = startWorkers([await work(slow), await work(slow)]);
    const app = await work({ ...slow, settings: { ...settings, controls } });
    const summary = await run(app);
    await workers.stop();
    expect(summary).toMatchObject({ state: 'complete', counts: { screened: 120, failed: 0, remaining: 0 } });
    expect(names.map((name) => searched(sandbox, name)).filter((count) => count !== 1)).toEqual([]);
    expect(
      await readRows(
        database,
        'select wave, sum(searches)::integer as searches from chunk group by wave order by wave',
      ),
    ).toEqual([
      { wave: 2, searches: 100 },
      { wave: 3, searches: 20 },
    ]);
    expect(await readRows(database, 'select distinct state from chunk')).toEqual([{ state: 'done' }]);
    expect(await readRows(database, 'select distinct worker from batch order by worker')).toEqual([
      { worker: 2 },
      { worker: 3 },
    ]);
    expect(await readColumn(database, z.string(), 'select outcome from call where outcome <> $$ok$$')).toEqual([]);
  });

  it('waits for a worker, says so, and stops at the deadline without one', async () => {
    const { work, run } = await openSite();
    const app = await work({ settings });
    expect(await run(app)).toMatchObject({
      state: 'stopped',
      haltedBy: 'outage',
      exitCode: 4,
      counts: { remaining: 6 },
    });
    const said = app.events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
    expect(said.join('\n')).toMatch(/no worker is alive; start `nightscreen worker`/);
  });

  it('continues with other workers after it was stopped amid a wave', async () => {
    const { sandbox, database, work, run } = await openSite(names);
    const first = startWorkers([await work(slow)]);
    const stop = new AbortController();
    const app = listenAlong(await work({ settings }), (event) => {
      if (event.kind === 'progress' && event.stage === 'screen' && event.done > 0)
        stop.abort(new Error('asked to stop'));
    });
    expect(await run(app, {}, stop.signal)).toMatchObject({ state: 'stopped', haltedBy: 'signal' });
    await first.stop();
    const second = startWorkers([await work({ settings })]);
    expect(await run(await work({ settings }))).toMatchObject({ state: 'complete', counts: { screened: 120 } });
    await second.stop();
    expect(names.map((name) => searched(sandbox, name)).filter((count) => count !== 1)).toEqual([]);
    const outcomes = await readColumn(database, z.string(), 'select distinct outcome from call');
    expect(outcomes.filter((outcome) => outcome !== 'not_sent')).toEqual(['ok']);
  });

  it('is not searched by a worker of another version, and says that', async () => {
    const { sandbox, work, run } = await openSite();
    const workers = startWorkers([{ ...(await work({ settings })), version: '9.9.9' }]);
    await delay(500);
    const app = await work({ settings });
    expect(await run(app)).toMatchObject({ state: 'stopped', haltedBy: 'outage' });
    await workers.stop();
    expect(people.map((name) => searched(sandbox, name))).toEqual(people.map(() => 0));
    const said = app.events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
    expect(said.join('\n')).toMatch(/none of 1 workers has this version, these settings/);
  });

  it('is stopped by a worker whose account is refused, with the reason', async () => {
    const { sandbox, work, run } = await openSite(names);
    const workers = startWorkers([await work({ settings })]);
    sandbox.setConditions({ path: '/aml/search', refuse: { share: 1, status: 402 } });
    const summary = await run(await work({ settings }));
    expect(summary).toMatchObject({ state: 'stopped', haltedBy: 'account', exitCode: 4 });
    expect(summary.reasons.join('\n')).toMatch(/402/);
    sandbox.setConditions({});
    expect(await run(await work({ settings }))).toMatchObject({ state: 'complete', counts: { screened: 120 } });
    await workers.stop();
  });

  it('goes on without a worker whose key is refused', async () => {
    const { sandbox, work, run } = await openSite(names);
    sandbox.setFaults([{ name: 'Nobody Listed 9', status: 401 }]);
    const stopping = new AbortController();
    const working = [await work({ settings }), await work({ settings })].map((app, number) =>
      runWorker({ ...app, owner: `worker-${number}:1` }, stopping.signal).then(
        () => 'stopped',
        ({ code }: RunHalted) => code,
      ),
    );
    const app = await work({ settings: { ...settings, run: { deadline: '1m' } } });
    expect(await run(app)).toMatchObject({ state: 'complete', counts: { screened: 120 } });
    stopping.abort();
    expect((await Promise.all(working)).toSorted()).toEqual(['account', 'stopped']);
  });

  it('waits no longer than its deadline for a pause that a worker was asked for', async () => {
    const { sandbox, work, run } = await openSite(names);
    const shared = { clock: systemClock, settings: { ...settings, run: { deadline: '10m' } } };
    const workers = startWorkers([await work(shared)]);
    sandbox.setFaults([{ name: 'Nobody Listed 9', status: 503, retryAfter: '3600' }]);
    const summary = await run(await work(shared));
    expect(summary).toMatchObject({ state: 'stopped', haltedBy: 'outage', exitCode: 4 });
    expect(summary.reasons.join('\n')).toMatch(/pause until/);
    await workers.stop();
  });

  it('asks nobody again when too many answers are bad', async () => {
    const { sandbox, work, run } = await openSite(names);
    const workers = startWorkers([await work({ settings }), await work({ settings })]);
    const bad = names.filter((_, place) => place % 3 === 0);
    sandbox.setFaults(bad.map((name) => ({ name, raw: { status: 200, body: '{}' }, times: 10 })));
    const app = await work({ settings: { ...settings, run: { deadline: '1m' } } });
    expect(await run(app)).toMatchObject({ state: 'incomplete', counts: { screened: 80, failed: 40 } });
    await workers.stop();
    expect(names.map((name) => searched(sandbox, name)).filter((count) => count !== 1)).toEqual([]);
    const warnings = app.events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
    expect(warnings.join('\n')).toMatch(/40 of 1\d\d answers broke the contract: too many/);
  });

  it('fails the one whose answers are first bad and then missing', async () => {
    const { sandbox, work, run } = await openSite(names);
    const patient = { settings: { ...settings, controls, run: { deadline: '1m' } }, maxAttempts: 1 };
    const workers = startWorkers([await work(patient)]);
    const name = 'Nobody Listed 9';
    sandbox.setFaults([
      { name, raw: { status: 200, body: '{}' } },
      { name, status: 500, times: 10_000 },
    ]);
    expect(await run(await work(patient))).toMatchObject({ state: 'incomplete', counts: { screened: 119, failed: 1 } });
    await workers.stop();
  });

  it('ends when its answers end one worker after another', async () => {
    const { database, work, run } = await openSite(names);
    await database.runScript(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$;
      alter table chunk alter deaths set default 8;
      create trigger refuse before insert on batch for each row execute function refuse();
    `);
    const over = new AbortController();
    const restart = async (app: AppContext): Promise<void> => {
      while (!over.signal.aborted) await runWorker(app, over.signal).catch(() => delay(100));
    };
    const working = restart(await work({ settings }));
    const app = await work({ settings: { ...settings, run: { deadline: '1m' } } });
    await expect(run(app)).rejects.toMatchObject({ code: 'chunk_abandoned' });
    over.abort();
    await database.runScript('drop function refuse cascade');
    await working;
  }, 60_000);

  it('spends no call more than the budget, over all workers', async () => {
    const { sandbox, work, run } = await openSite(names);
    const capped = { ...settings, budget: { currency: 'EUR', reserveShare: 0, maxSearchesPerRun: 70 } };
    const workers = startWorkers([await work({ settings: capped }), await work({ settings: capped })]);
    // What is left of 70 for customers that were never screened, as in a run of one process.
    const summary = await run(await work({ settings: capped }));
    expect(summary).toMatchObject({ state: 'incomplete', counts: { screened: 66, skipped: 54 } });
    await workers.stop();
    const calls = names.reduce((sum, name) => sum + searched(sandbox, name), 0);
    expect(calls).toBe(66);
  });

  it('repeats what the service refuses, and fails only what it cannot answer', async () => {
    const { sandbox, database, work, run } = await openSite(names);
    const patient = { settings: { ...settings, controls }, maxAttempts: 2 };
    sandbox.setConditions({ path: '/aml/search', refuse: { share: 0.1, status: 503 } });
    const workers = startWorkers([await work(patient), await work(patient)]);
    expect(await run(await work(patient))).toMatchObject({ state: 'complete', counts: { screened: 120, failed: 0 } });
    await workers.stop();
    expect(
      await readRows(
        database,
        `select count(distinct request_id)::integer as answered from call where outcome = 'ok' and batch is not null`,
      ),
    ).toEqual([{ answered: 120 }]);
  });

  it('leaves a worker out that does not reach the service while others do', async () => {
    const { sandbox, work, run } = await openSite(names);
    const way = await startWay(sandbox.url);
    const slowest = { ...slow, rate: { perSecond: 12, concurrency: 2 } };
    const cutOff = await work({ ...slowest, url: way.url, baseUrl: sandbox.url });
    const workers = startWorkers([cutOff, await work(slowest)]);
    const app = await work({ ...slowest, settings: { ...settings, run: { deadline: '1m' } } });
    const running = run(app);
    await waitUntil(() =>
      app.events.some((event) => event.kind === 'progress' && event.stage === 'screen' && (event.calls ?? 0) > 4),
    );
    way.cut();
    expect(await running).toMatchObject({ state: 'complete', counts: { screened: 120, failed: 0 } });
    const warnings = () => cutOff.events.flatMap((event) => (event.kind === 'warning' ? [event.code] : []));
    expect(warnings()).toContain('worker_cut_off');
    expect(app.events.flatMap((event) => (event.kind === 'warning' ? [event.code] : []))).not.toContain(
      'waiting_for_service',
    );
    await workers.stop();
    await way.close();
  }, 60_000);

  it('tries a service that is out of reach for all by one worker, and continues with all of them', async () => {
    const { sandbox, work, run } = await openSite(names);
    const slowest = { ...slow, rate: { perSecond: 12, concurrency: 2 } };
    const workers = startWorkers([await work(slowest), await work(slowest), await work(slowest)]);
    const app = await work({ ...slowest, settings: { ...settings, run: { deadline: '1m' } } });
    const running = run(app);
    await waitUntil(() =>
      app.events.some((event) => event.kind === 'progress' && event.stage === 'screen' && (event.calls ?? 0) > 4),
    );
    sandbox.setConditions({ path: '/aml/search', outage: { status: 503 } });
    await delay(8_000);
    const before = listSearches(sandbox).length;
    await delay(16_000);
    const during = listSearches(sandbox).length - before;
    sandbox.setConditions({});
    expect(await running).toMatchObject({ state: 'complete', counts: { screened: 120, failed: 0 } });
    await workers.stop();
    // After 5 s, 15 s and 35 s: three workers that each tried it would make six.
    expect(during).toBeGreaterThanOrEqual(1);
    expect(during).toBeLessThanOrEqual(3);
    const warnings = app.events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
    expect(warnings.join('\n')).toMatch(/out of reach/);
    expect(warnings.join('\n')).toMatch(/answers again/);
  }, 90_000);
});

/** A way to the service that can be cut. */
async function startWay(service: string) {
  const { hostname, port, pathname } = new URL(service);
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    if (isCut) return void client.destroy();
    client.pipe(upstream).pipe(client);
  });
  const place = await listenOnLoopback(server);
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${place}${pathname}`,
    cut: () => {
      isCut = true;
      cutAll();
    },
    close: async () => {
      cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function waitUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(50);
}
