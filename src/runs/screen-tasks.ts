import { followSignals } from '../client/calls/follow-signals.js';
import type { Client } from '../client/create-client.js';
import { type ScreeningOutcome, screen } from '../screening/screen.js';
import type { Account } from '../store/organisations.js';
import { noteInFlight } from '../store/search-attempts.js';
import { countSearchTasks, readSearchTasks, type SearchTask } from '../store/work-list.js';
import { abortLater } from './abort-later.js';
import { commitFailures, commitScreenings, type FinishedSearch } from './commit-screenings.js';
import { openGroupCommit } from './group-commit.js';
import { toHalt } from './identify-account.js';
import type { OutageWatch } from './outage-watch.js';
import { outlastOutage } from './outlast-outage.js';
import { recordAttempts } from './record-attempts.js';
import { runCanaries } from './run-canaries.js';
import { RunHalted, toAccountHalt } from './run-halted.js';
import type { RunSession } from './run-session.js';

/** Answers not saved yet are asked for again after a crash, so they are few and not for long. */
const batch = { maxItems: 32, maxDelayMs: 100 };
/** How long answers may still arrive once somebody asked to stop. */
const stopGraceMs = 5_000;

/** What the searches of a run need. */
export interface SearchContext {
  session: RunSession;
  client: Client;
  account: Account;
  /** Searches after which the run stops, resumable. */
  maxSearches: number | undefined;
  /** When this start of the run began. */
  startedAt: Date;
  outage: OutageWatch;
}

interface Tally {
  /** Distinct searches of the plan. */
  total: number;
  /** How many of them are answered. */
  done: number;
  /** How many this process has noted as in flight. */
  sent: number;
}

const notSent: ScreeningOutcome = { kind: 'aborted' };

interface UnansweredTask {
  task: SearchTask;
  reason: string;
}

interface NotedTask {
  task: SearchTask;
  attemptId: number;
}

/**
 * Stage: makes every search that remains of the plan, each noted as in flight before it is sent, and commits what came of them in
 * groups. What failed for the service's sake is tried again at the end, and fails only if the service is then shown to work. An outage
 * is waited out for as long as the run's deadline allows. Throws RunHalted when the account is refused, the service is out of reach for
 * longer, the limit of searches is reached, or somebody asked to stop; all that was answered is saved by then.
 */
export async function screenTasks(context: SearchContext): Promise<void> {
  const { workplace, run, runId } = context.session;
  const { total, remaining } = await countSearchTasks(workplace.database, run.runId);
  workplace.tell({ kind: 'stage_started', runId, stage: 'screen' });
  const tally = { total, done: total - remaining, sent: 0 };
  let unanswered = await screenPass(context, tally);
  while (unanswered.length > 0) {
    const outagesBefore = context.outage.outages;
    const again = await screenPass(context, tally);
    if (again.length === unanswered.length) {
      const service = await checkService(context);
      if (service === 'blind') break;
      // One request that the service cannot answer is that customer's failure; a service that answers nothing is an outage.
      if (service === 'works' && context.outage.outages === outagesBefore) {
        await commitFailures(context.session, again);
        break;
      }
    }
    unanswered = again;
  }
  workplace.tell({ kind: 'stage_finished', runId, stage: 'screen', counts: { searches: total } });
}

/** Whether control searches are answered as they must be, and whether that had to be waited for. */
async function checkService(context: SearchContext): Promise<'works' | 'recovered' | 'blind'> {
  const { session, client, startedAt, outage } = context;
  const { workplace, runId, signal } = session;
  const check = async (checking: AbortSignal): Promise<boolean> => {
    if (workplace.settings.canaries.length > 0) return runCanaries({ ...session, signal: checking }, client);
    await client.apiKeys.public({ signal: checking }).catch((error: unknown) => {
      throw toHalt(error, checking);
    });
    return true;
  };
  const { value: isWell, hadToWait } = await outlastOutage({ workplace, runId, startedAt, signal }, check);
  outage.noteAnswer();
  if (!isWell) return 'blind';
  return hadToWait ? 'recovered' : 'works';
}

/** One walk through what remains; gives the searches that found the service out of reach. */
async function screenPass(context: SearchContext, tally: Tally): Promise<readonly UnansweredTask[]> {
  const { session, client, account, outage } = context;
  const { workplace, runId } = session;
  const concurrency = workplace.settings.service.rate.concurrency;
  const stop = new AbortController();
  const stopping = followSignals(stop.signal, [session.signal, outage.signal]);
  const impatient = followSignals(session.signal, [outage.signal]);
  const calls = abortLater(impatient.signal, stopGraceMs);
  const isStopping = (): boolean => stopping.signal.aborted;
  const commit = openGroupCommit<FinishedSearch>(batch, (finished) => commitScreenings(session, account, finished));
  const tasks = noteTasks(context, tally, 2 * concurrency, isStopping);
  const unanswered: UnansweredTask[] = [];

  const search = async ({ task, attemptId }: NotedTask): Promise<void> => {
    const { observer, attempts } = recordAttempts();
    const request = { type: task.type, name: task.name };
    const options = { signal: calls.signal, waitSignal: stopping.signal, observer };
    const outcome = isStopping() ? notSent : await screen(client.aml, request, options);
    await commit.add({ task, attemptId, attempts, outcome });
    if (outcome.kind === 'halted') stop.abort(toAccountHalt(outcome.error));
    if (outcome.kind === 'screened') tally.done += 1;
    if (outcome.kind === 'failed' && outcome.isTransient) {
      outage.noteFailure();
      unanswered.push({ task, reason: outcome.reason });
    } else if (outcome.kind !== 'aborted') outage.noteAnswer();
    workplace.tell({ kind: 'progress', runId, stage: 'screen', done: tally.done, total: tally.total });
  };
  const work = async (): Promise<void> => {
    for (let next = await tasks.next(); !next.done; next = await tasks.next()) await search(next.value);
  };

  try {
    await Promise.all(Array.from({ length: concurrency }, () => work().catch((error: unknown) => stop.abort(error))));
    await commit.close();
  } finally {
    calls.clear();
    impatient.clear();
    stopping.clear();
  }
  if (outage.signal.aborted) throw outage.signal.reason;
  if (stop.signal.aborted) throw stop.signal.reason;
  if (session.signal.aborted) throw new RunHalted('signal', 'stopped on request', session.signal.reason);
  return unanswered;
}

/**
 * The tasks that remain, chunk by chunk, each chunk noted in the ledger before its first task is handed out. When the run is
 * stopping, the rest of the chunk is still handed out, so that the ledger learns that it was not sent, and then nothing more.
 */
async function* noteTasks(
  context: SearchContext,
  tally: Tally,
  chunkSize: number,
  isStopping: () => boolean,
): AsyncGenerator<NotedTask, void> {
  const { session, maxSearches = Number.POSITIVE_INFINITY } = context;
  const { workplace, run } = session;
  for await (const chunk of readSearchTasks(workplace.database, run.runId, chunkSize)) {
    if (isStopping()) return;
    const affordable = chunk.slice(0, Math.max(0, maxSearches - tally.sent));
    const requestIds = affordable.map((task) => task.requestId);
    const noted = await session.write((transaction) =>
      noteInFlight(transaction, run.runId, requestIds, workplace.clock.now()),
    );
    for (const task of affordable) {
      tally.sent += 1;
      yield { task, attemptId: noted.get(task.requestId) ?? 0 };
    }
    if (affordable.length < chunk.length) {
      throw new RunHalted('max_searches', `the limit of ${maxSearches} searches for this run is reached`);
    }
  }
}
