import type { RunEvent } from '../runs/run-event.js';

/** The run that a line belongs to, and its roster (null for a sweep); nothing where it belongs to none. */
export type RunOfLine = { runId: string; roster: string | null } | Record<string, never>;

/** Knows which run is going on and whose roster each is, so that every line of a log can say so. */
export class RunTracker {
  readonly #rosters = new Map<string, string | null>();
  #going: string | null = null;

  /** The run that is going on. */
  get current(): RunOfLine {
    return this.#describe(this.#going);
  }

  /** The run that an event belongs to: the one it names, else the one that is going on. */
  note(event: RunEvent): RunOfLine {
    if (event.kind === 'run_started') {
      this.#rosters.set(event.runId, event.roster);
      this.#going = event.runId;
    }
    const run = 'runId' in event ? this.#describe(event.runId) : this.current;
    if (event.kind === 'run_finished' && event.runId === this.#going) this.#going = null;
    return run;
  }

  #describe(runId: string | null): RunOfLine {
    if (runId === null) return {};
    const roster = this.#rosters.get(runId);
    return roster === undefined ? {} : { runId, roster };
  }
}
