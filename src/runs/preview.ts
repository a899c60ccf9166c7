import { randomInt } from 'node:crypto';
import type { PublishedList } from '../lists/published-list.js';
import { toLocalTime } from '../local-time.js';
import type { RosterSettings } from '../roster/settings.js';
import { type ForcedCustomer, type ListComparison, readForcedCustomers } from '../store/checks.js';
import type { Database, Transaction } from '../store/database/database.js';
import { findLastAccount, findRoster } from '../store/organisations.js';
import { type ForcedScreening, forceScreenings, type PlanCounts, previewPlan } from '../store/plan.js';
import { carryForcedScreenings } from '../store/plan-sql.js';
import { readStagedRejections } from '../store/roster-staging.js';
import { insertRun, isOnTrial, setRunAccount } from '../store/runs.js';
import { countNewRequests } from '../store/save-requests.js';
import type { PlanSelection } from '../vocabulary.js';
import { toImportMode } from './account.js';
import type { AppContext } from './app-context.js';
import { compareRoster, toStoredList } from './checks/because-of.js';
import { compareSnapshot } from './import/compare-snapshot.js';
import { stageRoster } from './import/stage.js';
import { findRosterPath, openImportedRoster } from './roster-scope.js';
import { expectControlSearches, toPlanInput } from './screening/plan.js';

/** The preview of a screening: nothing is stored or called. */
export interface ScreeningPreview extends PlanCounts, PricedCalls {
  roster: string;
  selection: PlanSelection;
  /** References of customers that the budget excludes although they are overdue or unscreened; the first 100. */
  leftOut: readonly string[];
  /** Remaining calls within the caps; null without caps. */
  budget: { leftForAll: number; leftForReserved: number } | null;
}

const mostLeftOut = 100;

/** Previews a screening of the last imported roster on the last used account. The forced screenings of `runId` are included. */
export async function previewScreening(
  app: AppContext,
  roster: RosterSettings,
  selection: PlanSelection,
  runId: number | null = null,
): Promise<ScreeningPreview> {
  const { database, settings } = app;
  const { rosterId } = await openImportedRoster(app, roster.name);
  const account = await findLastAccount(database, rosterId, settings.service.mode ?? 'test');
  const request = { rosterId, accountId: account?.accountId ?? null, selection };
  const { input, budget } = await toPlanInput(app, database, request, runId);
  const counts = await previewPlan(database, input, mostLeftOut);
  const { leftForAll, leftForReserved } = budget;
  return {
    roster: roster.name,
    selection,
    ...counts,
    ...priceCalls(settings, counts.searches),
    budget: leftForReserved === Number.POSITIVE_INFINITY ? null : { leftForAll, leftForReserved },
  };
}

/** Reads a roster like an onboarding and previews it; nothing is stored or searched. Throws RosterError. */
export async function previewOnboarding(app: AppContext, roster: RosterSettings, signal: AbortSignal) {
  const preview = await previewImport(app, roster, signal);
  return { ...preview, ...priceCalls(app.settings, preview.distinctSearches) };
}

function inTurn(transaction: Transaction): <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(() => work(transaction));
    last = next.catch(() => undefined);
    return next;
  };
}

const largestNumber = 2 ** 40;
const noRoster = -1;
const mostRejections = 1_000;

/** Reads and checks a roster like an import, in a transaction that is always rolled back. Throws RosterError when it is unreadable. */
export async function previewImport(
  app: AppContext,
  roster: RosterSettings,
  signal: AbortSignal,
  options: { isDelta?: boolean | undefined } = {},
) {
  const { database, clock, secret, settings } = app;
  return tryOut(
    database,
    async (_tried, transaction) => {
      // A source may be slow, and this transaction blocks nothing else.
      await transaction.execute("select set_config('idle_in_transaction_session_timeout', '0', true)");
      const now = clock.now();
      // A new roster is not created here: its row would block a concurrent import.
      const rosterId = (await findRoster(transaction, settings.organisation, roster.name)) ?? noRoster;
      // No run has a negative id, and a random one differs from other previews.
      const staged = { runId: -randomInt(1, largestNumber), rosterId, isDelta: options.isDelta ?? false };
      const source = await stageRoster(roster, {
        runId: staged.runId,
        copies: database.dialect === 'postgres',
        clock,
        today: toLocalTime(now, settings.timezone).date,
        signal,
        secret,
        write: inTurn(transaction),
        emit: () => undefined,
      });
      const mode = toImportMode(app);
      const rule = {
        importedAt: now,
        leaveAfterDays: settings.screening.leaveAfterDays,
        mode,
        isTrial: await isOnTrial(transaction, settings.organisation, mode),
        path: findRosterPath(settings.rosters, roster.name),
      };
      const { counts, isFirst, isFedBack, heldBy, warnings, changes, doubts } = await compareSnapshot(
        transaction,
        staged,
        roster,
        source,
        rule,
      );
      return {
        roster: roster.name,
        source: source.source,
        counts,
        ...(await readStagedRejections(transaction, staged.runId, mostRejections)),
        doubts,
        distinctSearches: await countNewRequests(transaction, { ...staged, isFirst }),
        heldBy,
        warnings,
        unmapped: mode === 'test' ? source.unmapped : [],
        isFedBack,
        changes,
      };
    },
    // Some sources can be read only once.
    { runsOnce: true },
  );
}

