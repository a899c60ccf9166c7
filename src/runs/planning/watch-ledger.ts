import { toBudgetLeft } from '../../screening/to-budget-left.js';
import { type LedgerPosition, readNotedSince, readUsageAndPosition } from '../../store/ledger.js';
import { RunHalted } from '../session/run-halted.js';
import type { RunSession } from '../session/run-session.js';

/** A cap with the number of calls at which a run has to stop. */
export interface BudgetLimit {
  per: 'run' | 'day' | 'month';
  cap: number;
  used: number;
  limit: number;
}

/** A run that spends within its limits. */
export interface WatchedSpending {
  /** Its signal ends with RunHalted `budget` as soon as the ledger holds more than a limit allows. */
  session: RunSession;
  limits: readonly BudgetLimit[];
  /** How many calls the limits allow now. */
  readonly affordable: number;
}

/**
 * Follows every write of a run with a look into the ledger, so that nothing is sent that the caps do not allow, repeats and other
 * processes counted: what is noted beyond a limit is not sent any more. Of the part that is kept for others, `reserved` calls may be made,
 * beside those that were made of it before.
 */
export async function watchLedger(session: RunSession, accountId: number, reserved: number): Promise<WatchedSpending> {
  const { run, workplace } = session;
  const { database, clock, settings } = workplace;
  const { timezone } = settings.run;
  const count = (after: LedgerPosition | null) =>
    readUsageAndPosition(database, accountId, clock.now(), timezone, run.runId, after);
  const begun = await count(null);
  const limits = toBudgetLeft(settings.budget, begun.used).caps.map(
    ({ per, cap, used, reserve }): BudgetLimit => ({
      per,
      cap,
      used,
      limit: Math.min(cap, Math.max(cap - reserve, used) + reserved),
    }),
  );
  const stop = new AbortController();
  let { position } = begun;
  let looking: Promise<void> = Promise.resolve();
  const isPassed = ({ used, limit }: BudgetLimit): boolean => used > limit;

  const look = async (): Promise<void> => {
    if (stop.signal.aborted) return;
    const noted = await readNotedSince(database, accountId, run.runId, position);
    position = noted.position;
    for (const limit of limits) limit.used += limit.per === 'run' ? noted.run : noted.account;
    if (!limits.some(isPassed)) return;
    // What was noted may not have been sent after all, and a new day or month may have begun.
    const anew = await count(position);
    position = anew.position;
    for (const limit of limits) limit.used = anew.used[limit.per];
    const passed = limits.find(isPassed);
    if (passed !== undefined) stop.abort(toBudgetHalt(passed));
  };
  // One look at a time, and none that began before the write it follows.
  const follow = async <T>(written: T): Promise<T> => {
    looking = looking.then(look);
    await looking;
    return written;
  };
  return {
    limits,
    get affordable() {
      return Math.min(...limits.map(({ limit, used }) => limit - used));
    },
    session: {
      ...session,
      signal: AbortSignal.any([session.signal, stop.signal]),
      write: async (writing) => follow(await session.write(writing)),
    },
  };
}

/** The limit that leaves the least; null without any. */
export const findTightest = ([first, ...others]: readonly BudgetLimit[]): BudgetLimit | null =>
  others.reduce<BudgetLimit | null>(
    (least, limit) => (least && limit.limit - limit.used < least.limit - least.used ? limit : least),
    first ?? null,
  );

/** The halt of a run that has used up what a cap leaves to it. */
export function toBudgetHalt(passed: BudgetLimit | null): RunHalted {
  if (passed === null) return new RunHalted('budget', 'the budget is used up');
  const { per, cap, limit } = passed;
  const kept = cap - limit;
  const words = kept > 0 ? `, ${kept} of them kept for new customers, single checks and control searches` : '';
  return new RunHalted('budget', `the budget of ${cap} searches for this ${per} is used up${words}`);
}
