import type { Job } from '../src/runs/app-context.js';

/** Sends what waits in the outbox: mail and changes of state; makes no run. */
export const mailJob: Job = {
  name: 'mail',
  defaultCron: '*/15 * * * *',
  run: async (app, signal) => {
    const { countLostMails, deliverDue } = await import('../src/runs/mail/deliver.js');
    const { describeLostMails } = await import('../src/runs/run-summary.js');
    const { notifyStates } = await import('../src/runs/status.js');
    const startedAt = app.clock.now();
    await deliverDue(app, signal);
    await notifyStates(app, { signal });
    const lost = await countLostMails(app, startedAt);
    return lost === 0 ? { runs: [] } : { runs: [], exitCode: 3, note: describeLostMails(lost) };
  },
};
