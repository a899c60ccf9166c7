import type { JobSchedule } from '../runs/job.js';
import { toDueTimes } from './due-times.js';

/** A schedule that has not come round for longer than this is not looked for further. */
const longestBackMs = 32 * 24 * 3_600_000;

/** When the schedule last came round, at `before` or earlier; null when it did not within 32 days. */
export function findLastDueTime(schedule: JobSchedule, before: Date): Date | null {
  const times = toDueTimes(schedule);
  return times.between(new Date(before.getTime() - longestBackMs), before).at(-1)?.dueAt ?? null;
}
