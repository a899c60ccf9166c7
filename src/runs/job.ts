import type { RunSummary } from './session/run-summary.js';
import type { Workplace } from './workplace.js';

/** When a job starts: a cron expression read in an IANA time zone. */
export interface JobSchedule {
  cron: string;
  timezone: string;
}

/** The time at which a job is due that is being run. */
export interface JobOccasion {
  /** The date (`yyyy-mm-dd`) in the job's time zone that it stands for. */
  date: string;
  dueAt: Date;
  /** 1 at first; more where it was left and is taken up again. */
  attempt: number;
  /** Begun well after it was due. */
  isLate: boolean;
}

/** What a job has done; `exitCode` 3 where something is not as it should be beside its runs, said in `note`. */
export interface JobResult {
  runs: readonly RunSummary[];
  exitCode?: 0 | 3;
  note?: string;
}

/** Work that the scheduler starts by itself; it composes run functions. What it throws is told as its failure, and stops nothing else. */
export interface Job {
  name: string;
  /** Null: it runs only when the configuration gives it a schedule. */
  defaultSchedule: JobSchedule | null;
  /** The jobs that it waits for on the same date; it goes on when they have failed. */
  after?: readonly string[];
  /** How long one attempt may last, in milliseconds, where the configuration says nothing else; an hour without it. */
  timeoutMs?: number;
  /** The code is the user's own: an attempt that is stopped is not continued. */
  isOwn?: boolean;
  run(workplace: Workplace, signal: AbortSignal, occasion: JobOccasion): Promise<JobResult>;
}
