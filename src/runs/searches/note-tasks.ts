import { requireFound } from '../../store/require-all.js';
import { noteInFlight } from '../../store/search-attempts.js';
import { readSearchTasks, type SearchTask } from '../../store/work-list.js';
import type { NotedTask, SearchContext } from './search-task.js';

/**
 * The tasks that remain, in chunks that are each noted in the ledger before they are handed out; while one is, the next one is noted. When
 * the run is stopping, what was noted is still handed out, so that the ledger learns that it was not sent, and then nothing more. While
 * canaries are asked nothing is handed out, and what was before is `settled`.
 */
export async function* noteTasks(
  context: SearchContext,
  chunkSize: number,
  settled: () => Promise<void>,
): AsyncGenerator<readonly NotedTask[], void> {
  const { session, tally, canaries, signals } = context;
  let noted: Promise<readonly NotedTask[]> | undefined;
  const takeNoted = async (): Promise<readonly NotedTask[]> => {
    const tasks = (await noted) ?? [];
    noted = undefined;
    return tasks;
  };
  for await (const chunk of readSearchTasks(session.workplace.database, session.run.runId, chunkSize)) {
    for (let place = 0; place < chunk.length; ) {
      if (canaries.untilNext <= 0) {
        yield await takeNoted();
        await settled();
        if (!signals.waitSignal.aborted && !(await canaries.askIfDue())) return;
      }
      if (signals.waitSignal.aborted) return yield await takeNoted();
      const tasks = chunk.slice(place, place + Math.min(tally.affordable, canaries.untilNext));
      if (tasks.length === 0) {
        tally.reachLimit();
        return yield await takeNoted();
      }
      for (const _ of tasks) tally.handOut();
      const next = note(context, tasks);
      yield await takeNoted();
      noted = next;
      place += tasks.length;
    }
  }
  yield await takeNoted();
}

function note({ session }: SearchContext, tasks: readonly SearchTask[]): Promise<readonly NotedTask[]> {
  const { workplace, run, write } = session;
  const requestIds = tasks.map((task) => task.requestId);
  const noting = write((transaction) => noteInFlight(transaction, run.runId, requestIds, workplace.clock.now())).then(
    (ids) => tasks.map((task) => ({ task, attemptId: requireFound(ids, task.requestId, 'search_attempt') })),
  );
  // Whoever waits for it later learns of a failure; until then it must not end the process.
  noting.catch(() => undefined);
  return noting;
}
