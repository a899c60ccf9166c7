import type { JobSchedule } from '../../runs/workplace.js';
import type { JobDue, JobRun } from '../../store/jobs.js';
import { type DueTimes, toDueTimes } from '../due-times.js';

/** By when a job should have begun, and why in words. */
export interface ExpectedStart {
  /** A start before this moment is not the one that was due. */
  since: Date;
  /** Until when it may wait for other jobs to end. */
  waitsUntil: Date;
  because: string;
}

/** What a job goes by: the schedule that somebody wrote down, or how old its last start may be. */
export type Expectation = { schedule: JobSchedule } | { everyMs: number };

/** What is put up with. */
export interface LateRules {
  now: Date;
  /** How long after its time a job may begin. */
  lateAfterMs: number;
  /** By how much more, where it is due at fixed times of a date. */
  jitterMs: number;
  /** How much longer it may wait while another job is under way. */
  waitAtMostMs: number;
}

const hourMs = 3_600_000;
/** A start may be this much early: clocks of two hosts differ. */
const earlyMs = 60_000;
/** A schedule that has not come round for longer than this is not looked for further. */
const longestBackMs = 32 * 24 * hourMs;

/**
 * The start that should have been made by now; null when none was due yet, or only before one of the moments since when it is watched (those
 * yet to come are the mistake of a clock). `runs`: what became of the job's last times; one that was done early counts from its beginning.
 */
export function findExpectedStart(
  expectation: Expectation,
  rules: LateRules,
  watchedSince: readonly Date[],
  runs: readonly JobRun[] = [],
): ExpectedStart | null {
  const { now, lateAfterMs, jitterMs, waitAtMostMs } = rules;
  const isWatched = (moment: Date): boolean => watchedSince.every((since) => since > now || moment > since);
  if ('everyMs' in expectation) {
    const since = new Date(now.getTime() - expectation.everyMs - lateAfterMs);
    const because = `it should begin every ${Math.round(expectation.everyMs / hourMs)} hours`;
    return isWatched(since) ? { since, waitsUntil: now, because } : null;
  }
  const times = toDueTimes(expectation.schedule);
  const lateMs = lateAfterMs + (times.isByDate ? jitterMs : 0);
  const due = findLastDue(times, new Date(now.getTime() - lateMs));
  if (due === null || !isWatched(due.dueAt)) return null;
  const { cron, timezone } = expectation.schedule;
  const begunAt = runs.find(({ occasion }) => occasion === due.occasion)?.begunAt ?? due.dueAt;
  return {
    since: new Date(Math.min(due.dueAt.getTime(), begunAt.getTime()) - earlyMs),
    waitsUntil: new Date(findFirstMissing(times, due, runs, watchedSince).getTime() + lateMs + waitAtMostMs),
    because: `it was due at ${due.dueAt.toISOString()} (${cron} ${timezone})`,
  };
}

const findLastDue = (times: DueTimes, before: Date): JobDue | null =>
  times.between(new Date(before.getTime() - longestBackMs), before).at(-1) ?? null;

/** The first time since the last start that was not begun: a job that comes round often must not wait anew from each of its times. */
function findFirstMissing(times: DueTimes, due: JobDue, runs: readonly JobRun[], watchedSince: readonly Date[]): Date {
  const begun = runs.flatMap(({ begunAt, dueAt }) => (begunAt === null || dueAt >= due.dueAt ? [] : dueAt.getTime()));
  const since = watchedSince.map((moment) => moment.getTime()).filter((ms) => ms < due.dueAt.getTime());
  if (begun.length === 0 && since.length === 0) return due.dueAt;
  const floorMs = Math.max(due.dueAt.getTime() - longestBackMs, ...begun, ...since);
  return times.next(new Date(floorMs))?.dueAt ?? due.dueAt;
}
