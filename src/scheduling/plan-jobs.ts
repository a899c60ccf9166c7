import type { Job, JobSchedule } from '../runs/workplace.js';
import { type JobsSettings, toSpanMs } from './settings.js';

/** A job and when it starts by itself. */
export interface PlannedJob {
  job: Job;
  schedule: JobSchedule;
  /** How long one attempt may last. */
  timeoutMs: number;
}

/** The jobs that have a schedule: the configured one, or the job's own default where the configuration is silent. */
export function planJobs(jobs: readonly Job[], settings: JobsSettings): PlannedJob[] {
  return jobs.flatMap((job) => {
    const configured = settings[job.name];
    if (configured?.enabled === false) return [];
    const cron = configured?.cron ?? job.defaultSchedule?.cron;
    if (cron === undefined) return [];
    return [{ job, schedule: { cron, timezone: toTimezone(job, settings) }, timeoutMs: toTimeoutMs(job, settings) }];
  });
}

/** The time zone whose dates a job goes by. */
export const toTimezone = (job: Job, settings: JobsSettings): string =>
  settings[job.name]?.timezone ?? job.defaultSchedule?.timezone ?? 'UTC';

const hourMs = 3_600_000;

/** How long one attempt of a job may last, in milliseconds: what the configuration says, else the job's own limit, else an hour. */
export function toTimeoutMs(job: Job, settings: JobsSettings): number {
  const configured = settings[job.name]?.timeout;
  return configured === undefined ? (job.timeoutMs ?? hourMs) : toSpanMs(configured);
}
