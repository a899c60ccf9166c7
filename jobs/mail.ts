import type { Job } from '../src/runs/workplace.js';

/** Tries again what waits in the outbox, mail and changes of state; makes no run. */
export const mailJob: Job = {
  name: 'mail',
  defaultSchedule: { cron: '*/15 * * * *', timezone: 'UTC' },
  run: async (workplace, signal) => {
    const { deliverDue } = await import('../src/runs/mail/deliver.js');
    const { tellStates } = await import('../src/runs/status.js');
    await deliverDue(workplace, signal);
    await tellStates(workplace, signal);
    return { runs: [] };
  },
};
