import { randomInt } from 'node:crypto';
import type { PublishedList } from '../lists/published-list.js';
import type { RosterSettings } from '../roster/settings.js';
import { type Queryable, type Transaction, tryOut } from '../store/database/database.js';
import { type ForcedCustomer, type ListComparison, readForcedCustomers } from '../store/night/checks.js';
import { type ForcedScreening, forceScreenings, previewPlan } from '../store/night/plan.js';
import { carryForcedScreenings } from '../store/night/plan-sql.js';
import { findLastAccount, findRoster } from '../store/organisations.js';
import { countNewRequests } from '../store/roster/merge.js';
import { readStagedRejections } from '../store/roster/staging.js';
import { insertRun, setRunAccount } from '../store/runs.js';
import type { PlanSelection } from '../vocabulary.js';
import { toImportMode } from './account.js';
import type { AppContext, RunSettings } from './app-context.js';
import { compareRoster, toStoredList } from './checks/because-of.js';
import { compareSnapshot, toSnapshotRule } from './import/compare-snapshot.js';
import { toOverrideCommand } from './import/import-run.js';
import { stageRoster } from './import/stage.js';
import { findGivenFile, openImportedRoster } from './roster-scope.js';
import { expectControlSearches, toPlanInput } from './screening/plan.js';
import type { RunSession } from './session.js';

/** The preview of a screening: nothing is stored or called. */
export type ScreeningPreview = Awaited<ReturnType<typeof previewScreening>>;

/** References of customers that the budget excludes although they are overdue or unscreened. */
const mostLeftOut = 100;

/** Previews a screening of the last imported roster on the last used account. */
export async function previewScreening(app: AppContext, { name }: RosterSettings, selection: PlanSelection) {
  const { rosterId, accountId } = await openPreview(app, name);
  return previewRun(app, app.database, { roster: name, rosterId, accountId, selection }, null);
}

async function openPreview(app: AppContext, roster: string) {
  const mode = app.settings.service.mode ?? 'test';
  const scope = await openImportedRoster(app, roster);
  const account = await findLastAccount(app.database, scope.rosterId, mode);
  return { ...scope, mode, accountId: account?.accountId ?? null };
}

/** Previews a run; the forced screenings of `runId` are included. */
async function previewRun(
  app: AppContext,
  database: Queryable,
  { roster, ...request }: { roster: string; rosterId: number; accountId: number | null; selection: PlanSelection },
  runId: number | null,
) {
  const { input, budget } = await toPlanInput(app, database, request, runId);
  const counts = await previewPlan(database, input, mostLeftOut);
  const { leftForAll, leftForReserved } = budget;
  return {
    roster,
    selection: request.selection,
    ...counts,
    ...priceSearches(app.settings, counts.searches),
    /** Remaining calls within the caps; null without caps. */
    budget: leftForReserved === Number.POSITIVE_INFINITY ? null : { leftForAll, leftForReserved },
  };
}

/** Reads a roster like an onboarding and previews it; nothing is stored or searched. Throws RosterError. */
export async function previewOnboarding(app: AppContext, roster: RosterSettings, signal: AbortSignal) {
  const preview = await previewImport(app, roster, signal, { kind: 'onboard' });
  return { ...preview, ...priceSearches(app.settings, preview.distinctSearches) };
}

const largestNumber = 2 ** 40;
const noRoster = -1;
const mostRejections = 1_000;

/** Reads and checks a roster like an import, in a transaction that is always rolled back. Throws RosterError when it is unreadable. */
export async function previewImport(
  app: AppContext,
  roster: RosterSettings,
  signal: AbortSignal,
  { kind = 'import', isDelta = false }: { kind?: 'import' | 'onboard'; isDelta?: boolean | undefined } = {},
) {
  const rosterFile = findGivenFile(app.settings.rosters, roster);
  const run = { kind, runId: 0, startedAt: app.clock.now(), resumed: 0, rosterFile, selection: null };
  const { result } = await tryOut(
    app.database,
    (transaction) => tryImport(app, transaction, roster, { isDelta, signal }),
    () => false,
    // Some sources can be read only once.
    { runsOnce: true },
  );
  const { heldBy, counts } = result;
  /** The command that accepts the roster; null when nothing holds it, or without a customer. */
  const accept = heldBy.length > 0 && counts.customers > 0 ? toOverrideCommand(run, roster.name, isDelta) : null;
  return { roster: roster.name, ...result, accept };
}

