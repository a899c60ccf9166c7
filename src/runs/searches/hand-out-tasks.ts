import { readSearchTasks } from '../../store/work-list.js';
import type { AnnouncedTask, SearchContext } from './search-task.js';

const chunkSize = 256;

/**
 * The tasks that remain, in chunks, until the run is stopping or its limit is reached. Each task must come to its end, also then: only so
 * does the ledger learn that what it has noted was not sent. While canaries are asked nothing is handed out, and what was before is `settled`.
 */
export async function* handOutTasks(
  { session, tally, canaries, signals, announceAttempt }: SearchContext,
  settled: () => Promise<void>,
): AsyncGenerator<readonly AnnouncedTask[], void> {
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
      yield tasks.map((task) => ({ task, note: announceAttempt(task.requestId) }));
    }
  }
}
