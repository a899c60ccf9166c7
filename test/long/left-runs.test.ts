import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readPublishedList } from '../../src/lists/published-list.js';
import { resumeRun } from '../../src/runs/resume-run.js';
import type { ScreeningOptions } from '../../src/runs/screening-request.js';
import { testDatabases } from '../helpers/databases.js';
import { openPreparedSites, openSmallSites, type SmallSite, searched } from '../helpers/small-site.js';
import type { TestAppContext } from '../helpers/small-world.js';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
const { signal } = new AbortController();
const names = ['Tamsin Oyelaran', 'Bertil Kvarnström', 'Aroha Ngata', 'Ciro Malvestuto', 'Ottoline Vandersteen'];
const warnings = ({ events }: TestAppContext, code: string): string[] =>
  events.flatMap((event) => (event.kind === 'warning' && event.code === code ? [event.message] : []));

async function toListOptions(text: string): Promise<Partial<ScreeningOptions>> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-list-')), 'list.txt');
  await writeFile(path, text);
  const becauseOf = await readPublishedList(path);
  return { kind: 'screen', selection: 'forced', importFirst: false, becauseOf };
}

describe('a run that is given up', () => {
  const databases = testDatabases('postgres');
  const begin = openSmallSites(databases.open);
  const beginScreened = openPreparedSites(databases, async ({ work, run }) => run(await work({ offsetMs: -hourMs })), {
    names,
  });

  it.each([
    ['one because of a list', toListOptions('Ciro Malvestuto\n')],
    ['one of new customers only', Promise.resolve({ kind: 'screen', selection: 'new', importFirst: false } as const)],
  ])('leaves what it had planned to the next one, also to %s', async (_, options) => {
    const { sandbox, work, run } = await begin(names);
    await run(await work({ offsetMs: -3 * dayMs }));
    const night = await run(await work({ offsetMs: -hourMs }), { maxSearches: 2 });
    expect(night).toMatchObject({ state: 'stopped', counts: { screened: 2, remaining: 3 } });
    const app = await work();
    const narrower = await run(app, await options);
    expect(narrower).toMatchObject({ state: 'complete', exitCode: 0, counts: { planned: 3, screened: 3, skipped: 2 } });
    expect(warnings(app, 'run_abandoned').join()).toContain('its remaining customers are planned again');
    expect(names.map((name) => searched(sandbox, name))).toEqual([2, 2, 2, 2, 2]);
    await expect(resumeRun(app, night.runId, signal)).rejects.toThrow(/abandoned/);
    expect(await run(await work())).toMatchObject({ state: 'complete', counts: { planned: 0 } });
  });

  it('leaves it to the second next one too, and also whom only --all had asked about', async () => {
    const { sandbox, work, run } = await beginScreened();
    const all = { kind: 'screen', selection: 'all' } as const;
    expect(await run(await work(), { ...all, maxSearches: 2 })).toMatchObject({ counts: { remaining: 3 } });
    const forced = { kind: 'screen', selection: 'forced', importFirst: false } as const;
    expect(await run(await work(), { ...forced, maxSearches: 1 })).toMatchObject({
      state: 'stopped',
      counts: { planned: 3, screened: 1, remaining: 2 },
    });
    expect(await run(await work())).toMatchObject({ state: 'complete', counts: { planned: 2, screened: 2 } });
    expect(names.map((name) => searched(sandbox, name))).toEqual([1, 1, 1, 1, 1]);
  });

  /** Begins a run because of a list and asks it to stop while the list is compared. */
  async function stopComparing({ work, run }: SmallSite, options: Partial<ScreeningOptions>) {
    const stop = new AbortController();
    const app = await work();
    const emit: typeof app.emit = (event) => {
      if (event.kind === 'stage_started' && event.stage === 'compare') stop.abort(new Error('stop'));
    };
    const stopped = await run({ ...app, emit }, options, stop.signal);
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 4, counts: { planned: 0, remaining: 0 } });
    expect(stopped.reasons).toEqual(['stopped on request; nothing was planned yet and the run can be resumed']);
    return stopped.runId;
  }

  it('while a list was compared is gone on with by the same command, from the beginning of the list', async () => {
    const site = await beginScreened();
    const options = await toListOptions('Ciro Malvestuto\n');
    const runId = await stopComparing(site, options);
    await expect(resumeRun(await site.work(), runId, signal)).rejects.toThrow(/the same command/);
    expect(await site.run(await site.work(), options)).toMatchObject({
      runId,
      state: 'complete',
      counts: { planned: 1, screened: 1 },
    });
  });

  it('while a list was compared turns the next one red until the list is compared', async () => {
    const site = await beginScreened();
    const { work, run } = site;
    const options = await toListOptions('Ciro Malvestuto\n');
    const runId = await stopComparing(site, options);
    const app = await work();
    const reason = `${runId} did not compare the customers with list.txt, and not all of them were searched since. Run nightscreen screen --because-of with that file`;
    expect(await run(app)).toMatchObject({ state: 'incomplete', exitCode: 3, reasons: [reason] });
    expect(warnings(app, 'run_abandoned').join()).toContain('its customers were not compared with list.txt');
    expect(await run(await work())).toMatchObject({ state: 'incomplete', reasons: [reason] });
    expect(await run(await work(), options)).toMatchObject({ state: 'complete', counts: { planned: 1, screened: 1 } });
    expect(await run(await work())).toMatchObject({ state: 'complete' });
  });

  it('under another account than the one of the key keeps all that it has done, also when the service is out at first', async () => {
    const { sandbox, database, work, run } = await begin(names);
    const first = await run(await work({ offsetMs: -60_000 }), { maxSearches: 3 });
    expect(first).toMatchObject({ state: 'stopped', counts: { screened: 3 } });
    const readRuns = () =>
      database.query(
        z.object({ account: z.number(), state: z.string(), screened: z.number(), calls: z.number() }),
        `select account_id as account, state,
           (select count(*) from screening where screening.run_id = run.run_id and outcome = 'screened') as screened,
           (select count(*) from call attempt where attempt.run_id = run.run_id) as calls
         from run order by run_id`,
      );
    const [before] = await readRuns();
    const settings = { run: { deadline: '1h' } };
    const options = { apiKey: sandbox.otherPrivateKey, settings, maxAttempts: 2 };
    const begunAnew = async () => {
      sandbox.setFaults([{ path: '/api_keys/public', status: 503, times: 3 }]);
      return work(options);
    };
    await expect(resumeRun(await begunAnew(), first.runId, signal)).rejects.toThrow(/this key belongs to account/);
    expect(await readRuns()).toEqual([before]);
    const second = await run(await begunAnew());
    expect(second).toMatchObject({ state: 'complete', counts: { screened: 5 } });
    expect(second.runId).not.toBe(first.runId);
    const [kept, anew] = await readRuns();
    expect(kept).toEqual({ ...before, state: 'abandoned' });
    expect(anew).toMatchObject({ account: 2, state: 'complete', screened: 5 });
  });
});
