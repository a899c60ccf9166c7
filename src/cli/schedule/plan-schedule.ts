import { allJobs } from '../../../jobs/all-jobs.js';
import type { Config } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import type { Job } from '../../runs/workplace.js';
import { planJobs } from '../../scheduling/plan-jobs.js';
import { readUserJobs } from '../../scheduling/read-user-jobs.js';
import type { JobsSettings } from '../../scheduling/settings.js';
import type { SchedulePlan } from '../../scheduling/standings.js';

/** Every job there is, those of the user's own folder included, and the schedule that they make. */
export interface JobsAndPlan extends SchedulePlan {
  jobs: readonly Job[];
  jobsSettings: JobsSettings;
}

/** Reads the jobs and plans them; throws ConfigError with what is wrong in the folder of jobs, or with schedules for jobs that nobody knows. */
export async function planSchedule({ settings, originOf }: Config): Promise<JobsAndPlan> {
  const { jobsFolder } = settings.scheduler;
  const shipped = allJobs.map(({ name }) => name);
  const own =
    jobsFolder === undefined ? [] : await readUserJobs(jobsFolder, shipped, originOf(['scheduler', 'jobsFolder']));
  const jobs = [...allJobs, ...own];
  const names = jobs.map(({ name }) => name);
  const problems = [
    ...Object.keys(settings.jobs)
      .filter((name) => !names.includes(name))
      .map((name) => ({ where: originOf(['jobs', name]), path: `jobs.${name}`, message: unknownJob(names) })),
    ...own.flatMap(({ name, after = [] }) =>
      after
        .filter((other) => !names.includes(other) || other === name)
        .map((other) => ({ where: `job ${name}`, path: 'after', message: `${other}: ${unknownJob(names)}` })),
    ),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  // Without mail and webhooks nothing ever waits in the outbox.
  const hasOutbox = settings.mail !== undefined || settings.webhooks.length > 0;
  const planned = planJobs(
    jobs.filter(({ name }) => name !== 'mail' || hasOutbox),
    settings.jobs,
  );
  const seed = [settings.organisation, ...settings.rosters.map(({ name }) => name)].join('\n');
  return { jobs, jobsSettings: settings.jobs, planned, settings: settings.scheduler, seed };
}

const unknownJob = (names: readonly string[]): string => `no such job; there are ${names.join(', ')}`;
