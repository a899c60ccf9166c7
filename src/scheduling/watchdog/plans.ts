import type { JobSchedule } from '../../runs/workplace.js';
import type { JobSchedule as KnownSchedule } from '../../store/jobs.js';
import type { JobsSettings } from '../settings.js';

/** The schedule of a job, and since when a scheduler goes by it; null where only somebody wrote it down, such as for a timer. */
export interface Plan {
  schedule: JobSchedule;
  keptSince: Date | null;
}

/** The schedules that jobs go by: what the configuration says of one, else what a scheduler has last gone by. */
export function findPlans(kept: readonly KnownSchedule[], jobs: JobsSettings): ReadonlyMap<string, Plan> {
  const plans = new Map<string, Plan>();
  for (const { job, cron, timezone, plannedSince, retiredAt } of kept) {
    if (retiredAt === null) plans.set(job, { schedule: { cron, timezone }, keptSince: plannedSince });
  }
  for (const [job, settings] of Object.entries(jobs)) {
    if (settings?.enabled === false) plans.delete(job);
    else if (settings?.cron !== undefined && !isKept(plans.get(job), settings)) {
      plans.set(job, { schedule: { cron: settings.cron, timezone: settings.timezone ?? 'UTC' }, keptSince: null });
    }
  }
  return plans;
}

/** What to write so that a job is expected no more, for whoever reads that it did not run. */
export const toUnplanning = (job: string): string =>
  `Where ${job} is not to be run any more: write jobs.${job}.enabled: false into the configuration, also on the host of the watchdog`;

/** A job of one's own may bring the time zone that its settings leave out. */
const isKept = (plan: Plan | undefined, { cron, timezone }: NonNullable<JobsSettings[string]>): boolean =>
  plan !== undefined && plan.schedule.cron === cron && (timezone === undefined || timezone === plan.schedule.timezone);
