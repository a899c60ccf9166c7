import type { Workplace } from './workplace.js';

/** A run and its roster (null for a sweep). */
export interface BegunRun {
  runId: string;
  roster: string | null;
}

/** The workplace with an ear on which run was begun in it last; null where none was. */
export function watchRun(workplace: Workplace): { watched: Workplace; begunRun: () => BegunRun | null } {
  let last: BegunRun | null = null;
  const tell: Workplace['tell'] = (event) => {
    if (event.kind === 'run_started') last = { runId: event.runId, roster: event.roster };
    workplace.tell(event);
  };
  return { watched: { ...workplace, tell }, begunRun: () => last };
}
