import type { Job } from '../src/runs/app-context.js';

/**
 * Writes the report of each roster's latest run, and mails what nobody has been sent yet where mail is configured; makes no run of its own.
 * It comes after the night's runs, however they ended.
 */
export const reportJob = {
  name: 'report',
  defaultSchedule: { cron: '0 6 * * *', timezone: 'UTC' },
  after: ['sweep', 'rescreen'],
  run: async (app) => {
    if (app.settings.mail) {
      const { sendUnsentReports } = await import('../src/runs/mail/deliver.js');
      const { failed } = await sendUnsentReports(app);
      if (failed > 0) return { runs: [], exitCode: 3, note: `${failed} mails were not sent, and are tried again` };
    } else {
      const { runReports } = await import('../src/runs/write-reports.js');
      await runReports(app, {});
    }
    return { runs: [] };
  },
} satisfies Job;
