import type { Client } from '../../client/client.js';
import { countNoun } from '../../reports/text.js';
import { countCanaries } from '../../store/canaries.js';
import { readSecondSearches, saveSecondSearches } from '../../store/held-runs.js';
import { countBadAnswers } from '../../store/ledger.js';
import { countSearchTasks, readSearchTasks, type SearchTask } from '../../store/screenings.js';
import { putBackSearches } from '../../store/unconfirmed-answers.js';
import { RunHalted, toAccountHalt } from '../halt.js';
import type { RunSession } from '../session.js';
import { findControl, openCanaryRounds } from './canaries.js';
import { commitFailures, commitScreenings, type FinishedSearch } from './commit.js';
import { assessRun, describeFinding, readBounds } from './hold-run.js';
import { retryUntilDeadline, type WaitPolicy, waitForService } from './outages.js';
import type { Allowance } from './plan.js';
import {
  BadAnswers,
  type CanaryRounds,
  createAttemptNotes,
  giveUpWhenTooMany,
  openStopSignals,
  type SearchContext,
  SearchTally,
  searchBadAgain,
  searchTask,
} from './search-task.js';

/**
 * Stage: makes every search that remains of the plan, each attempt noted as in flight before it is sent, and commits what came of them in
 * groups. The canaries are asked again after every so many searches and at the end, also when the budget stops the run, and once one has
 * failed nothing more is asked. What failed for the service's sake is tried again at the end, and fails only if the service is then shown
 * to work; answers that break the contract are asked for again while they are few, and so are those that miss what a run would be held for. An outage is waited out for as long as the run's
 * deadline allows. Throws RunHalted when the account is refused, the service is out of reach for longer, the budget is used up, the limit
 * of searches is reached, or somebody asked to stop; all that was answered is saved by then.
 */
