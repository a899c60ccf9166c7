import type { Job } from '../src/runs/job.js';

/** Tries again what waits in the outbox, mail and changes of state; makes no run. */
export const mailJob: Job = {
  name: 'mail',
  defaultSchedule: { cron: '*/15 * * * *', timezone: 'UTC' },
  run: async (workplace, signal) => {
    const { deliverDue } = await import('../src/runs/mailing/deliver-due.js');
    const { tellStates } = await import('../src/runs/telling/tell-states.js');
    await deliverDue(workplace, signal);
    await tellStates(workplace, signal);
    return { runs: [] };
  },
};
