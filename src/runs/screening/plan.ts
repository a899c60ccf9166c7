import { countNoun, describeSpan } from '../../reports/text.js';
import { toDurationMs } from '../../roster/duration.js';
import { toBudgetLeft, toPlanAllowance } from '../../screening/budget.js';
import { listTierDueTimes, toCadence } from '../../screening/cadence.js';
import { judgeExpired } from '../../store/customers/states.js';
import { type Queryable, takeWorkMemory } from '../../store/database/database.js';
import { countUnproven } from '../../store/night/apply-answers.js';
import { readBudgetUsage, readNotedSince, readUsageAndPosition } from '../../store/night/ledger.js';
import { type PlanCounts, type PlanInput, storePlan } from '../../store/night/plan.js';
import { countSearchTasks } from '../../store/night/screenings.js';
import { findLeftRuns, refreshRunStatistics } from '../../store/runs.js';
import type { PlanSelection } from '../../vocabulary.js';
import type { AppContext, RunSettings } from '../app-context.js';
import { RunHalted } from '../halt.js';
import type { RunSession } from '../session.js';
import { noteWebhooks } from '../status.js';

/** Whether the settings limit the number of searches. */
export const hasCaps = ({ budget }: Pick<RunSettings, 'budget'>): boolean =>
  (budget.maxSearchesPerRun ?? budget.maxSearchesPerDay ?? budget.maxSearchesPerMonth) !== undefined;

/**
 * The remaining budget of the account, counted from the ledger over all rosters and runs. The cap per run counts the
 * calls of `runId`, and is unused without one. Without caps nothing is read.
 */
export async function readBudget(
  database: Queryable,
  accountId: number | null,
  now: Date,
  settings: Pick<RunSettings, 'budget' | 'timezone'>,
  runId: number | null = null,
) {
  const isCounted = accountId !== null && hasCaps(settings);
  const used = isCounted
    ? await readBudgetUsage(database, accountId, now, settings.timezone, runId)
    : { run: 0, day: 0, month: 0 };
  return toBudgetLeft(settings.budget, used);
}

/** The searches that a run may make. */
export interface Allowance {
  /** Aborted with RunHalted `budget` when the budget is used up. */
  session: RunSession;
  /** The run stops, resumable, after this number of searches. */
  maxSearches: number | undefined;
  /** Replaces the halt `max_searches` by the budget's halt when the budget set the limit. */
  toLimitHalt(halted: RunHalted): RunHalted;
  /**
   * A session for the control searches at the end, paid from the reserve; null when the reserve is too small for a
   * round.
   */
  openReserve(): Promise<RunSession | null>;
}

/**
 * The budget of the paid part of a run. The reserve for others is not used, except for new customers of the plan and
 * control searches. Each write is followed by a check of the ledger, repeats and other processes included. Null when
 * nothing remains to be paid for. Throws RunHalted `budget` when it is used up while searches remain.
 */
export async function openAllowance(
  session: RunSession,
  accountId: number,
  maxSearches: number | undefined,
): Promise<Allowance | null> {
  const { app, run } = session;
  const { database, settings } = app;
  if (!hasCaps(settings)) {
    return { session, maxSearches, toLimitHalt: (halted) => halted, openReserve: async () => session };
  }
  const { remaining, remainingOfNew } = await countSearchTasks(database, run.runId);
  const controlSearches = expectControlSearches(settings, remaining);
  const watched = await watchLedger(session, accountId, remainingOfNew + controlSearches);
  const affordable = watched.affordable - controlSearches;
  const { toHalt } = watched;
  if (affordable <= 0 && remaining > 0) throw toHalt();
  if (affordable < 0) {
    // Control searches without a later search are not worth the rest of a budget, unless answers wait for them.
    if (settings.controls.length > 0 && (await countUnproven(database, run.runId)).searched > 0) throw toHalt();
    return null;
  }
  const isShort = affordable < Math.min(remaining, maxSearches ?? Number.POSITIVE_INFINITY);
  return {
    session: watched.session,
    maxSearches: isShort ? affordable : maxSearches,
    toLimitHalt: (halted) => (isShort && halted.code === 'max_searches' ? toHalt() : halted),
    openReserve: async () => {
      const kept = await watchLedger(session, accountId, Number.POSITIVE_INFINITY);
      return kept.affordable < settings.controls.length ? null : kept.session;
    },
  };
}

