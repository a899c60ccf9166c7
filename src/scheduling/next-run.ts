import type { JobSchedule } from '../runs/workplace.js';
import { toDueTimes } from './due-times.js';

/** When the schedule comes round next after now; null when it never does. */
export const findNextRun = (schedule: JobSchedule, now = new Date()): Date | null =>
  toDueTimes(schedule).next(now)?.dueAt ?? null;

/** The next times at which the schedule comes round, at most `count`. */
export function listNextRuns(schedule: JobSchedule, now: Date, count: number): Date[] {
  const times = toDueTimes(schedule);
  const found: Date[] = [];
  for (let due = times.next(now); due !== null && found.length < count; due = times.next(due.dueAt))
    found.push(due.dueAt);
  return found;
}
