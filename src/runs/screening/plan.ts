import { toDurationMs } from '../../roster/duration.js';
import { toBudgetLeft, toPlanAllowance } from '../../screening/budget.js';
import { listTierDueTimes, toCadence } from '../../screening/cadence.js';
import { dirtySettingsSchema } from '../../screening/settings.js';
import { hasUncontrolledSearches } from '../../store/canaries.js';
import type { Queryable } from '../../store/database/database.js';
import { forceMarkedCustomers, listMarkedCustomers } from '../../store/event-marks.js';
import { readBudgetUsage, readNotedSince, readUsageAndPosition } from '../../store/ledger.js';
import { type PlanCounts, type PlanInput, storePlan } from '../../store/plan.js';
import { findLeftRuns } from '../../store/runs.js';
import { countSearchTasks } from '../../store/screenings.js';
import type { PlanSelection } from '../../vocabulary.js';
import type { AppContext, RunSettings } from '../app-context.js';
import { RunHalted } from '../halt.js';
import type { RunSession } from '../session.js';
import { recordStates } from '../status.js';

/** Whether the settings cap anything. */
export const hasCaps = ({ budget }: Pick<RunSettings, 'budget'>): boolean =>
  (budget.maxSearchesPerRun ?? budget.maxSearchesPerDay ?? budget.maxSearchesPerMonth) !== undefined;

/**
 * What may still be spent on the account, counted from the ledger over all rosters and runs; the cap per run counts the calls of `runId`,
 * or is whole without one. Without any cap nothing is counted.
 */
export async function readBudget(
  database: Queryable,
  accountId: number | null,
  now: Date,
  settings: Pick<RunSettings, 'budget' | 'run'>,
  runId: number | null = null,
) {
  const isCounted = accountId !== null && hasCaps(settings);
  const used = isCounted
    ? await readBudgetUsage(database, accountId, now, settings.run.timezone, runId)
    : { run: 0, day: 0, month: 0 };
  return toBudgetLeft(settings.budget, used);
}

/** What a run may spend. */
export interface Allowance {
  /** Ends with RunHalted `budget` when the budget is used up. */
  session: RunSession;
  /** Searches after which the run stops, resumable. */
  maxSearches: number | undefined;
  /** The halt of a run that has made as many: the budget's, where that is what allows no more. */
  toLimitHalt(halted: RunHalted): RunHalted;
  /** How many more searches the caps allow at this moment, with the control searches at the end left out. */
  readAffordable(): number;
  /** A session for the control searches after that, out of what is kept; null when less is left than a round of them takes. */
  openReserve(): Promise<RunSession | null>;
}

/**
 * What the budget leaves to the paid part of a run: what is kept for others is left alone, except for the new customers of the plan and the
 * control searches. Every write is followed by a look into the ledger, so that nothing is sent that the caps do not allow, repeats and
 * other processes counted. Null where nothing remains to be paid for; throws RunHalted `budget` when it is used up while searches remain.
 */
export async function openAllowance(
  session: RunSession,
  accountId: number,
  maxSearches: number | undefined,
): Promise<Allowance | null> {
  const { app, run } = session;
  const { database, settings } = app;
  if (!hasCaps(settings)) {
    const readAffordable = (): number => Number.POSITIVE_INFINITY;
    return { session, maxSearches, toLimitHalt: (halted) => halted, readAffordable, openReserve: async () => session };
  }
  const { remaining, remainingOfNew } = await countSearchTasks(database, run.runId);
  const controlSearches = expectControlSearches(settings, remaining);
  const watched = await watchLedger(session, accountId, remainingOfNew + controlSearches);
  const affordable = watched.affordable - controlSearches;
  const toHalt = (): RunHalted => toBudgetHalt(findTightest(watched.limits));
  if (affordable <= 0 && remaining > 0) throw toHalt();
  if (affordable < 0) {
    // Control searches that nobody is searched for after are not worth the rest of a budget; those that searches wait for are.
    if (settings.canaries.length > 0 && (await hasUncontrolledSearches(database, run.runId))) throw toHalt();
    return null;
  }
  const isShort = affordable < Math.min(remaining, maxSearches ?? Number.POSITIVE_INFINITY);
  return {
    session: watched.session,
    maxSearches: isShort ? affordable : maxSearches,
    toLimitHalt: (halted) => (isShort && halted.code === 'max_searches' ? toHalt() : halted),
    readAffordable: () => Math.max(0, watched.affordable - settings.canaries.length),
    openReserve: async () => {
      const kept = await watchLedger(session, accountId, Number.POSITIVE_INFINITY);
      return kept.affordable < settings.canaries.length ? null : kept.session;
    },
  };
}

/** A cap with the number of calls at which a run has to stop. */
interface BudgetLimit {
  per: 'run' | 'day' | 'month';
  cap: number;
  used: number;
  limit: number;
}

