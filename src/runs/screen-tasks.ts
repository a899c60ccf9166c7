import type { Client } from '../client/create-client.js';
import { type ScreeningOutcome, screen } from '../screening/screen.js';
import type { Account } from '../store/organisations.js';
import { noteInFlight } from '../store/search-attempts.js';
import { countSearchTasks, readSearchTasks, type SearchTask } from '../store/work-list.js';
import { abortLater } from './abort-later.js';
import { commitFailures, commitScreenings, type FinishedSearch } from './commit-screenings.js';
import { openGroupCommit } from './group-commit.js';
import { identifyAccount } from './identify-account.js';
import { createOutageWatch } from './outage-watch.js';
import { recordAttempts } from './record-attempts.js';
import { runCanaries } from './run-canaries.js';
import { RunHalted } from './run-halted.js';
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
 * groups. What failed for the service's sake is tried once more at the end, and fails only if the service is then shown to work.
 * Throws RunHalted when the account is refused, the service is out of reach, the limit of searches is reached, or somebody asked to
 * stop; all that was answered is saved by then.
 */
export async function screenTasks(context: SearchContext): Promise<void> {
  const { workplace, run, runId } = context.session;
  const { total, remaining } = await countSearchTasks(workplace.database, run.runId);
  workplace.tell({ kind: 'stage_started', runId, stage: 'screen' });
  const tally = { total, done: total - remaining, sent: 0 };
  const first = await screenPass(context, tally);
  const again = first.length === 0 ? [] : await screenPass(context, tally);
  // One request that the service cannot answer is that customer's failure; a service that answers nothing is an outage.
  if (again.length > 0 && (await isServiceWorking(context))) await commitFailures(context.session, again);
  workplace.tell({ kind: 'stage_finished', runId, stage: 'screen', counts: { searches: total } });
}

/** Whether control searches are answered as they must be; throws RunHalted when they are not answered at all. */
async function isServiceWorking({ session, client }: SearchContext): Promise<boolean> {
  const { workplace, organisation, signal } = session;
  if (workplace.settings.canaries.length > 0) return runCanaries(session, client);
  await identifyAccount(workplace, organisation, client, signal);
  return true;
}

/** One walk through what remains; gives the searches that found the service out of reach. */
async function screenPass(context: SearchContext, tally: Tally): Promise<readonly UnansweredTask[]> {
  const { session, client, account } = context;
  const { workplace, runId } = session;
  const concurrency = workplace.settings.service.rate.concurrency;
  const stop = new AbortController();
  const calls = abortLater(session.signal, stopGraceMs);
  const isStopping = (): boolean => stop.signal.aborted || session.signal.aborted;
  const commit = openGroupCommit<FinishedSearch>(batch, (finished) => commitScreenings(session, account, finished));
  const tasks = noteTasks(context, tally, 2 * concurrency, isStopping);
  const outage = createOutageWatch(2 * concurrency);
  const unanswered: UnansweredTask[] = [];

  const search = async ({ task, attemptId }: NotedTask): Promise<void> => {
    const { observer, attempts } = recordAttempts();
    const request = { type: task.type, name: task.name };
    const outcome = isStopping() ? notSent : await screen(client.aml, request, { signal: calls.signal, observer });
    await commit.add({ task, attemptId, attempts, outcome });
    const halt = outage.judge(outcome);
    if (halt) stop.abort(halt);
    if (outcome.kind === 'screened') tally.done += 1;
    if (outcome.kind === 'failed' && outcome.isTransient) unanswered.push({ task, reason: outcome.reason });
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
  }
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
