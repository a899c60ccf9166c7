import type { JobDue, JobRun } from '../store/jobs.js';

/** What a scheduler tells; none of it stops it. */
export type ScheduleEvent =
  | { kind: 'begun'; run: JobRun }
  | { kind: 'ended'; run: JobRun; exitCode: number; because: string | null; runIds: readonly string[] }
  /** It was asked to stop or lost its database, and is taken up again. */
  | { kind: 'interrupted'; run: JobRun; because: string | null }
  /** It ignored its signal after its timeout: nothing waits for it any more, and it is not begun beside itself. */
  | { kind: 'hanging'; run: JobRun; because: string | null }
  | { kind: 'missed'; job: string; missed: readonly JobDue[] }
  | { kind: 'given_up'; run: JobRun }
  | { kind: 'held'; job: string; due: JobDue; holder: string }
  | { kind: 'waiting'; job: string; due: JobDue; for: string; until: Date }
  /** The schedule could not be looked at; it is tried again after `retryMs`. */
  | { kind: 'blocked'; error: unknown; retryMs: number; sinceMs: number };