/**
 * Follows every write of a run with a look into the ledger, so that nothing is sent that the caps do not allow, repeats and other
 * processes counted: what is noted beyond a limit is not sent any more. Of the part that is kept for others, `reserved` calls may be made,
 * beside those that were made of it before. The signal of the session that it gives ends with RunHalted `budget` as soon as the ledger holds more than a limit
 * allows; `affordable` is how many calls the limits allow now.
 */
export async function watchLedger(session: RunSession, accountId: number, reserved: number) {
  const { run, app } = session;
  const { database, clock, settings } = app;
  const { timezone } = settings.run;
  const count = (after: number | null) =>
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
    const anew = await count(position.stableId);
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
    } satisfies RunSession,
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

/** How many control searches a run of so many searches makes when nothing comes between: at its start, after every `every` and at its end. */
export function countCanarySearches(searches: number, canaries: number, every: number): number {
  const amid = Math.max(0, Math.ceil(searches / every) - 1);
  return canaries * (1 + amid + (searches > 0 ? 1 : 0));
}

/** Stage: stores who is due and why, before the first paid call; in place of a plan of which nothing has been done. */
export async function planScreenings(session: RunSession, request: PlanRequest): Promise<PlanCounts> {
  const { app, run, runId } = session;
  app.emit({ kind: 'stage_started', runId, stage: 'plan' });
  const counts = await session.write(async (transaction) => {
    const { input } = await toPlanInput(app, transaction, request, run.runId);
    const stored = await storePlan(transaction, run.runId, input, toCadence(app.settings.screening));
    await recordStates(transaction, session, 'planned');
    return stored;
  });
  const { inScope, planned, searches, reasons } = counts;
  app.emit({ kind: 'stage_finished', runId, stage: 'plan', counts: { inScope, planned, searches, ...reasons } });
  return counts;
}

/** What a plan is made for. */
interface PlanRequest {
  rosterId: number;
  /** Null: the account is not known yet, so nothing counts as screened or used. */
  accountId: number | null;
  selection: PlanSelection;
}

/** How many control searches come with so many searches under the settings. */
export const expectControlSearches = ({ canaries, screening }: RunSettings, searches: number): number =>
  canaries.length === 0 ? 0 : countCanarySearches(searches, canaries.length, screening.canariesEvery);

/** Who is asked about at this moment under the settings, within what is left of the budget; `runId` is the run whose plan it is. */
export async function toPlanInput(
  app: Pick<AppContext, 'clock' | 'settings' | 'settingsDigest' | 'nextRescreening'>,
  database: Queryable,
  request: PlanRequest,
  runId: number | null,
) {
  const { clock, settings } = app;
  const { screening } = settings;
  const now = clock.now();
  const { reuse, tiers } = toReuseScope(app, now);
  const budget = await readBudget(database, request.accountId, now, settings, runId);
  const input: PlanInput = {
    ...request,
    runId,
    tiers,
    leaveAfterDays: screening.leaveAfterDays,
    leftRuns: request.selection === 'dirty' ? [] : await findLeftRuns(database, request, runId),
    // Whoever asks about everybody wants to hear it from the service.
    reuse: request.selection === 'all' ? null : reuse,
    allowance: toPlanAllowance(budget, expectControlSearches(settings, budget.leftForAll)),
  };
  return { input, budget };
}

/** Which answers may be used again at this moment (null for none), and when each tier is due, with the next run where it is on a schedule. */
export function toReuseScope(
  { settings, settingsDigest, nextRescreening }: Pick<AppContext, 'settings' | 'settingsDigest' | 'nextRescreening'>,
  now: Date,
) {
  const { screening } = settings;
  const maxAgeMs = screening.reuseMaxAge === 0 ? 0 : toDurationMs(screening.reuseMaxAge);
  const reuse = maxAgeMs === 0 ? null : { answeredAfter: new Date(now.getTime() - maxAgeMs), settingsDigest };
  return { reuse, tiers: listTierDueTimes(toCadence(screening), now, nextRescreening?.() ?? null) };
}

/** Which marked customers of a roster may be searched for at this moment, by the settings. */
export function toMarkedScope({ clock, settings }: AppContext, rosterId: number, accountId: number) {
  const { searchesPerRun, searchesPerDay, againAfter } = settings.screening.dirty ?? dirtySettingsSchema.parse({});
  return {
    ...{ rosterId, accountId, now: clock.now(), timezone: settings.run.timezone },
    againAfterMs: toDurationMs(againAfter),
    mostPerRun: searchesPerRun,
    mostPerDay: searchesPerDay,
    controlSearches: expectControlSearches(settings, 1),
  };
}

/** Stage: takes the marked customers of a roster into this run, which is planned for nobody else. */
export async function forceMarked(
  { app, run, write }: RunSession,
  { rosterId, accountId }: { rosterId: number; accountId: number | null },
): Promise<void> {
  if (accountId === null) return;
  const scope = toMarkedScope(app, rosterId, accountId);
  await write(async (transaction) => {
    const customerIds = await listMarkedCustomers(transaction, scope);
    await forceMarkedCustomers(transaction, { runId: run.runId, accountId }, customerIds, scope.now);
  });
}
