import { readSearchTasks, type SearchTask } from '../../store/work-list.js';
import type { SearchContext } from './search-task.js';

const chunkSize = 256;

/**
 * The tasks that remain, in chunks, until the run is stopping or its limit is reached. While canaries are asked nothing is handed out, and
 * what was before is `settled`.
 */
export async function* handOutTasks(
  { session, tally, canaries, signals }: SearchContext,
  settled: () => Promise<void>,
): AsyncGenerator<readonly SearchTask[], void> {
  for await (const chunk of readSearchTasks(session.workplace.database, session.run.runId, chunkSize)) {
    for (let place = 0; place < chunk.length; ) {
      if (canaries.untilNext <= 0) {
        await settled();
        if (!signals.waitSignal.aborted && !(await canaries.askIfDue())) return;
      }
      if (signals.waitSignal.aborted) return;
      const tasks = chunk.slice(place, place + Math.min(tally.affordable, canaries.untilNext));
      if (tasks.length === 0) return tally.reachLimit();
      for (const _ of tasks) tally.handOut();
      place += tasks.length;
      yield tasks;
    }
  }
}
