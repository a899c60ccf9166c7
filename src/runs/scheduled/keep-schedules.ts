import {
  bringSchedulesBack,
  endJobRun,
  findSchedulePause,
  type JobDue,
  type JobRun,
  type JobSchedule as KnownSchedule,
  noteMissedJob,
  readJobRuns,
  readJobSchedules,
  retireJobSchedules,
  type SchedulePause,
  saveJobSchedule,
} from '../../store/jobs.js';
import type { JobSchedule } from '../job.js';
import { openOrganisation } from '../session/run-session.js';
import type { Workplace } from '../workplace.js';

// Enough to know whether any time of the last days has been seen to.
const timesKept = 100;

/** What is known of the schedules: since when they count, and what became of their last times, newest first. */
export interface ScheduleHistory {
  schedules: ReadonlyMap<string, KnownSchedule>;
  runs: ReadonlyMap<string, readonly JobRun[]>;
}

/** Notes which jobs are planned from now on; `areAll` retires all others. */
export async function keepSchedules(
  workplace: Workplace,
  planned: readonly { job: string; schedule: JobSchedule }[],
  { areAll }: { areAll: boolean },
): Promise<void> {
  const { organisationId } = await openOrganisation(workplace);
  const now = workplace.clock.now();
  await workplace.database.transaction(async (transaction) => {
    for (const { job, schedule } of planned)
      await saveJobSchedule(transaction, organisationId, { job, ...schedule }, now);
    const names = planned.map(({ job }) => job);
    if (areAll) await retireJobSchedules(transaction, organisationId, names, now);
  });
}

/** Makes schedules that were kept by a clock which was ahead count from now on. */
export async function mendSchedules(workplace: Workplace): Promise<void> {
  const { organisationId } = await openOrganisation(workplace);
  await bringSchedulesBack(workplace.database, organisationId, workplace.clock.now());
}

/** The pause of the schedule at this moment; null where it is not paused. */
export async function readPause(workplace: Workplace): Promise<SchedulePause | null> {
  const { organisationId } = await openOrganisation(workplace);
  return findSchedulePause(workplace.database, organisationId, workplace.clock.now());
}

/** Reads what is known of all jobs, without what a clock that was ahead has noted of them. */
export async function readScheduleHistory(workplace: Workplace): Promise<ScheduleHistory> {
  const { database, clock } = workplace;
  const { organisationId } = await openOrganisation(workplace);
  const schedules = await readJobSchedules(database, organisationId);
  const runs = await readJobRuns(database, organisationId, timesKept, clock.now());
  const byJob = new Map<string, JobRun[]>();
  for (const run of runs) byJob.set(run.job, [...(byJob.get(run.job) ?? []), run]);
  return { schedules: new Map(schedules.map((schedule) => [schedule.job, schedule])), runs: byJob };
}

// Whoever was away for years is told of the last ones.
const mostMissed = 400;

/** Notes the times of a job that were missed for good, and what is given up because it never came to its end. */
export async function settleMissed(
  workplace: Workplace,
  job: string,
  { missed, givenUp }: { missed: readonly JobDue[]; givenUp: JobRun | null },
): Promise<void> {
  if (missed.length === 0 && givenUp === null) return;
  const { organisationId } = await openOrganisation(workplace);
  const now = workplace.clock.now();
  await workplace.database.transaction(async (transaction) => {
    const because = 'nothing was there to begin it when it was due';
    for (const due of missed.slice(-mostMissed)) {
      await noteMissedJob(transaction, organisationId, job, due, { now, because });
    }
    if (givenUp === null) return;
    const ending = { exitCode: 1, because: `was begun ${givenUp.attempts} times and never came to its end` };
    await endJobRun(transaction, givenUp.jobRunId, { ...ending, runIds: [], endedAt: now });
  });
}
