import { readScheduleHistory, toJobLeaseKey } from '../../runs/scheduled.js';
import type { Workplace } from '../../runs/workplace.js';
import { findNextStart } from '../../scheduling/decide-due.js';
import { readStandings } from '../../scheduling/standings.js';
import type { JobRun } from '../../store/jobs.js';
import { readHeldLeases } from '../../store/leases.js';
import type { JobsAndPlan } from './plan-schedule.js';

/** How one time of a job stands: `left` was begun by a process that has ended without a word. */
export interface ShownRun extends Omit<JobRun, 'jobRunId' | 'job' | 'state'> {
  state: JobRun['state'] | 'left';
}

/** One job as `schedule show` prints it, with its last times, newest first. */
export interface ShownJob {
  job: string;
  /** Null: it is not planned. */
  schedule: { cron: string; timezone: string } | null;
  /** Null: it was never kept, so nothing that passed before the first start is missed. */
  plannedSince: Date | null;
  /** When it begins next, jitter included. */
  next: Date | null;
  runs: readonly ShownRun[];
}

const timesShown = 10;

/** Every job that is planned or ever ran. */
export async function showSchedule(workplace: Workplace, plan: JobsAndPlan): Promise<readonly ShownJob[]> {
  const { database, clock, settings } = workplace;
  const { schedules, runs } = await readScheduleHistory(workplace);
  const standings = await readStandings(workplace, plan);
  const live = new Set(
    (await readHeldLeases(database)).filter(({ expiresInMs }) => expiresInMs > 0).map(({ key }) => key),
  );
  const toShown = ({ jobRunId: _, job, state, ...run }: JobRun): ShownRun => {
    const isLive = live.has(toJobLeaseKey(settings.organisation, job));
    return { ...run, state: state === 'running' && !isLive ? 'left' : state };
  };
  const names = [...new Set([...standings.keys(), ...runs.keys()])];
  return names.map((job) => {
    const standing = standings.get(job);
    return {
      job,
      schedule: plan.planned.find((one) => one.job.name === job)?.schedule ?? null,
      plannedSince: schedules.get(job)?.plannedSince ?? null,
      next: (standing && findNextStart(standing, clock.now())?.at) ?? null,
      runs: (runs.get(job) ?? []).slice(0, timesShown).map(toShown),
    };
  });
}
