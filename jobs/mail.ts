import type { Job } from '../src/runs/app-context.js';

/** Sends what waits in the outbox: mail and changes of state; makes no run. */
export const mailJob: Job = {
  name: 'mail',
  defaultCron: '*/15 * * * *',
  run: async (app, signal) => {
    const { deliverDue } = await import('../src/runs/mail/deliver.js');
    const { notifyStates } = await import('../src/runs/status.js');
    await deliverDue(app, signal);
    await notifyStates(app, { signal });
    return { runs: [] };
  },
};