export async function screenTasks({
  maxSearches,
  readAffordable,
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
  const canaries = openCanaryRounds(session, client, waitPolicy, tally);
  const badAnswers = new BadAnswers(run.resumed > 0 ? await countBadAnswers(app.database, run.runId) : new Map());
  const context = { ...part, tally, signals, canaries, badAnswers, announceAttempt: createAttemptNotes(session) };
  try {
    const stopped = await screenAll(context)
      .then(() => searchVanishedAgain(context, readAffordable()))
      .then(() => null, requireLimitHalt);
    // Also of a run that a limit has stopped: the service can still be asked, and nobody knows when it is resumed.
    const halted = await searchLastRound(canaries, openReserve, stopped);
    if (halted) throw toLimitHalt(halted);
  } finally {
    signals.clear();
  }
  app.emit({ kind: 'stage_finished', runId, stage: 'screen', counts: { searches: total } });
}

/** The halt of a run that has reached a limit of ours; anything else is thrown on. */
function requireLimitHalt(error: unknown): RunHalted {
  if (error instanceof RunHalted && (error.code === 'budget' || error.code === 'max_searches')) return error;
  throw error;
}

/**
 * Makes searches again that no longer find known hits, where the run would be held for it: their first answers stay as evidence. Once in a run,
 * and as far as the limits allow.
 */
async function searchVanishedAgain(context: SearchContext, affordable: number): Promise<void> {
  const { session, account, tally } = context;
  const { app, run, runId } = session;
  const { database } = app;
  if ((await countCanaries(database, run.runId)).failed > 0) return;
  const { findings, vanished, findSearches } = await assessRun(database, session, account.accountId);
  if (findings.length === 0 || (await readSecondSearches(database, run.runId)) !== null) return;
  const again = findSearches(Math.min(readBounds(app.settings).searchAgain, affordable, tally.affordable));
  if (again.length === 0) return;
  await session.write(async (transaction) => {
    await saveSecondSearches(transaction, run.runId, { searches: again.length, vanished });
    await putBackSearches(transaction, run.runId, again, app.clock.now());
  });
  const searches = countNoun(again.length, 'search', 'searches');
  const message = `${findings.map(describeFinding).join('; ')}; ${searches} ${again.length === 1 ? 'is' : 'are'} made again before the run is judged`;
  app.emit({ kind: 'warning', runId, code: 'hits_vanished', message });
  tally.putBack(again.length);
  await screenAll(context);
}

/** Walks through what remains, again while that leaves much less of it, and settles the rest one by one. */
async function screenAll(context: SearchContext): Promise<void> {
  const { signals } = context;
  const { concurrency } = context.session.app.settings.service.rate;
  const few = 2 * concurrency;
  let before = Number.POSITIVE_INFINITY;
  for (;;) {
    const pass = openPass(context);
    const workers = Array.from({ length: concurrency }, () =>
      pass.work().catch((error: unknown) => signals.stop(error)),
    );
    await Promise.all(workers);
    const unanswered = await pass.close();
    const again = await searchBadAgain(context);
    if (unanswered === 0 && again === 0) return;
    // Few that fail one after the other would look like an outage.
    const isLeft = unanswered > 0 && (unanswered <= few || unanswered > before / 2);
    if (isLeft && again <= few) return retrySingly(context);
    if (unanswered > 0) before = unanswered;
  }
}

/** One walk through what remains, by many workers; `close` gives how many searches found the service out of reach. */
function openPass(context: SearchContext): { work(): Promise<void>; close(): Promise<number> } {
  const { session, account, tally, signals } = context;
  // To sort what remains takes seconds at a million customers.
  signals.throwIfStopped();
  const commit = openGroupCommit<FinishedSearch>(batchLimits, (finished) =>
    commitScreenings(session, account, finished),
  );
  const underWay = new UnderWay();
  const drained = async (): Promise<void> => {
    await underWay.ended();
    await commit.close();
  };
  const takeTask = oneByOne(handOutTasks(context, drained), () => underWay.begin());
  let unanswered = 0;
  return {
    work: async () => {
      for (let task = await takeTask(); task !== undefined; task = await takeTask()) {
        try {
          const finished = await searchTask(context, task);
          const { outcome } = finished;
          // Before it is saved: nothing more may be spent meanwhile.
          if (outcome.kind === 'halted') signals.stop(toAccountHalt(outcome.error));
          if (outcome.kind === 'failed' && outcome.isTransient) unanswered += 1;
          await commit.add(finished);
        } finally {
          underWay.end();
        }
      }
    },
    close: async () => {
      await commit.close();
      signals.throwIfStopped();
      if (tally.isLimitReached) throw tally.toHalt();
      return unanswered;
    },
  };
}

/** Counts work that is under way, for whoever must wait until there is none. */
class UnderWay {
  #count = 0;
  #waiting: (() => void)[] = [];

  /** One more piece of work begins. */
  begin(): void {
    this.#count += 1;
  }

  /** One of them has come to its end. */
  end(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves as soon as nothing is under way. */
  async ended(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

const isSpent = (error: unknown): error is RunHalted => error instanceof RunHalted && error.code === 'budget';

/**
 * Asks the last control searches of a run that came to its end, or that a limit has stopped, out of what the budget keeps for them. Gives
 * the halt of a run for which too little is left, and otherwise the one that it was given.
 */
async function searchLastRound(
  canaries: CanaryRounds,
  openReserve: () => Promise<RunSession | null>,
  halted: RunHalted | null,
): Promise<RunHalted | null> {
  if (!canaries.isDueAtEnd) return halted;
  const reserve = await openReserve();
  try {
    if (reserve) {
      await canaries.searchAtEnd(reserve);
      return halted;
    }
  } catch (error) {
    if (!isSpent(error)) throw error;
  }
  const { message } = halted ?? { message: 'the budget is used up' };
  return new RunHalted('budget', `${message}, and too little of it is left for the control searches at the end`);
}

const chunkSize = 256;

/**
 * The tasks that remain, in chunks, until the run is stopping or its limit is reached. Each task must come to its end, also then: only so
 * does the ledger learn that what it has noted was not sent. While canaries are asked nothing is handed out, and what was before is `drained`.
 */
async function* handOutTasks(
  { session, tally, canaries, signals, announceAttempt }: SearchContext,
  drained: () => Promise<void>,
) {
  for await (const chunk of readSearchTasks(session.app.database, session.run.runId, chunkSize)) {
    for (let place = 0; place < chunk.length; ) {
      if (canaries.untilNext <= 0) {
        await drained();
        if (!signals.waitSignal.aborted && !(await canaries.searchIfDue())) return;
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

/**
 * Hands out one by one what comes in chunks, to many askers; undefined when there is no more. The next chunk is asked for when the last item
 * of the one before has been taken, and rejects for all who wait for it. `onTaken` is called before anybody else can ask.
 */
export function oneByOne<Item>(
  chunks: AsyncIterator<readonly Item[], void>,
  onTaken: () => void,
): () => Promise<Item | undefined> {
  let items: Iterator<Item> = [][Symbol.iterator]();
  let isOver = false;
  let asking: Promise<void> | undefined;

  const ask = async (): Promise<void> => {
    try {
      const next = await chunks.next();
      if (next.done) isOver = true;
      else items = next.value[Symbol.iterator]();
    } finally {
      asking = undefined;
    }
  };

  return async () => {
    for (;;) {
      const item = items.next();
      if (!item.done) {
        onTaken();
        return item.value;
      }
      if (isOver) return undefined;
      asking ??= ask();
      await asking;
    }
  };
}

/** Bounds of what is not saved yet: at most `maxItems` items, none of them longer than about `maxDelayMs` before its saving begins. */
interface GroupCommitLimits {
  maxItems: number;
  maxDelayMs: number;
}

/**
 * How much of what was answered may be unsaved. Answers not saved yet are asked for again after a crash, so they wait for a tenth of a
 * second at most before their saving begins; the count only bounds them where more than a thousand a second arrive or the database is slow.
 */
export const batchLimits: GroupCommitLimits = { maxItems: 512, maxDelayMs: 100 };

/** Saves items together in batches, one batch at a time, in order of arrival. */
interface GroupCommit<Item> {
  /** Takes an item; waits while as many as allowed are unsaved. Rejects with what made saving fail. */
  add(item: Item): Promise<void>;
  /** Saves what is left and waits for it. */
  close(): Promise<void>;
}

/** Opens a group commit over `save`; after a failed save nothing more is saved. */
export function openGroupCommit<Item>(
  limits: GroupCommitLimits,
  save: (items: readonly Item[]) => Promise<void>,
): GroupCommit<Item> {
  let pending: Item[] = [];
  let unsaved = 0;
  let timer: NodeJS.Timeout | undefined;
  let saving: Promise<void> = Promise.resolve();
  let failure: { error: unknown } | undefined;

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    saving = saving.then(async () => {
      const items = pending;
      pending = [];
      if (items.length > 0 && !failure) {
        await save(items).catch((error: unknown) => {
          failure = { error };
        });
      }
      unsaved -= items.length;
    });
    return saving;
  };
  const throwFailure = (): void => {
    if (failure) throw failure.error;
  };

  return {
    add: async (item) => {
      throwFailure();
      pending.push(item);
      unsaved += 1;
      // Half a batch is saved while the other half is gathered.
      if (pending.length >= limits.maxItems / 2) {
        const saved = flush();
        if (unsaved >= limits.maxItems) await saved;
      } else {
        timer ??= setTimeout(flush, limits.maxDelayMs);
      }
      throwFailure();
    },
    close: async () => {
      await flush();
      throwFailure();
    },
  };
}

const remainderSize = 16;

/**
 * Makes what remains of a plan one search at a time. What fails while a control search is answered is that customer's failure; during an
 * outage everything waits. Ends early when the control search is answered as it must not be. Throws RunHalted as `screenTasks` does.
 */
async function retrySingly(context: SearchContext): Promise<void> {
  const { session, outage } = context;
  const waitPolicy: WaitPolicy = { clock: session.app.clock, outage, signal: session.signal };
  for (let round = 0; ; round += 1) {
    let answered = 0;
    let unknown = 0;
    for await (const chunk of readSearchTasks(session.app.database, session.run.runId, remainderSize)) {
      for (const task of chunk) {
        const condition = await retryTask(context, waitPolicy, task);
        if (condition === 'blind') return;
        if (condition === 'unknown') unknown += 1;
        else answered += 1;
      }
    }
    if (unknown === 0) return;
    // Nobody was ever answered, so nothing distinguishes an outage from requests that the service cannot answer.
    if (answered === 0)
      await waitForService(waitPolicy, round, 'the service is out of reach: no search has been answered');
  }
}

/** Asks until there is an answer, or the request is shown to be at fault; `unknown` when nothing can show it. */
async function retryTask(context: SearchContext, waitPolicy: WaitPolicy, task: SearchTask): Promise<ServiceCondition> {
  const { session, client, tally, canaries } = context;
  for (;;) {
    if (!(await canaries.searchIfDue())) return 'blind';
    const failure = await searchAlone(context, task);
    if (failure === null) return 'works';
    if (failure === 'made_again') {
      if (await giveUpWhenTooMany(context)) return 'works';
      continue;
    }
    const condition = await checkService(session, client, waitPolicy, tally.done);
    if (condition === 'works') await commitFailures(session, [failure]);
    if (condition !== 'recovered') return condition;
  }
}

/** One search by itself, saved; gives the failure when the service was out of reach, that it is to be made again, or null. */
async function searchAlone(
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
