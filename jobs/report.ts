import type { Job } from '../src/runs/app-context.js';

/**
 * Writes the report of each roster's latest run; where mail is configured it mails the reports that are not sent yet. It makes no run.
 * It starts after the night's runs, whatever their exit codes.
 */
export const reportJob = {
  name: 'report',
  defaultCron: '0 6 * * *',
  after: ['sweep', 'rescreen'],
  run: async (app) => {
    if (app.settings.mail) {
      const { countLostMails, sendUnsentReports } = await import('../src/runs/mail/deliver.js');
      const { describeLostMails } = await import('../src/runs/run-summary.js');
      const startedAt = app.clock.now();
      const { failed } = await sendUnsentReports(app);
      const lost = await countLostMails(app, startedAt);
      if (lost > 0) return { runs: [], exitCode: 3, note: describeLostMails(lost) };
      if (failed > 0) return { runs: [], exitCode: 3, note: `${failed} mails were not sent; they are tried again` };
    } else {
      const { runReports } = await import('../src/runs/write-reports.js');
      await runReports(app, {});
    }
    return { runs: [] };
  },
} satisfies Job;
