import type { Job } from '../src/runs/app-context.js';

/** Reads all dossiers of the service before the night's screening, whose report lists their changes. */
export const sweepJob: Job = {
  name: 'sweep',
  defaultCron: '0 1 * * *',
  run: async (app, signal) => {
    const { runSweep } = await import('../src/runs/sweep-run.js');
    return { runs: [await runSweep(app, { writeReport: false }, signal)] };
  },
};
