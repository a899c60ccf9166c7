import { toLocalTime } from '../../local-time/local-time.js';
import type { Job } from '../../runs/job.js';
import { toDueTimes } from '../../scheduling/due-times.js';
import { toTimezone } from '../../scheduling/plan-jobs.js';
import type { JobsSettings } from '../../scheduling/settings.js';
import type { SchedulePlan } from '../../scheduling/standings.js';
import type { JobDue } from '../../store/job-runs.js';

const dayMs = 86_400_000;

/**
 * What a job that is started now stands for: the present date of its time zone, or the last of its times where it has several on a date.
 */
export function findPresentDue(
  { planned, jobsSettings }: SchedulePlan & { jobsSettings: JobsSettings },
  job: Job,
  now: Date,
): JobDue {
  const localDate = toLocalTime(now, toTimezone(job, jobsSettings)).date;
  const ofDate = { occasion: localDate, localDate, dueAt: now };
  const schedule = planned.find((one) => one.job.name === job.name)?.schedule;
  if (schedule === undefined) return ofDate;
  const times = toDueTimes(schedule);
  const onDate = times.lastOn(localDate);
  if (onDate?.occasion === localDate) return onDate;
  return (
    times.between(new Date(now.getTime() - dayMs), now).findLast((due) => due.occasion !== due.localDate) ?? ofDate
  );
}
