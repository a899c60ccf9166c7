import { createTask } from 'node-cron';
import type { JobSchedule } from '../runs/job.js';

/** When the schedule comes round next after now; null when it never does. */
export function findNextRun({ cron, timezone }: JobSchedule): Date | null {
  const task = createTask(cron, () => {}, { timezone });
  const next = task.getNextRuns(1)[0] ?? null;
  void task.destroy();
  return next;
}