/** The budget of the processes of a run, as this one sees it. */
export interface LedgerWatch {
  readonly affordable: number;
  toHalt(): RunHalted;
  /** A session whose writes are followed by a check. */
  guard(session: RunSession): RunSession;
}

type BudgetLimit = ReturnType<typeof toBudgetLeft>['caps'][number] & { limit: number };

/** As `openLedgerWatch`, with a guarded session. */
export async function watchLedger(session: RunSession, accountId: number, reserved: number) {
  const watch = await openLedgerWatch(session, accountId, reserved);
  return {
    get affordable() {
      return watch.affordable;
    },
    toHalt: watch.toHalt,
    session: watch.guard(session),
  };
}

/**
 * Checks the ledger after each write, repeats and other processes included, so that no call exceeds the caps.
 * `reserved` calls of the reserve may be used, in addition to those already used. The signal of a session that `guard` has returned aborts with
 * RunHalted `budget` when the ledger exceeds a limit; `affordable` is the number of calls allowed now, and `toHalt` gives the halt of a run
 * that needs more. Without caps nothing is read.
 */
export async function openLedgerWatch(
  { run, app }: Pick<RunSession, 'run' | 'app'>,
  accountId: number,
  reserved: number,
): Promise<LedgerWatch> {
  const { database, clock, settings } = app;
  const { timezone } = settings;
  if (!hasCaps(settings)) {
    return {
      affordable: Number.POSITIVE_INFINITY,
      toHalt: () => toBudgetHalt(null),
      guard: (session) => session,
    };
  }
  const count = () => readUsageAndPosition(database, accountId, clock.now(), timezone, run.runId);
  const begun = await count();
  const limits = toBudgetLeft(settings.budget, begun.used).caps.map(
    (one): BudgetLimit => ({
      ...one,
      limit: Math.min(one.cap, Math.max(one.cap - one.reserve, one.used) + reserved),
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
    // Noted attempts may not have been sent, and a new day or month may have begun.
    const anew = await count();
    position = anew.position;
    for (const limit of limits) limit.used = anew.used[limit.per];
    const passed = limits.find(isPassed);
    if (passed !== undefined) stop.abort(toBudgetHalt(passed));
  };
  // One check at a time, and each starts after the write that it follows.
  const follow = async <T>(written: T): Promise<T> => {
    looking = looking.catch(() => undefined).then(look);
    await looking;
    return written;
  };
  return {
    get affordable() {
      return Math.min(...limits.map(({ limit, used }) => limit - used));
    },
    toHalt: () => toBudgetHalt(findTightest(limits)),
    guard: (session) => ({
      ...session,
      signal: AbortSignal.any([session.signal, stop.signal]),
      write: async (writing) => follow(await session.write(writing)),
    }),
  };
}

/** The limit with the fewest calls left; null without any. */
const findTightest = ([first, ...others]: readonly BudgetLimit[]): BudgetLimit | null =>
  others.reduce<BudgetLimit | null>(
    (least, limit) => (least && limit.limit - limit.used < least.limit - least.used ? limit : least),
    first ?? null,
  );

/** The halt of a run that has reached a cap. */
function toBudgetHalt(passed: BudgetLimit | null): RunHalted {
  if (passed === null) return new RunHalted('budget', 'the budget is used up');
  const { per, cap, limit } = passed;
  const kept = cap - limit;
  const words = kept > 0 ? `, ${kept} of them kept for new customers, single checks and control searches` : '';
  return new RunHalted('budget', `the budget of ${cap} searches for this ${per} is used up${words}`);
}

/** The number of control searches of an uninterrupted run: at its start, after each `every` searches and at its end. */
export function countControlSearches(searches: number, controls: number, every: number): number {
  const amid = Math.max(0, Math.ceil(searches / every) - 1);
  return controls * (1 + amid + (searches > 0 ? 1 : 0));
}

/** Stage: stores the plan before the first paid call. It replaces a plan of which nothing has been done. */
export async function planScreenings(session: RunSession, request: PlanRequest): Promise<PlanCounts> {
  const { app, run, runId } = session;
  app.emit({ kind: 'stage_started', runId, stage: 'plan' });
  await noteWebhooks(session);
  const counts = await session.write(async (transaction) => {
    await takeWorkMemory(app.database, transaction, '64MB');
    const { input } = await toPlanInput(app, transaction, request, run.runId);
    const stored = await storePlan(transaction, run.runId, input, toCadence(app.settings.screening));
    const { rosterId, accountId } = request;
    if (accountId !== null) await judgeExpired(transaction, { rosterId, accountId }, app.clock.now());
    return stored;
  });
  await refreshRunStatistics(app.database, run.runId);
  const { inScope, planned, searches, reasons } = counts;
  app.emit({ kind: 'stage_finished', runId, stage: 'plan', counts: { inScope, planned, searches, ...reasons } });
  warnOfLongNight(session, searches);
  return counts;
}

/** As `planScreenings` does, for what a resumed run still has to search. */
export async function warnOfLongRest(session: RunSession): Promise<void> {
  const { app, run } = session;
  await refreshRunStatistics(app.database, run.runId);
  const { remaining } = await countSearchTasks(app.database, run.runId);
  warnOfLongNight(session, remaining);
}

/** Says before the first call that these searches take longer than the shortest screening frequency with its grace. */
function warnOfLongNight({ app, runId }: RunSession, searches: number): void {
  const { perSecond } = app.settings.service.rate;
  const { tiers } = toReuseScope(app, app.clock.now());
  const validMs = tiers.map(({ assessedAt, staleBefore }) => assessedAt.getTime() - staleBefore.getTime());
  const seconds = Math.round(searches / perSecond);
  if (seconds * 1_000 <= Math.min(...validMs)) return;
  const cadenceSeconds = Math.min(...tiers.map(({ cadenceMs }) => cadenceMs)) / 1_000;
  const message = `${countNoun(searches, 'search', 'searches')} at ${perSecond} calls/s take at least ${describeSpan(seconds)}, longer than the screening frequency of ${describeSpan(cadenceSeconds)}: screenings may expire before the run ends`;
  app.emit({ kind: 'warning', runId, code: 'long_night', message });
}

interface PlanRequest {
  rosterId: number;
  /** Null while the account is unknown: then no customer counts as screened and no search as used. */
  accountId: number | null;
  selection: PlanSelection;
}

/** The number of control searches that accompany so many searches. */
export const expectControlSearches = ({ controls, screening }: RunSettings, searches: number): number =>
  controls.length === 0 ? 0 : countControlSearches(searches, controls.length, screening.controlsEvery);

/** The input of a plan now, within the remaining budget; `runId` is the run of the plan. */
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
    // The selection `all` is for fresh answers from the service.
    reuse: request.selection === 'all' ? null : reuse,
    allowance: toPlanAllowance(budget, expectControlSearches(settings, budget.leftForAll)),
  };
  return { input, budget };
}

