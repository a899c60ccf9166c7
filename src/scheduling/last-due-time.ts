import { createTask } from 'node-cron';
import type { JobSchedule } from '../runs/job.js';

const minuteMs = 60_000;
/** A schedule that has not come round for longer than this is not looked for further. */
const longestBackMs = 32 * 24 * 60 * minuteMs;

/** When the schedule last came round, at `before` or earlier, to the minute; null when it did not within 32 days. */
export function findLastDueTime({ cron, timezone }: JobSchedule, before: Date): Date | null {
  const fields = cron.trim().split(/\s+/);
  const toTheMinute = fields.length === 6 ? ['0', ...fields.slice(1)].join(' ') : cron;
  const task = createTask(toTheMinute, () => {}, { timezone });
  try {
    const from = Math.floor(before.getTime() / minuteMs) * minuteMs;
    // An hour that the clock leaves out is never found, so that night counts as not due: the one before it does.
    for (let at = from; at > from - longestBackMs; at -= minuteMs) {
      if (task.match(new Date(at))) return new Date(at);
    }
    return null;
  } finally {
    void task.destroy();
  }
}
