import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { changeSettingsSchema } from '../../../src/changes/severity.js';
import { RosterHeldError } from '../../../src/errors.js';
import { describeRun } from '../../../src/runs/describe-run.js';
import { resumeRun } from '../../../src/runs/resume-run.js';
import { testDatabases } from '../../helpers/databases.js';
import { listSearches, makeAcceptance, openPreparedSites } from '../../helpers/small-site.js';
import { fileOf, people, signal, type TestAppContext, toCsv } from '../../helpers/small-world.js';

const warnings = ({ events }: TestAppContext, code: string): string[] =>
  events.flatMap((event) => (event.kind === 'warning' && event.code === code ? [event.message] : []));

/** Sites with a run that stopped after two searches; `prepared` is its id. */
const openStopped = openPreparedSites(testDatabases('postgres'), async ({ run, work }) => {
  const stopped = await run(await work(), { maxSearches: 2 });
  expect(stopped.state).toBe('stopped');
  return stopped.runId;
});

it('settings that shape answers are named with old and new value, and the run is planned anew', async () => {
  const { run, work, prepared: runId } = await openStopped();
  const changed = {
    ...(await work({ settings: { changes: changeSettingsSchema.parse({ scoreStep: 0.05 }) } })),
    settingsDigest: 'another',
  };
  expect((await run(changed)).runId).not.toBe(runId);
  expect(warnings(changed, 'run_abandoned')).toEqual([
    `${runId} is not resumed: the settings have changed: changes.scoreStep was 0.02 and is 0.05; its remaining customers are planned again`,
  ]);
});

it('settings that shape no answer are named, and the run goes on; what was named is kept with the run', async () => {
  const { run, work, prepared: runId } = await openStopped();
  const changed = await work({
    settings: { screening: { cadenceHours: 12, leaveAfterDays: 7, reuseMaxAge: 0, controlsEvery: 10_000 } },
  });
  expect(await run(changed)).toMatchObject({ runId, state: 'complete' });
  const difference = 'screening.cadenceHours was 24 and is 12';
  expect(warnings(changed, 'resumed_with_differences').join()).toContain(difference);
  const { holders, settings } = await describeRun(changed, runId);
  // Each copy of the site has a service with keys of its own.
  const keys = expect.stringContaining('the key fingerprint was');
  expect(holders.map(({ differences }) => differences)).toEqual([[], [difference, keys]]);
  expect(settings).toMatchObject({ screening: { cadenceHours: 24 } });
});

it('a changed roster is named with both figures, and the next start plans anew', async () => {
  const { run, work, roster, prepared: runId } = await openStopped();
  await writeFile(fileOf(roster), toCsv([...people, 'Ottoline Vandersteen']));
  const app = await work();
  expect((await run(app)).runId).not.toBe(runId);
  expect(warnings(app, 'run_abandoned').join()).toMatch(
    /the roster has changed: rows 6 then and 7 now, rejected 0 then and 0 now, digest \w{12} then and \w{12} now/,
  );
});

it('a run whose roster was edited is held when it is resumed by its name, and goes on with what it imported once that is accepted', async () => {
  const { work, roster, prepared: runId, sandbox } = await openStopped();
  await writeFile(fileOf(roster), toCsv(people.slice(0, 4)));
  const app = await work();
  const calls = listSearches(sandbox).length;
  const refusal = await resumeRun(app, runId, signal).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(RosterHeldError);
  expect(refusal).toMatchObject({
    code: 'roster_held',
    message: expect.stringMatching(/rows 6 then and 4 now.*\[guard edited\]/),
  });
  expect(listSearches(sandbox)).toHaveLength(calls);
  expect(await resumeRun(app, runId, signal, { acceptRoster: await makeAcceptance(app) })).toMatchObject({
    runId,
    state: 'complete',
    counts: { screened: 6 },
  });
  expect(warnings(app, 'resumed_with_differences').join()).toMatch(
    /rows 6 then and 4 now.*continues with the imported roster/,
  );
});

it('another account and another mode are named by both', async () => {
  const { work, sandbox, run, prepared: runId } = await openStopped();
  const other = await work({ apiKey: sandbox.otherPrivateKey });
  await run(other);
  expect(warnings(other, 'run_abandoned').join()).toMatch(
    /it used account \.\.\.\w{4} at \S+, and this key belongs to account \.\.\.\w{4} at /,
  );
  const live = await work({ apiKey: sandbox.livePrivateKey });
  await expect(resumeRun(live, runId, signal)).rejects.toThrow(/abandoned|test key, and this is a live key|budget/);
});
