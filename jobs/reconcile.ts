import type { Job } from '../src/runs/app-context.js';

/** Compares rosters, screenings and dossiers outside of the night; each rescreening of a roster with dossiers does so at its end. */
export const reconcileJob: Job = {
  name: 'reconcile',
  defaultCron: 'off',
  after: ['sweep', 'rescreen'],
  run: async (app, signal) => {
    const { runReconciliation } = await import('../src/runs/reconcile-run.js');
    return { runs: [await runReconciliation(app, { writeReport: true }, signal)] };
  },
};