/** Previews a run because of a published list, and gives the first forced customers. The run is inserted, planned, counted and rolled back. */
export async function previewBecauseOf(
  app: AppContext,
  roster: RosterSettings,
  options: { selection: PlanSelection; list: PublishedList; mostNamed: number },
  signal: AbortSignal,
): Promise<{ preview: ScreeningPreview; comparison: ListComparison; forced: readonly ForcedCustomer[] }> {
  const { database, settings } = app;
  const scope = await openImportedRoster(app, roster.name);
  const mode = settings.service.mode ?? 'test';
  const account = await findLastAccount(database, scope.rosterId, mode);
  const accountId = account?.accountId ?? null;
  const { leaveAfterDays } = settings.screening;
  const compared = { rosterId: scope.rosterId, accountId, leaveAfterDays };
  const rows: ForcedScreening[] = [];
  const sums = await compareRoster(database, options.list, compared, signal, async (forced) => {
    rows.push(...forced);
  });
  return tryOut(database, async (tried, transaction) => {
    const { runId } = await insertRun(transaction, {
      organisationId: scope.organisation.organisationId,
      rosterId: scope.rosterId,
      mode,
      kind: 'screen',
      selection: options.selection,
      rosterFile: null,
      leaseKey: scope.leaseKey,
      epoch: 0,
      owner: app.owner,
      settingsDigest: app.settingsDigest,
      settings: {},
      version: app.version,
      startedAt: app.clock.now(),
    });
    await setRunAccount(transaction, runId, accountId);
    await carryForcedScreenings(transaction, runId);
    await forceScreenings(transaction, runId, rows);
    const trial = { ...app, database: tried };
    return {
      preview: await previewScreening(trial, roster, options.selection, runId),
      comparison: { ...toStoredList(options.list), ...sums, comparedAt: app.clock.now() },
      forced: await readForcedCustomers(transaction, runId, options.mostNamed),
    };
  });
}

const undo = new Error('rolled back');

async function tryOut<T>(
  database: Database,
  work: (tried: Database, transaction: Transaction) => Promise<T>,
  options: { runsOnce?: boolean } = {},
): Promise<T> {
  const results: T[] = [];
  try {
    await database.transaction(async (transaction) => {
      results.push(await work(toDatabase(database, transaction), transaction));
      throw undo;
    }, options);
  } catch (error) {
    if (error !== undo) throw error;
  }
  const result = results.at(-1);
  if (result === undefined) throw new Error('the work did not run');
  return result;
}

const toDatabase = (database: Database, transaction: Transaction): Database => ({
  dialect: database.dialect,
  query: (row, sql, parameters) => transaction.query(row, sql, parameters),
  execute: (sql, parameters) => transaction.execute(sql, parameters),
  transaction: (work) => work(transaction),
  cursor: (row, sql, parameters, batchSize) => database.cursor(row, sql, parameters, batchSize),
  runScript: (sql) => transaction.runScript(sql),
  close: async () => undefined,
});

interface PricedCalls {
  /** Calls including control searches. */
  calls: number;
  controlSearches: number;
  /** Duration at the configured rate. */
  minutes: number;
  /** The price of the calls; null when it is not configured. */
  cost: { amount: number; currency: string } | null;
}

function priceCalls(settings: AppContext['settings'], searches: number): PricedCalls {
  const { pricePerSearch, currency } = settings.budget;
  const controlSearches = expectControlSearches(settings, searches);
  const calls = searches + controlSearches;
  return {
    calls,
    controlSearches,
    minutes: Math.ceil(calls / settings.service.rate.perSecond / 6) / 10,
    cost: pricePerSearch === undefined ? null : { amount: Math.round(calls * pricePerSearch * 100) / 100, currency },
  };
}
