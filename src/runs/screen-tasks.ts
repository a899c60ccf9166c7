import type { Client } from '../client/create-client.js';
import { type ScreeningOutcome, screen } from '../screening/screen.js';
import type { Account } from '../store/organisations.js';
import { noteInFlight } from '../store/search-attempts.js';
import { countSearchTasks, readSearchTasks, type SearchTask } from '../store/work-list.js';
import { commitScreenings, type FinishedSearch } from './commit-screenings.js';
import { openGroupCommit } from './group-commit.js';
import { recordAttempts } from './record-attempts.js';
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

interface NotedTask {
  task: SearchTask;
  attemptId: number;
}

/**
 * Stage: makes every search that remains of the plan, each noted as in flight before it is sent, and commits what came of them in
 * groups. What failed for the service's sake is tried once more at the end. Throws RunHalted when the account is refused, the
 * service is out of reach, the limit of searches is reached, or somebody asked to stop; all that was answered is saved by then.
 */
export async function screenTasks(context: SearchContext): Promise<void> {
  const { workplace, run, runId } = context.session;
  const { total, remaining } = await countSearchTasks(workplace.database, run.runId);
  workplace.tell({ kind: 'stage_started', runId, stage: 'screen' });
  const tally = { total, done: total - remaining, sent: 0 };
  await screenPass(context, tally, false);
  await screenPass(context, tally, true);
  workplace.tell({ kind: 'stage_finished', runId, stage: 'screen', counts: { searches: total } });
}

async function screenPass(context: SearchContext, tally: Tally, isFinal: boolean): Promise<void> {
  const { session, client, account } = context;
  const { workplace, runId } = session;
  const concurrency = workplace.settings.service.rate.concurrency;
  const stop = new AbortController();
  const calls = abortLater(session.signal, stopGraceMs);
  const isStopping = (): boolean => stop.signal.aborted || session.signal.aborted;
  const commit = openGroupCommit<FinishedSearch>(batch, (finished) => commitScreenings(session, account, finished));
  const tasks = noteTasks(context, tally, 2 * concurrency, isStopping);
  const outage = createOutageWatch(2 * concurrency);

  const search = async ({ task, attemptId }: NotedTask): Promise<void> => {
    const { observer, attempts } = recordAttempts();
    const request = { type: task.type, name: task.name };
    const outcome = isStopping() ? notSent : await screen(client.aml, request, { signal: calls.signal, observer });
    await commit.add({ task, attemptId, attempts, outcome, isFinal });
    const halt = outage.judge(outcome);
    if (halt) stop.abort(halt);
    if (outcome.kind === 'screened') tally.done += 1;
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

/** A signal that follows `signal` after `graceMs`. */
function abortLater(signal: AbortSignal, graceMs: number): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    timer = setTimeout(() => controller.abort(signal.reason), graceMs);
  };
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', start);
    },
  };
}

/** Counts searches in a row that found the service out of reach; says when to stop, and why. */
function createOutageWatch(limit: number): { judge(outcome: ScreeningOutcome): RunHalted | null } {
  let inARow = 0;
  return {
    judge: (outcome) => {
      if (outcome.kind === 'halted') {
        const { error } = outcome;
        return new RunHalted('account', `the service refused the account (${error.status}): ${error.message}`, error);
      }
      inARow = outcome.kind === 'failed' && outcome.isTransient ? inARow + 1 : 0;
      if (inARow < limit) return null;
      return new RunHalted('outage', `the service is out of reach: ${inARow} searches in a row had no answer`);
    },
  };
}
