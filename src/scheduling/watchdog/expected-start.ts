import type { JobSchedule } from '../../runs/job.js';
import { findLastDueTime } from '../last-due-time.js';

/** By when a job should have begun, and why in words. */
export interface ExpectedStart {
  /** A start before this moment is not the one that was due. */
  since: Date;
  because: string;
}

/** What a job goes by: the schedule that somebody wrote down, or how old its last start may be. */
export type Expectation = { schedule: JobSchedule } | { everyMs: number };

const hourMs = 3_600_000;
/** A start may be this much early: clocks of two hosts differ. */
const earlyMs = 60_000;

/** The start that should have been made by now; null when none was due yet. */
export function findExpectedStart(expectation: Expectation, lateAfterMs: number, now: Date): ExpectedStart | null {
  if ('everyMs' in expectation) {
    const since = new Date(now.getTime() - expectation.everyMs - lateAfterMs);
    return { since, because: `it should begin every ${Math.round(expectation.everyMs / hourMs)} hours` };
  }
  const due = findLastDueTime(expectation.schedule, new Date(now.getTime() - lateAfterMs));
  if (due === null) return null;
  const { cron, timezone } = expectation.schedule;
  const because = `it was due at ${due.toISOString()} (${cron} ${timezone})`;
  return { since: new Date(due.getTime() - earlyMs), because };
}
