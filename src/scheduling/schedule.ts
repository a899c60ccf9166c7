import { createHash } from 'node:crypto';
import { readScheduleHistory } from '../runs/scheduled.js';
import type { Job, JobSchedule, Workplace } from '../runs/workplace.js';
import type { DecidingRules, JobStanding } from './decide-due.js';
import { toDueTimes } from './due-times.js';
import { type JobsSettings, type SchedulerSettings, toSpanMs } from './settings.js';

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

/** What a schedule is made of. */
export interface SchedulePlan {
  planned: readonly PlannedJob[];
  settings: SchedulerSettings;
  /** Tells one installation from another, so that they do not all begin at the same moment. */
  seed: string;
}

/** By what is decided at a moment, as the settings of the plan say. */
export const toDecidingRules = (
  { settings: { catchUp, waitAtMost } }: SchedulePlan,
  moment: Pick<DecidingRules, 'now' | 'freeSince'>,
): DecidingRules => ({ ...moment, catchUpMs: toSpanMs(catchUp), waitAtMostMs: toSpanMs(waitAtMost) });

/** How each planned job stands, in the order of the plan; one that was never kept is planned from now on. */
export async function readStandings(
  workplace: Workplace,
  { planned, settings, seed }: SchedulePlan,
): Promise<ReadonlyMap<string, JobStanding>> {
  const { schedules, runs } = await readScheduleHistory(workplace);
  const jitterMs = toSpanMs(settings.jitter);
  const standings = planned.map(({ job, schedule }): JobStanding => {
    const times = toDueTimes(schedule);
    const spanMs = times.isByDate ? jitterMs : 0;
    return {
      job: job.name,
      times,
      plannedSince: schedules.get(job.name)?.plannedSince ?? workplace.clock.now(),
      after: job.after ?? [],
      toStart: ({ occasion, dueAt }) => new Date(dueAt.getTime() + toJitterMs(spanMs, seed, job.name, occasion)),
      known: runs.get(job.name) ?? [],
    };
  });
  return new Map(standings.map((standing) => [standing.job, standing]));
}

/** How much later than it is due a job is begun, below `jitterMs`: the same for the same words, on every host and after every restart. */
export function toJitterMs(jitterMs: number, ...words: readonly string[]): number {
  const digest = createHash('sha256').update(words.join('\n')).digest();
  return Math.floor((digest.readUInt32BE(0) / 2 ** 32) * jitterMs);
}
