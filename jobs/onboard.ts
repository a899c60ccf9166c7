import type { Job } from '../src/runs/app-context.js';
import type { RunSummary } from '../src/runs/run-summary.js';

/** Imports every configured roster and screens only new customers; it has no schedule by default. */
export const onboardJob: Job = {
  name: 'onboard',
  defaultCron: 'off',
  run: async (app, signal) => {
    const { runScreening } = await import('../src/runs/screening-run.js');
    const summaries: RunSummary[] = [];
    for (const roster of app.settings.rosters) {
      const plan = { kind: 'onboard', selection: 'new', importFirst: true, writeReport: true } as const;
      const summary = await runScreening(app, { ...plan, roster }, signal);
      summaries.push(summary);
      if (summary.state === 'stopped') break;
    }
    return { runs: summaries };
  },
};
