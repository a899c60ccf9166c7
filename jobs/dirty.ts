import { RunLockedError } from '../src/errors.js';
import type { Job } from '../src/runs/app-context.js';
import type { RunSummary } from '../src/runs/run-summary.js';

/**
 * Looks up the dossiers that events have marked, and screens the customers of those that have changed. It makes no run when nothing is marked.
 * What is locked by a sweep or a screening waits for the next start of this job.
 */
export const dirtyJob: Job = {
  name: 'dirty',
  defaultCron: 'off',
  run: async (app, signal) => {
    const { screenMarked, sweepMarked } = await import('../src/runs/dirty-run.js');
    const runs: RunSummary[] = [];
    const begin = async (work: () => Promise<RunSummary | null>): Promise<void> => {
      try {
        const summary = await work();
        if (summary !== null) runs.push(summary);
      } catch (error) {
        if (!(error instanceof RunLockedError)) throw error;
      }
    };
    await begin(() => sweepMarked(app, signal));
    for (const roster of app.settings.rosters) {
      if (runs.some(({ state }) => state === 'stopped')) break;
      await begin(() => screenMarked(app, roster, signal));
    }
    return { runs };
  },
};