async function tryImport(
  app: AppContext,
  transaction: Transaction,
  roster: RosterSettings,
  { isDelta, signal }: { isDelta: boolean; signal: AbortSignal },
) {
  // A source may be slow, and this transaction blocks nothing else.
  await transaction.execute("select set_config('idle_in_transaction_session_timeout', '0', true)");
  const mode = toImportMode(app);
  const rule = await toSnapshotRule(app, transaction, roster.name, mode);
  // A new roster is not created here: its row would block a concurrent import.
  const rosterId = (await findRoster(transaction, app.settings.organisation, roster.name)) ?? noRoster;
  // No run has a negative id, and a random one differs from other previews.
  const staged = { runId: -randomInt(1, largestNumber), rosterId, isDelta };
  const { runId } = staged;
  const write: RunSession['write'] = (work) => work(transaction);
  const source = await stageRoster(roster, { app, runId, signal, write, emit: () => undefined });
  const compared = await compareSnapshot(transaction, staged, roster, source, rule);
  const { counts, isFedBack, heldBy, warnings, changes, rosterChanges, doubts } = compared;
  return {
    source: source.source,
    counts,
    ...(await readStagedRejections(transaction, runId, mostRejections)),
    doubts,
    distinctSearches: await countNewRequests(transaction, runId),
    heldBy,
    warnings,
    unmapped: mode === 'test' ? source.unmapped : [],
    isFedBack,
    changes,
    rosterChanges,
  };
}

/** Previews a run because of a published list, and gives the first forced customers. The run is inserted, planned, counted and rolled back. */
export async function previewBecauseOf(
  app: AppContext,
  roster: RosterSettings,
  options: { selection: PlanSelection; list: PublishedList; mostNamed: number },
  signal: AbortSignal,
): Promise<{ preview: ScreeningPreview; comparison: ListComparison; forced: readonly ForcedCustomer[] }> {
  const { database, settings } = app;
  const { mode, rosterId, accountId, ...scope } = await openPreview(app, roster.name);
  const compared = { rosterId, accountId, leaveAfterDays: settings.screening.leaveAfterDays };
  const rows: ForcedScreening[] = [];
  const sums = await compareRoster(database, options.list, compared, signal, async (forced) => {
    rows.push(...forced);
  });
  const { selection } = options;
  const preview = async (transaction: Transaction) => {
    const { runId } = await insertRun(transaction, {
      organisationId: scope.organisation.organisationId,
      rosterId,
      mode,
      kind: 'screen',
      selection,
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
    return {
      preview: await previewRun(app, transaction, { roster: scope.roster, rosterId, accountId, selection }, runId),
      comparison: { ...toStoredList(options.list), ...sums, comparedAt: app.clock.now() },
      forced: await readForcedCustomers(transaction, runId, options.mostNamed),
    };
  };
  return (await tryOut(database, preview, () => false)).result;
}

/** Adds the control searches to searches, and the time and price of all these calls. */
function priceSearches(settings: RunSettings, searches: number) {
  const controlSearches = expectControlSearches(settings, searches);
  return { controlSearches, ...priceCalls(settings, searches + controlSearches) };
}

/** The minutes that calls take at the configured rate, and their price; null when it is not configured. */
export function priceCalls({ budget, service }: RunSettings, calls: number) {
  const { pricePerSearch, currency } = budget;
  return {
    calls,
    minutes: Math.ceil(calls / service.rate.perSecond / 6) / 10,
    cost: pricePerSearch === undefined ? null : { amount: Math.round(calls * pricePerSearch * 100) / 100, currency },
  };
}
