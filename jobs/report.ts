import type { AppContext, Job, JobSlot } from '../src/runs/app-context.js';

/**
 * Writes the report of each roster's latest run; where mail is configured it mails the reports that are not sent yet, and one over all rosters
 * to those who chose it. It makes no run. It starts after the night's runs, whatever their exit codes, and waits for two hours at most.
 */
export const reportJob = {
  name: 'report',
  defaultCron: '0 6 * * *',
  after: ['sweep', 'rescreen'],
  waitAtMostMs: 2 * 3_600_000,
  run: async (app: AppContext, _signal?: AbortSignal, slot?: Pick<JobSlot, 'dueAt'>) => {
    if (app.settings.mail) {
      const { countLostMails, deliverDue, sendUnsentReports } = await import('../src/runs/mail/deliver.js');
      const { describeLostMails } = await import('../src/runs/run-summary.js');
      const { isGroupMailed, queueGroupReportOnce } = await import('../src/runs/group-report.js');
      const startedAt = app.clock.now();
      const queueGroup = async (): Promise<void> => {
        if (isGroupMailed(app.settings)) await queueGroupReportOnce(app, (slot?.dueAt ?? startedAt).toISOString());
      };
      // A report that cannot be written must not keep back the one that says so.
      const reports = await sendUnsentReports(app).finally(queueGroup);
      const failed = reports.failed + (await deliverDue(app)).failed;
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
