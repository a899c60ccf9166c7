import type { Client } from '../../client/create-client.js';
import type { Account } from '../../store/organisations.js';
import { noteInFlight } from '../../store/search-attempts.js';
import { countSearchTasks, readSearchTasks } from '../../store/work-list.js';
import { createNoteRepeat } from '../ledger/note-repeats.js';
import type { OutageWatch } from '../outages/outage-watch.js';
import { toAccountHalt } from '../session/run-halted.js';
import type { RunSession } from '../session/run-session.js';
import { commitScreenings, type FinishedSearch } from './commit-screenings.js';
import { openGroupCommit } from './group-commit.js';
import { SearchTally } from './search-tally.js';
import { type NotedTask, type SearchContext, searchTask } from './search-task.js';
import { settleTasks } from './settle-tasks.js';
import { openStopSignals } from './stop-signals.js';

/** Answers not saved yet are asked for again after a crash, so they are few and not for long. */
const batch = { maxItems: 32, maxDelayMs: 100 };

/** What the searches of a run need. */
export interface SearchPart {
  session: RunSession;
  client: Client;
  account: Account;
  /** Searches after which the run stops, resumable. */
  maxSearches: number | undefined;
  outage: OutageWatch;
}

/**
 * Stage: makes every search that remains of the plan, each attempt noted as in flight before it is sent, and commits what came of them in
 * groups. What failed for the service's sake is tried again at the end, and fails only if the service is then shown to work. An outage
 * is waited out for as long as the run's deadline allows. Throws RunHalted when the account is refused, the service is out of reach for
 * longer, the limit of searches is reached, or somebody asked to stop; all that was answered is saved by then.
 */
export async function screenTasks({ maxSearches, ...part }: SearchPart): Promise<void> {
  const { session, outage } = part;
  const { workplace, run, runId } = session;
  const { total, remaining } = await countSearchTasks(workplace.database, run.runId);
  workplace.tell({ kind: 'stage_started', runId, stage: 'screen' });
  const tally = new SearchTally({ total, done: total - remaining }, maxSearches);
  const signals = openStopSignals(session.signal, outage.signal);
  try {
    await screenAll({ ...part, tally, signals, noteRepeat: createNoteRepeat(session) });
  } finally {
    signals.clear();
  }
  workplace.tell({ kind: 'stage_finished', runId, stage: 'screen', counts: { searches: total } });
}

/** Walks through what remains, again while that leaves much less of it, and settles the rest one by one. */
async function screenAll(context: SearchContext): Promise<void> {
  const few = 2 * context.session.workplace.settings.service.rate.concurrency;
  let before = Number.POSITIVE_INFINITY;
  for (;;) {
    const unanswered = await screenPass(context);
    if (unanswered === 0) return;
    // Few that fail one after the other would look like an outage.
    if (unanswered <= few || unanswered > before / 2) return settleTasks(context);
    before = unanswered;
  }
}

/** One walk through what remains; gives how many searches found the service out of reach. */
async function screenPass(context: SearchContext): Promise<number> {
  const { session, account, tally, signals } = context;
  const { concurrency } = session.workplace.settings.service.rate;
  const commit = openGroupCommit<FinishedSearch>(batch, (finished) => commitScreenings(session, account, finished));
  const tasks = noteTasks(context, 2 * concurrency);
  let unanswered = 0;

  const work = async (): Promise<void> => {
    for (let next = await tasks.next(); !next.done; next = await tasks.next()) {
      const finished = await searchTask(context, next.value);
      const { outcome } = finished;
      // Before it is saved: nothing more may be spent meanwhile.
      if (outcome.kind === 'halted') signals.stop(toAccountHalt(outcome.error));
      if (outcome.kind === 'failed' && outcome.isTransient) unanswered += 1;
      await commit.add(finished);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, () => work().catch((error: unknown) => signals.stop(error))));
  await commit.close();
  signals.throwIfStopped();
  if (tally.isLimitReached) throw tally.toHalt();
  return unanswered;
}

/**
 * The tasks that remain, chunk by chunk, each chunk noted in the ledger before its first task is handed out. When the run is
 * stopping, the rest of the chunk is still handed out, so that the ledger learns that it was not sent, and then nothing more.
 */
async function* noteTasks(
  { session, tally, signals }: SearchContext,
  chunkSize: number,
): AsyncGenerator<NotedTask, void> {
  const { workplace, run } = session;
  for await (const chunk of readSearchTasks(workplace.database, run.runId, chunkSize)) {
    if (signals.waitSignal.aborted) return;
    const affordable = chunk.slice(0, tally.affordable);
    const requestIds = affordable.map((task) => task.requestId);
    const noted = await session.write((transaction) =>
      noteInFlight(transaction, run.runId, requestIds, workplace.clock.now()),
    );
    for (const task of affordable) {
      tally.handOut();
      yield { task, attemptId: noted.get(task.requestId) ?? 0 };
    }
    if (affordable.length < chunk.length) return tally.reachLimit();
  }
}
