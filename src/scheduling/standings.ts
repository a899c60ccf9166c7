import { createHash } from 'node:crypto';
import { readScheduleHistory } from '../runs/scheduled.js';
import type { Workplace } from '../runs/workplace.js';
import type { DecidingRules, JobStanding } from './decide-due.js';
import { toDueTimes } from './due-times.js';
import type { PlannedJob } from './plan-jobs.js';
import { type SchedulerSettings, toSpanMs } from './settings.js';

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
