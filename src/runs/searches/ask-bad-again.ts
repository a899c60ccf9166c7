import { readSearchTasks } from '../../store/screenings.js';
import { commitFailures } from './commit-screenings.js';
import type { SearchContext } from './search-task.js';

const chunkSize = 256;

/**
 * Tells how many searches of the last walk are to be made again because their answers were bad, and gives their number. When too many were,
 * it says so, and their customers fail instead.
 */
export async function askBadAgain(context: SearchContext): Promise<number> {
  const { session, badAnswers } = context;
  const { runId, workplace } = session;
  const again = badAnswers.takeAgain();
  if (again === 0) return 0;
  if (await giveUpWhenTooMany(context)) return 0;
  const message = `${badAnswers.words}; ${again} searches are made again`;
  workplace.tell({ kind: 'warning', runId, code: 'bad_answers', message });
  return again;
}

/** Once too many answers were bad: fails whoever waits to be asked about again, each with the reason of the last answer; true then. */
export async function giveUpWhenTooMany({ session, badAnswers }: SearchContext): Promise<boolean> {
  const { run, runId, workplace } = session;
  if (!badAnswers.isTooMany) return false;
  const message = `${badAnswers.words}: too many to ask for them again`;
  workplace.tell({ kind: 'warning', runId, code: 'bad_answers', message });
  const reasons = badAnswers.giveUp();
  for await (const chunk of readSearchTasks(workplace.database, run.runId, chunkSize)) {
    const failures = chunk.flatMap((task) => {
      const reason = reasons.get(task.requestId);
      return reason === undefined ? [] : [{ task, reason }];
    });
    await commitFailures(session, failures);
  }
  return true;
}
