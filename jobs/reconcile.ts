import type { Job } from '../src/runs/app-context.js';

/** Compares rosters, screenings and dossiers once more, outside of the night: every rescreening of a roster that has dossiers ends with it. */
export const reconcileJob: Job = {
  name: 'reconcile',
  defaultSchedule: null,
  after: ['sweep', 'rescreen'],
  run: async (app, signal) => {
    const { runReconciliation } = await import('../src/runs/reconcile-run.js');
    return { runs: [await runReconciliation(app, { writeReport: true }, signal)] };
  },
};
