import type { Client } from '../../client/client.js';
import { countBadAnswers } from '../../store/night/ledger.js';
import { countSearchTasks, readSearchTasks, type SearchTask } from '../../store/night/screenings.js';
import { refreshRunStatistics } from '../../store/runs.js';
import { RunHalted, toAccountHalt } from '../halt.js';
import type { RunSession } from '../session.js';
import { createAttemptNotes } from './attempts.js';
import { commitFailures, commitScreenings } from './commit.js';
import { ControlRounds, findControl } from './controls.js';
import { searchByWorkers } from './fleet.js';
import { retryUntilDeadline, type WaitPolicy, waitForService } from './outages.js';
import type { Allowance } from './plan.js';
import { searchMany } from './search-many.js';
import {
  BadAnswers,
  giveUpWhenTooMany,
  openStopSignals,
  type SearchContext,
  SearchTally,
  searchBadAgain,
  searchTask,
} from './search-task.js';

/**
 * Stage: makes every remaining search of the plan. Each attempt is noted as in flight before it is sent; outcomes are
 * committed in groups. Control searches repeat during the run and at its end, also when the budget stops it; a failed
 * one ends all searches. A search that failed because of the service is repeated at the end, and fails only when the
 * service is then proven to work. Answers that break the contract are repeated while they are few. An outage is waited
 * out within the run's deadline. Throws RunHalted when the account is refused, the outage lasts longer, the budget or the
 * limit of searches is reached, or a stop is requested; all answers are saved by then.
 */
export async function screenTasks({
  maxSearches,
  openReserve,
  toLimitHalt,
  ...part
}: Allowance & Pick<SearchContext, 'client' | 'account' | 'outage'>): Promise<void> {
  const { session, client, outage } = part;
  const { app, run, runId } = session;
  const { total, remaining } = await countSearchTasks(app.database, run.runId);
  app.emit({ kind: 'stage_started', runId, stage: 'screen' });
  const tally = new SearchTally({ total, done: total - remaining }, maxSearches);
  const signals = openStopSignals(session.signal, outage.signal);
  const waitPolicy = { clock: app.clock, outage, signal: session.signal };
  const controls = new ControlRounds(session, client, waitPolicy, tally);
  const badAnswers = new BadAnswers(run.resumed > 0 ? await countBadAnswers(app.database, run.runId) : new Map());
  const context = { ...part, tally, signals, controls, badAnswers, notes: createAttemptNotes(session) };
  try {
    const stopped = await screenAll(context).then(() => null, requireLimitHalt);
    // Also after a limit: the service still answers, and the time of a resume is unknown.
    const halted = await searchLastRound(controls, openReserve, stopped);
    if (halted) throw toLimitHalt(halted);
  } finally {
    signals.clear();
  }
  app.emit({ kind: 'stage_finished', runId, stage: 'screen', counts: { searches: total } });
}

/** Returns the halt of a reached limit; throws any other error. */
function requireLimitHalt(error: unknown): RunHalted {
  if (error instanceof RunHalted && (error.code === 'budget' || error.code === 'max_searches')) return error;
  throw error;
}

/** Makes passes over the remaining searches while each pass reduces them enough, then retries the rest one by one. */
async function screenAll(context: SearchContext): Promise<void> {
  const { app, run } = context.session;
  const few = 2 * app.settings.service.rate.concurrency;
  let before = Number.POSITIVE_INFINITY;
  for (;;) {
    const unanswered = await searchRemaining(context);
    const again = await searchBadAgain(context);
    if (unanswered === 0 && again === 0) return;
    await refreshRunStatistics(app.database, run.runId);
    // A few failures in a row would look like an outage.
    const isLeft = unanswered > 0 && (unanswered <= few || unanswered > before / 2);
    if (isLeft && again <= few) return retrySingly(context);
    if (unanswered > 0) before = unanswered;
  }
}

/** Makes one pass over the remaining searches, many at once. Returns how many of them found the service out of reach. */
async function searchRemaining(context: SearchContext): Promise<number> {
  const { session, account, tally, signals } = context;
  // Sorting the remaining searches takes seconds at a million customers.
  signals.throwIfStopped();
  const { unanswered } = session.app.settings.fleet
    ? await searchByWorkers(context)
    : await searchMany(context, account, (parts) => handOutTasks(context, parts));
  signals.throwIfStopped();
  if (tally.isLimitReached) throw tally.toHalt();
  return unanswered;
}

const isSpent = (error: unknown): error is RunHalted => error instanceof RunHalted && error.code === 'budget';

/**
 * Makes the control searches at the end of a run, or after a limit, from the reserve of the budget. Returns the given
 * halt, or a budget halt when the reserve is too small.
 */
