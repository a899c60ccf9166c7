import type { Job } from '../src/runs/job.js';

/** Writes the report of each roster's latest run, and mails what nobody has been sent yet where mail is configured; makes no run of its own. */
export const reportJob: Job = {
  name: 'report',
  defaultSchedule: { cron: '0 6 * * *', timezone: 'UTC' },
  run: async (workplace) => {
    if (workplace.settings.mail) {
      const { sendUnsentReports } = await import('../src/runs/mailing/send-reports.js');
      await sendUnsentReports(workplace);
    } else {
      const { runReports } = await import('../src/runs/reports/report-run.js');
      await runReports(workplace, {});
    }
    return [];
  },
};
