import type { Client } from '../../client/create-client.js';
import { countSearchTasks } from '../../store/work-list.js';
import { openCanaryRounds } from '../canaries/canary-rounds.js';
import { createNoteRepeat } from '../ledger/note-repeats.js';
import type { OutageWatch } from '../outages/outage-watch.js';
import { RunHalted, toAccountHalt } from '../session/run-halted.js';
import type { RunSession } from '../session/run-session.js';
import type { WatchedAccount } from '../watching/watched-account.js';
import { batchLimits } from './batch-limits.js';
import { commitScreenings, type FinishedSearch } from './commit-screenings.js';
import { openGroupCommit } from './group-commit.js';
import { noteTasks } from './note-tasks.js';
import { SearchTally } from './search-tally.js';
import { type SearchContext, searchTask } from './search-task.js';
import { settleTasks } from './settle-tasks.js';
import { openStopSignals } from './stop-signals.js';
import { UnderWay } from './under-way.js';

/** What the searches of a run need. */
export interface SearchPart {
  session: RunSession;
  client: Client;
  account: WatchedAccount;
  /** Searches after which the run stops, resumable. */
  maxSearches: number | undefined;
  outage: OutageWatch;
}

/**
 * Stage: makes every search that remains of the plan, each attempt noted as in flight before it is sent, and commits what came of them in
 * groups. The canaries are asked again after every so many searches and at the end, and once one has failed nothing more is asked. What
 * failed for the service's sake is tried again at the end, and fails only if the service is then shown to work. An outage is waited out
 * for as long as the run's deadline allows. Throws RunHalted when the account is refused, the service is out of reach for longer, the
 * limit of searches is reached, or somebody asked to stop; all that was answered is saved by then.
 */
export async function screenTasks({ maxSearches, ...part }: SearchPart): Promise<void> {
  const { session, client, outage } = part;
  const { workplace, run, runId } = session;
  const { total, remaining } = await countSearchTasks(workplace.database, run.runId);
  workplace.tell({ kind: 'stage_started', runId, stage: 'screen' });
  const tally = new SearchTally({ total, done: total - remaining }, maxSearches);
  const signals = openStopSignals(session.signal, outage.signal);
  const patience = { clock: workplace.clock, outage, signal: session.signal };
  const canaries = openCanaryRounds(session, client, patience, tally);
  try {
    await screenAll({ ...part, tally, signals, canaries, noteRepeat: createNoteRepeat(session) }).catch(
      async (error: unknown) => {
        // The service can still be asked, and nobody knows when the run is resumed.
        if (error instanceof RunHalted && error.code === 'max_searches') await canaries.askAtEnd();
        throw error;
      },
    );
    await canaries.askAtEnd();
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
  const commit = openGroupCommit<FinishedSearch>(batchLimits, (finished) =>
    commitScreenings(session, account, finished),
  );
  const underWay = new UnderWay();
  const settled = async (): Promise<void> => {
    await underWay.ended();
    await commit.close();
  };
  const tasks = noteTasks(context, concurrency, underWay, settled);
  let unanswered = 0;

  const work = async (): Promise<void> => {
    for (let next = await tasks.next(); !next.done; next = await tasks.next()) {
      try {
        const finished = await searchTask(context, next.value);
        const { outcome } = finished;
        // Before it is saved: nothing more may be spent meanwhile.
        if (outcome.kind === 'halted') signals.stop(toAccountHalt(outcome.error));
        if (outcome.kind === 'failed' && outcome.isTransient) unanswered += 1;
        await commit.add(finished);
      } finally {
        underWay.end();
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, () => work().catch((error: unknown) => signals.stop(error))));
  await commit.close();
  signals.throwIfStopped();
  if (tally.isLimitReached) throw tally.toHalt();
  return unanswered;
}