/**
 * Which answers may be reused now (null for none), and when each tier is due, with the next scheduled run if there is
 * one.
 */
export function toReuseScope(
  { settings, settingsDigest, nextRescreening }: Pick<AppContext, 'settings' | 'settingsDigest' | 'nextRescreening'>,
  now: Date,
) {
  const { screening } = settings;
  const maxAgeMs = screening.reuseMaxAge === 0 ? 0 : toDurationMs(screening.reuseMaxAge);
  const reuse = maxAgeMs === 0 ? null : { answeredAfter: new Date(now.getTime() - maxAgeMs), settingsDigest };
  return { reuse, tiers: listTierDueTimes(toCadence(screening), now, nextRescreening?.() ?? null) };
}

/** The marked customers of a roster that may be searched now. */
export function toMarkedScope({ clock, settings }: AppContext, rosterId: number, accountId: number) {
  const { searchesPerDay = 500, searchesPerRun = 100, againAfterMs = 3_600_000 } = settings.screening.dirty ?? {};
  return {
    rosterId,
    accountId,
    now: clock.now(),
    timezone: settings.timezone,
    againAfterMs,
    mostPerRun: searchesPerRun,
    mostPerDay: searchesPerDay,
    controlSearches: expectControlSearches(settings, 1),
  };
}
