import { expect, it } from 'vitest';
import { resumeRun } from '../../../src/runs/resume-run.js';
import type { ScreeningOptions } from '../../../src/runs/screening-request.js';
import { testDatabases } from '../../helpers/databases.js';
import { listenAlong, openSmallSites, searched } from '../../helpers/small-site.js';
import { signal, writeRoster } from '../../helpers/small-world.js';

const openSite = openSmallSites(testDatabases('postgres').open);
const others = ['Ottoline Vandersteen', 'Zoltan Kerekes', 'Wilhelmina Achterberg'];

/** A configured roster of six, and another file with three that is given in its place. */
async function openGiven(path?: string) {
  const site = await openSite();
  const given = path ?? (await writeRoster(others));
  const csv = site.roster.csv && { ...site.roster.csv, path: given };
  const options: Partial<ScreeningOptions> = { roster: { ...site.roster, csv }, kind: 'onboard', selection: 'new' };
  return { ...site, options };
}

it('a run that stopped amid its searches goes on with the file that it was given, not with the configured one', async () => {
  const { work, run, options, sandbox } = await openGiven();
  const { runId, state } = await run(await work(), { ...options, maxSearches: 1 });
  expect(state).toBe('stopped');
  expect(await resumeRun(await work(), runId, signal)).toMatchObject({
    runId,
    state: 'complete',
    counts: { rows: 3, screened: 3 },
  });
  expect(searched(sandbox, 'Tamsin Oyelaran')).toBe(0);
});

it('a run that stopped before its import reads the file that it was given', async () => {
  const { work, run, options } = await openGiven();
  const app = await work();
  const stopping = new AbortController();
  const stopped = listenAlong(app, (event) => {
    if (event.kind === 'stage_started' && event.stage === 'import') stopping.abort(new Error('asked to stop'));
  });
  await expect(run(stopped, options, stopping.signal)).rejects.toThrow('asked to stop');
  const [started] = app.events.flatMap((event) => (event.kind === 'run_started' ? [event.runId] : []));
  const resumed = await resumeRun(await work(), started ?? '', signal);
  expect(resumed).toMatchObject({ runId: started, state: 'complete', counts: { rows: 3, screened: 3 } });
});

it('a run that was to read standard input says that it cannot be read again', async () => {
  const { work, run, options } = await openGiven('-');
  const app = await work();
  const dying = listenAlong(app, (event) => {
    if (event.kind === 'stage_started') throw new Error('died');
  });
  await expect(run(dying, options)).rejects.toThrow('died');
  const [started] = app.events.flatMap((event) => (event.kind === 'run_started' ? [event.runId] : []));
  await expect(resumeRun(await work(), started ?? '', signal)).rejects.toThrow(
    /from standard input, which cannot be read again; start it again with the same command/,
  );
});
