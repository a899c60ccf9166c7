import type { RunSummary } from './session/run-summary.js';
import type { Workplace } from './workplace.js';

/** When a job starts: a cron expression read in an IANA time zone. */
export interface JobSchedule {
  cron: string;
  timezone: string;
}

/** Work that the scheduler starts by itself; it composes run functions and gives the summary of every run it made. */
export interface Job {
  name: 'rescreen' | 'onboard' | 'sweep' | 'report' | 'mail';
  /** Null: it runs only when the configuration gives it a schedule. */
  defaultSchedule: JobSchedule | null;
  run(workplace: Workplace, signal: AbortSignal): Promise<RunSummary[]>;
}
