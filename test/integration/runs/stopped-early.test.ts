import { expect, it } from 'vitest';
import { describeRun } from '../../../src/runs/describe-run.js';
import { runReports } from '../../../src/runs/write-reports.js';
import { testDatabases } from '../../helpers/databases.js';
import { openSmallSites } from '../../helpers/small-site.js';

const openSite = openSmallSites(testDatabases('postgres').open);

it('a run that is stopped in its import says so, can be reported on, and goes on in the next start', async () => {
  const { run, work } = await openSite();
  const app = await work();
  const stopping = new AbortController();
  const emit: typeof app.emit = (event) => {
    app.emit(event);
    if (event.kind === 'stage_started' && event.stage === 'import') stopping.abort(new Error('asked to stop'));
  };
  await expect(run({ ...app, emit }, {}, stopping.signal)).rejects.toThrow('asked to stop');
  const started = app.events.find((event) => event.kind === 'run_started');
  const runId = started?.kind === 'run_started' ? started.runId : '';
  expect(await describeRun(app, runId)).toMatchObject({ state: 'stopped', stage: 'started', heldBy: null });
  expect(await runReports(app, {})).toMatchObject([{ runId, exitCode: 4 }]);
  expect(await run(app)).toMatchObject({ runId, state: 'complete', counts: { screened: 6 } });
});
