import type { Job, JobSchedule } from '../runs/job.js';
import type { JobsSettings } from './settings.js';

/** A job and when it starts by itself. */
export interface PlannedJob {
  job: Job;
  schedule: JobSchedule;
}

/** The jobs that have a schedule: the configured one, or the job's own default where the configuration is silent. */
export function planJobs(jobs: readonly Job[], settings: JobsSettings): PlannedJob[] {
  return jobs.flatMap((job) => {
    const configured = settings[job.name];
    if (configured?.enabled === false) return [];
    const cron = configured?.cron ?? job.defaultSchedule?.cron;
    return cron === undefined ? [] : [{ job, schedule: { cron, timezone: toTimezone(job, settings) } }];
  });
}

/** The time zone whose dates a job goes by. */
export const toTimezone = (job: Job, settings: JobsSettings): string =>
  settings[job.name]?.timezone ?? job.defaultSchedule?.timezone ?? 'UTC';
