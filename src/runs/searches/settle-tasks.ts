import { readSearchTasks, type SearchTask } from '../../store/work-list.js';
import { type Patience, waitForService } from '../outages/outlast-outage.js';
import { toAccountHalt } from '../session/run-halted.js';
import { giveUpWhenTooMany } from './ask-bad-again.js';
import { checkService, type ServiceCondition } from './check-service.js';
import { commitFailures, commitScreenings } from './commit-screenings.js';
import { type SearchContext, searchTask } from './search-task.js';

const chunkSize = 16;

/**
 * Makes what remains of a plan one search at a time. What fails while a control search is answered is that customer's failure; during an
 * outage everything waits. Ends early when the control search is answered as it must not be. Throws RunHalted as `screenTasks` does.
 */
export async function settleTasks(context: SearchContext): Promise<void> {
  const { session, outage } = context;
  const patience: Patience = { clock: session.workplace.clock, outage, signal: session.signal };
  for (let round = 0; ; round += 1) {
    let answered = 0;
    let unknown = 0;
    for await (const chunk of readSearchTasks(session.workplace.database, session.run.runId, chunkSize)) {
      for (const task of chunk) {
        const condition = await settleTask(context, patience, task);
        if (condition === 'blind') return;
        if (condition === 'unknown') unknown += 1;
        else answered += 1;
      }
    }
    if (unknown === 0) return;
    // Nobody was ever answered, so nothing tells an outage from requests that the service cannot answer.
    if (answered === 0)
      await waitForService(patience, round, 'the service is out of reach: no search has been answered');
  }
}

/** Asks until there is an answer, or the request is shown to be at fault; `unknown` when nothing can show it. */
async function settleTask(context: SearchContext, patience: Patience, task: SearchTask): Promise<ServiceCondition> {
  const { session, client, tally, canaries } = context;
  for (;;) {
    if (!(await canaries.askIfDue())) return 'blind';
    const failure = await askAlone(context, task);
    if (failure === null) return 'works';
    if (failure === 'made_again') {
      if (await giveUpWhenTooMany(context)) return 'works';
      continue;
    }
    const condition = await checkService(session, client, patience, tally.done);
    if (condition === 'works') await commitFailures(session, [failure]);
    if (condition !== 'recovered') return condition;
  }
}

/** One search by itself, saved; gives the failure when the service was out of reach, that it is to be made again, or null. */
async function askAlone(
  context: SearchContext,
  task: SearchTask,
): Promise<{ task: SearchTask; reason: string } | 'made_again' | null> {
  const { session, account, tally, signals } = context;
  signals.throwIfStopped();
  if (tally.affordable === 0) throw tally.toHalt();
  tally.handOut();
  const announced = { task, note: context.announceAttempt(task.requestId) };
  const finished = await searchTask(context, announced, { isBudgeted: false });
  await commitScreenings(session, account, [finished]);
  signals.throwIfStopped();
  const { outcome, isMadeAgain } = finished;
  if (isMadeAgain) return 'made_again';
  if (outcome.kind === 'halted') throw toAccountHalt(outcome.error);
  return outcome.kind === 'failed' && outcome.isTransient ? { task, reason: outcome.reason } : null;
}
