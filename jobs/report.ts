import { NightscreenError } from '../src/errors.js';
import type { Job } from '../src/runs/job.js';

/** Writes the latest run's report and mails it where mail is configured; makes no run of its own. */
export const reportJob: Job = {
  name: 'report',
  defaultSchedule: { cron: '0 6 * * *', timezone: 'UTC' },
  run: async (workplace) => {
    const { runReport } = await import('../src/runs/report-run.js');
    const { runId, deliveries } = await runReport(workplace, { send: workplace.settings.mail !== undefined });
    const failed = deliveries.filter((delivery) => delivery.kind === 'failed').length;
    if (failed > 0) {
      throw new NightscreenError('report_not_sent', `the report of run ${runId} did not reach ${failed} recipients`);
    }
    return [];
  },
};
