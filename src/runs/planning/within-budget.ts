import { hasUncontrolledSearches } from '../../store/canaries.js';
import { countRemainingSearches } from '../../store/screenings.js';
import { RunHalted } from '../session/run-halted.js';
import type { RunSession } from '../session/run-session.js';
import { expectControlSearches } from './plan-input.js';
import { hasCaps } from './read-budget.js';
import { findTightest, toBudgetHalt, watchLedger } from './watch-ledger.js';

/** What a run may spend. */
export interface Allowance {
  /** Ends with RunHalted `budget` when the budget is used up. */
  session: RunSession;
  /** Searches after which the run stops, resumable. */
  maxSearches: number | undefined;
  /** How many more searches the caps allow at this moment, with the control searches at the end left out. */
  readAffordable(): number;
  /** A session for the control searches after that, out of what is kept; null when less is left than a round of them takes. */
  openReserve(): Promise<RunSession | null>;
}

/**
 * Does the paid part of a run within the budget: what is kept for others is left alone, except for the new customers of the plan and the
 * control searches. Every write is followed by a look into the ledger, so that nothing is sent that the caps do not allow, repeats and
 * other processes counted. Throws RunHalted `budget` when the budget is used up while searches remain.
 */
export async function withinBudget(
  session: RunSession,
  accountId: number,
  maxSearches: number | undefined,
  work: (allowance: Allowance) => Promise<void>,
): Promise<void> {
  const { workplace, run } = session;
  const { database, settings } = workplace;
  if (!hasCaps(settings)) {
    const readAffordable = (): number => Number.POSITIVE_INFINITY;
    return work({ session, maxSearches, readAffordable, openReserve: async () => session });
  }
  const remaining = await countRemainingSearches(database, run.runId);
  const controlSearches = expectControlSearches(settings, remaining.searches);
  const watched = await watchLedger(session, accountId, remaining.ofNew + controlSearches);
  const affordable = watched.affordable - controlSearches;
  const halt = (): RunHalted => toBudgetHalt(findTightest(watched.limits));
  if (affordable <= 0 && remaining.searches > 0) throw halt();
  if (affordable < 0) {
    // Control searches that nobody is searched for after are not worth the rest of a budget; those that searches wait for are.
    if (settings.canaries.length > 0 && (await hasUncontrolledSearches(database, run.runId))) throw halt();
    return;
  }
  const isShort = affordable < Math.min(remaining.searches, maxSearches ?? Number.POSITIVE_INFINITY);
  const openReserve = async (): Promise<RunSession | null> => {
    const kept = await watchLedger(session, accountId, Number.POSITIVE_INFINITY);
    return kept.affordable < settings.canaries.length ? null : kept.session;
  };
  const readAffordable = (): number => Math.max(0, watched.affordable - settings.canaries.length);
  try {
    const allowed = isShort ? affordable : maxSearches;
    await work({ session: watched.session, maxSearches: allowed, readAffordable, openReserve });
  } catch (error) {
    const isOurs = isShort && error instanceof RunHalted && error.code === 'max_searches';
    throw isOurs ? halt() : error;
  }
}