async function searchLastRound(
  controls: ControlRounds,
  openReserve: () => Promise<RunSession | null>,
  halted: RunHalted | null,
): Promise<RunHalted | null> {
  if (!controls.isDueAtEnd) return halted;
  const reserve = await openReserve();
  try {
    if (reserve) {
      await controls.searchAtEnd(reserve);
      return halted;
    }
  } catch (error) {
    if (!isSpent(error)) throw error;
  }
  const { message } = halted ?? { message: 'the budget is used up' };
  return new RunHalted('budget', `${message}, and too little of it is left for the control searches at the end`);
}

const chunkSize = 2_000;

/**
 * The remaining tasks until a stop or the limit, for many callers. Each task must be completed, also after a stop: otherwise the ledger does not
 * learn that a noted attempt was not sent. No task is handed out during control searches; the earlier ones are ended and saved first.
 */
async function* handOutTasks(
  { session, tally, controls, signals }: SearchContext,
  { underWay, saveAll }: Parameters<Parameters<typeof searchMany>[2]>[0],
): AsyncGenerator<SearchTask, void> {
  for await (const chunk of readSearchTasks(session.app, session.run.runId, chunkSize)) {
    for (const task of chunk) {
      if (controls.untilNext <= 0) {
        await underWay.ended();
        await saveAll();
        if (!signals.waitSignal.aborted && !(await controls.searchIfDue())) return;
      }
      if (signals.waitSignal.aborted) return;
      if (tally.affordable === 0) return tally.reachLimit();
      tally.handOut();
      underWay.begin();
      yield task;
    }
  }
}

const remainderSize = 16;

/**
 * Makes the remaining searches one at a time. A failure counts against the customer when a control search is answered;
 * an outage is waited out. Ends early when a control search fails. Throws RunHalted as `screenTasks` does.
 */
async function retrySingly(context: SearchContext): Promise<void> {
  const { session, outage } = context;
  const waitPolicy: WaitPolicy = { clock: session.app.clock, outage, signal: session.signal };
  rounds: for (let round = 0; ; round += 1) {
    let answered = 0;
    let unknown = 0;
    for await (const chunk of readSearchTasks(session.app, session.run.runId, remainderSize)) {
      for (const task of chunk) {
        const condition = await retryTask(context, waitPolicy, task);
        if (condition === 'blind') return;
        // Other searches have failed with it: what is left is read anew.
        if (condition === 'given_up') continue rounds;
        if (condition === 'unknown') unknown += 1;
        else answered += 1;
      }
    }
    if (unknown === 0) return;
    // Without any answer, an outage and a request that the service cannot answer look the same.
    if (answered === 0)
      await waitForService(waitPolicy, round, 'the service is out of reach: no search has been answered');
  }
}

/**
 * Repeats a search until it is answered or its request is shown to be the cause; `unknown` when no control search can
 * show it, `given_up` when all that had bad answers have failed.
 */
async function retryTask(
  context: SearchContext,
  waitPolicy: WaitPolicy,
  task: SearchTask,
): Promise<ServiceCondition | 'given_up'> {
  const { session, client, tally, controls } = context;
  for (;;) {
    if (!(await controls.searchIfDue())) return 'blind';
    const failure = await searchAlone(context, task);
    if (failure === null) return 'works';
    if (failure === 'made_again') {
      if (await giveUpWhenTooMany(context)) return 'given_up';
      continue;
    }
    const condition = await checkService(session, client, waitPolicy, tally.done);
    if (condition === 'works') await commitFailures(session, [failure]);
    if (condition !== 'recovered') return condition;
  }
}

/**
 * Makes and saves one search. Returns its failure when the service was out of reach, `made_again` for a bad answer,
 * else null.
 */
async function searchAlone(
  context: SearchContext,
  task: SearchTask,
): Promise<{ task: SearchTask; reason: string } | 'made_again' | null> {
  const { session, account, tally, signals } = context;
  signals.throwIfStopped();
  if (tally.affordable === 0) throw tally.toHalt();
  tally.handOut();
  const finished = await searchTask(context, task, { isBudgeted: false });
  await commitScreenings(session, account, [finished]);
  signals.throwIfStopped();
  const { outcome, isMadeAgain } = finished;
  if (isMadeAgain) return 'made_again';
  if (outcome.kind === 'halted') throw toAccountHalt(outcome.error);
  return outcome.kind === 'failed' && outcome.isTransient ? { task, reason: outcome.reason } : null;
}

/**
 * What a control search shows after a search found the service out of reach: it works, it works after a wait, it gives
 * a wrong answer, or there is no control search.
 */
type ServiceCondition = 'works' | 'recovered' | 'blind' | 'unknown';

/** Makes one control search; throws RunHalted when the run stops waiting. */
async function checkService(
  session: RunSession,
  client: Client,
  waitPolicy: WaitPolicy,
  searches: number,
): Promise<ServiceCondition> {
  const control = await findControl(session, client, searches);
  if (control === undefined) return 'unknown';
  const { value: isWell, hadToWait } = await retryUntilDeadline(waitPolicy, (signal) =>
    control({ ...session, signal }),
  );
  if (!isWell) return 'blind';
  return hadToWait ? 'recovered' : 'works';
}
