import type { Job } from '../src/runs/job.js';

/** Reads all dossiers of the service; its changes go into the next report. */
export const sweepJob: Job = {
  name: 'sweep',
  defaultSchedule: { cron: '30 3 * * *', timezone: 'UTC' },
  run: async (workplace, signal) => {
    const { runSweep } = await import('../src/runs/sweep-run.js');
    return [await runSweep(workplace, { writeReport: false }, signal)];
  },
};
