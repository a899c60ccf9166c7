import type { RunEvent } from './run-event.js';

/** A run that was begun, and its roster (null for a sweep). */
export interface RunAtEnd {
  runId: string;
  roster: string | null;
  /** Whether it came to its end, in whatever state. */
  isFinished: boolean;
}

/** Remembers which run was begun last, for what is to be said when that or the process ends. */
export class LastRun {
  #run: RunAtEnd | null = null;

  /** The jobs that a scheduler has under way; null where this process is no scheduler. */
  listJobs: (() => readonly string[]) | null = null;

  /** Null where none was begun. */
  get current(): RunAtEnd | null {
    return this.#run;
  }

  note(event: RunEvent): void {
    if (event.kind === 'run_started') this.#run = { runId: event.runId, roster: event.roster, isFinished: false };
    if (event.kind === 'run_finished' && event.runId === this.#run?.runId) this.#run.isFinished = true;
  }
}
