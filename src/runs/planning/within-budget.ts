import { type LedgerPosition, readBudgetUsage, readLedgerEnd, readNotedSince } from '../../store/budget-usage.js';
import { countRemainingSearches } from '../../store/work-list.js';
import { RunHalted } from '../session/run-halted.js';
import type { RunSession } from '../session/run-session.js';
import { expectControlSearches } from './plan-input.js';
import { hasCaps, readBudget } from './read-budget.js';

/** A cap with the number of calls at which this run has to stop. */
interface Limit {
  per: 'run' | 'day' | 'month';
  cap: number;
  used: number;
  limit: number;
}

/**
 * Does the paid part of a run within the budget: what is kept for others is left alone, except for the new customers of the plan and the
 * control searches. Every write is followed by a look into the ledger, so that nothing is sent that the caps do not allow, repeats and
 * other processes counted. Throws RunHalted when the budget is used up while searches remain.
 */
export async function withinBudget(
  session: RunSession,
  accountId: number,
  maxSearches: number | undefined,
  work: (session: RunSession, maxSearches: number | undefined) => Promise<void>,
): Promise<void> {
  const { workplace, run } = session;
  if (!hasCaps(workplace.settings)) return work(session, maxSearches);
  const remaining = await countRemainingSearches(workplace.database, run.runId);
  const controlSearches = expectControlSearches(workplace.settings, remaining.searches);
  const limits = await readLimits(session, accountId, remaining.ofNew + controlSearches);
  const affordable = Math.min(...limits.map(({ limit, used }) => limit - used)) - controlSearches;
  if (affordable <= 0 && remaining.searches > 0) throw toBudgetHalt(tightest(limits));
  // Control searches that nobody is searched for after are not worth the rest of a budget.
  if (affordable < 0) return;
  const isShort = affordable < Math.min(remaining.searches, maxSearches ?? Number.POSITIVE_INFINITY);
  const stop = new AbortController();
  const check = watchLedger(session, accountId, limits, await readLedgerEnd(workplace.database), (limit) =>
    stop.abort(toBudgetHalt(limit)),
  );
  const watched: RunSession = {
    ...session,
    signal: AbortSignal.any([session.signal, stop.signal]),
    write: async (writing) => {
      const written = await session.write(writing);
      await check();
      return written;
    },
  };
  try {
    await work(watched, isShort ? affordable : maxSearches);
  } catch (error) {
    const isOurs = isShort && error instanceof RunHalted && error.code === 'max_searches';
    throw isOurs ? toBudgetHalt(tightest(limits)) : error;
  }
}

async function readLimits(session: RunSession, accountId: number, reserved: number): Promise<readonly Limit[]> {
  const { database, clock, settings } = session.workplace;
  const { caps } = await readBudget(database, accountId, clock.now(), settings, session.run.runId);
  return caps.map(({ per, cap, used, reserve }) => ({
    per,
    cap,
    used,
    limit: cap - reserve + Math.min(reserve, reserved),
  }));
}

/** Gives a look into the ledger that stops the run when a limit is passed; one look at a time, each for all who wait. */
function watchLedger(
  session: RunSession,
  accountId: number,
  limits: readonly Limit[],
  end: LedgerPosition,
  stop: (limit: Limit) => void,
): () => Promise<void> {
  const { run, workplace } = session;
  const { database, clock, settings } = workplace;
  let position = end;
  let isStopped = false;
  let looking: Promise<void> = Promise.resolve();
  const isPassed = ({ used, limit }: Limit): boolean => used > limit;

  /** What was noted may not have been sent after all, and a new day or month may have begun. */
  const countAnew = async (): Promise<void> => {
    position = await readLedgerEnd(database);
    const used = await readBudgetUsage(database, accountId, clock.now(), settings.run.timezone, run.runId);
    for (const limit of limits) limit.used = used[limit.per];
  };
  const look = async (): Promise<void> => {
    if (isStopped) return;
    const noted = await readNotedSince(database, accountId, run.runId, position);
    position = noted;
    for (const limit of limits) limit.used += limit.per === 'run' ? noted.run : noted.account;
    if (!limits.some(isPassed)) return;
    await countAnew();
    const passed = limits.find(isPassed);
    if (passed === undefined) return;
    isStopped = true;
    stop(passed);
  };
  return () => {
    looking = looking.then(look);
    return looking;
  };
}

const tightest = (limits: readonly Limit[]): Limit =>
  limits.reduce((least, limit) => (limit.limit - limit.used < least.limit - least.used ? limit : least));

function toBudgetHalt({ per, cap, limit }: Limit): RunHalted {
  const kept = cap - limit;
  const words = kept > 0 ? `, ${kept} of them kept for new customers, single checks and control searches` : '';
  return new RunHalted('max_searches', `the budget of ${cap} searches for this ${per} is used up${words}`);
}
