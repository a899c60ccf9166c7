import { NightscreenError } from '../src/errors.js';
import type { Job } from '../src/runs/job.js';

/** Writes the report of each roster's latest run, and mails what has not been mailed where mail is configured; makes no run of its own. */
export const reportJob: Job = {
  name: 'report',
  defaultSchedule: { cron: '0 6 * * *', timezone: 'UTC' },
  run: async (workplace) => {
    const { runReports, sendUnsentReports } = await import('../src/runs/reports/report-run.js');
    const reports = workplace.settings.mail
      ? await sendUnsentReports(workplace)
      : await runReports(workplace, { send: false });
    for (const { runId, deliveries } of reports) {
      const failed = deliveries.filter((delivery) => delivery.kind === 'failed').length;
      if (failed > 0) {
        throw new NightscreenError('report_not_sent', `the report of run ${runId} did not reach ${failed} recipients`);
      }
    }
    return [];
  },
};
