import type { Client } from '../../client/create-client.js';
import { findNextRound } from '../../store/canaries.js';
import { findAnsweredRequest, readSearchTasks, type SearchTask } from '../../store/screenings.js';
import { askCanary } from '../canaries/ask-canary.js';
import { recordCanary } from '../canaries/record-canary.js';
import { searchBesidePlan } from '../ledger/search-beside-plan.js';
import { outlastOutage, type Patience, waitForService } from '../outages/outlast-outage.js';
import { toAccountHalt } from '../session/run-halted.js';
import type { RunSession } from '../session/run-session.js';
import { giveUpWhenTooMany } from './ask-bad-again.js';
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

/**
 * What a control search shows about the service just after a search found it out of reach: it works, it had to be waited for, it answers
 * what it must not, or there is no control to ask.
 */
type ServiceCondition = 'works' | 'recovered' | 'blind' | 'unknown';

/**
 * Makes a control search, a canary or else one that this run has had answered, after so many searches; throws RunHalted when the run waits
 * no longer.
 */
async function checkService(
  session: RunSession,
  client: Client,
  patience: Patience,
  searches: number,
): Promise<ServiceCondition> {
  const control = await findControl(session, searches);
  if (control === undefined) return 'unknown';
  const { value: isWell, hadToWait } = await outlastOutage(patience, (signal) =>
    control({ ...session, signal }, client),
  );
  if (!isWell) return 'blind';
  return hadToWait ? 'recovered' : 'works';
}

type Control = (session: RunSession, client: Client) => Promise<boolean>;

async function findControl({ workplace, run }: RunSession, searches: number): Promise<Control | undefined> {
  const canaries = [...workplace.settings.canaries.entries()];
  const [ordinal, canary] = canaries.find(([, { expect }]) => expect === 'match') ?? canaries[0] ?? [];
  if (ordinal !== undefined && canary !== undefined) {
    return async (session, client) => {
      const outcome = await askCanary(session, client, ordinal, canary);
      const round = await findNextRound(workplace.database, run.runId);
      await recordCanary(session, { round, occasion: 'control', searches }, outcome);
      return outcome.verdict === 'passed';
    };
  }
  const answered = await findAnsweredRequest(workplace.database, run.runId);
  if (answered === undefined) return undefined;
  return async (session, client) => {
    await searchBesidePlan(session, client, answered);
    return true;
  };
}
