import { LastRun } from './last-run.js';
import type { Workplace } from './workplace.js';

/** The workplace with an ear on which run was begun in it last. */
export function watchRun(workplace: Workplace): { watched: Workplace; lastRun: LastRun } {
  const lastRun = new LastRun();
  const tell: Workplace['tell'] = (event) => {
    lastRun.note(event);
    workplace.tell(event);
  };
  return { watched: { ...workplace, tell }, lastRun };
}
