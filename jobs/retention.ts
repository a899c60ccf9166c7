import type { Job } from '../src/runs/app-context.js';

/** Erases customers who left long ago, and removes old nights from the database. It makes no run. */
export const retentionJob: Job = {
  name: 'retention',
  defaultCron: '0 12 1 * *',
  run: async (app, signal) => {
    const { applyRetention } = await import('../src/runs/retention.js');
    const { rosters, nights } = await applyRetention(app, false, signal);
    const withheld = rosters.flatMap((roster) => roster.withheld).length + nights.kept.length;
    if (withheld === 0) return { runs: [] };
    const note = `${withheld} customers and nights are kept longer than configured; \`nightscreen retention run --dry-run\` says why`;
    return { runs: [], exitCode: 3, note };
  },
};
