import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { AppContext } from '../../../src/runs/app-context.js';
import { runWorker } from '../../../src/runs/worker-run.js';
import { readColumn } from '../../../src/store/database/database.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { listenAlong, openSmallSites, searched } from '../../helpers/small-site.js';
import { controls, people, usualScreening } from '../../helpers/small-world.js';

const names = [...people, ...Array.from({ length: 114 }, (_, number) => `Nobody Listed ${number}`)];
const fleet = { worker: 'separate' } as const;
const settings = { fleet, screening: { ...usualScreening, controlsEvery: 50 } };

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
    const workers = startWorkers([await work({ settings }), await work({ settings })]);
    const app = await work({ settings: { ...settings, controls } });
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
      { wave: 2, searches: 50 },
      { wave: 3, searches: 50 },
      { wave: 4, searches: 20 },
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

  it('goes on with other workers after it was stopped amid a wave', async () => {
    const { sandbox, database, work, run } = await openSite(names);
    const slow = { settings, rate: { perSecond: 40, concurrency: 4 } };
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
    expect(await readColumn(database, z.string(), 'select distinct outcome from call')).toEqual(['ok']);
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
    expect(said.join('\n')).toMatch(/none of 1 workers has this version and these settings/);
  });
});
