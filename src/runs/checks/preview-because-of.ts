import type { PublishedList } from '../../lists/listed-party.js';
import type { RosterSettings } from '../../roster/settings.js';
import { type ForcedCustomer, type ListComparison, readForcedCustomers } from '../../store/checks.js';
import type { Database, Transaction } from '../../store/database/database.js';
import { findLastAccount } from '../../store/organisations.js';
import { type ForcedScreening, forceScreenings, type PlanSelection } from '../../store/plan.js';
import { carryForcedScreenings } from '../../store/roster-imports.js';
import { insertRun, setRunAccount } from '../../store/runs.js';
import { previewScreening, type ScreeningPreview } from '../planning/preview-screening.js';
import { openImportedRoster } from '../rosters/roster-scope.js';
import type { Workplace } from '../workplace.js';
import { compareRoster, toStoredList } from './compare-roster.js';

/** A plan as a published list would make it, and whom the list forces into it. */
export interface BecauseOfPreview {
  preview: ScreeningPreview;
  comparison: ListComparison;
  /** The first of them. */
  forced: readonly ForcedCustomer[];
}

/** What a run because of a published list would do now; the run is begun and planned, counted, and taken back before anybody sees it. */
export async function previewBecauseOf(
  workplace: Workplace,
  roster: RosterSettings,
  options: { selection: PlanSelection; list: PublishedList; mostNamed: number },
  signal: AbortSignal,
): Promise<BecauseOfPreview> {
  const { database, settings } = workplace;
  const scope = await openImportedRoster(workplace, roster.name);
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
      owner: workplace.owner,
      settingsDigest: workplace.settingsDigest,
      settings: {},
      version: workplace.version,
      startedAt: workplace.clock.now(),
    });
    await setRunAccount(transaction, runId, accountId);
    await carryForcedScreenings(transaction, runId);
    await forceScreenings(transaction, runId, rows);
    const trial = { ...workplace, database: tried };
    return {
      preview: await previewScreening(trial, roster, options.selection, runId),
      comparison: { ...toStoredList(options.list), ...sums, comparedAt: workplace.clock.now() },
      forced: await readForcedCustomers(transaction, runId, options.mostNamed),
    };
  });
}

const undo = new Error('taken back');

/** Does something in a transaction that leaves nothing behind. */
async function tryOut<T>(
  database: Database,
  work: (tried: Database, transaction: Transaction) => Promise<T>,
): Promise<T> {
  const results: T[] = [];
  try {
    await database.transaction(async (transaction) => {
      results.push(await work(toDatabase(database, transaction), transaction));
      throw undo;
    });
  } catch (error) {
    if (error !== undo) throw error;
  }
  const [result] = results;
  if (result === undefined) throw new Error('nothing was tried');
  return result;
}

/** A transaction in the place of the database. */
const toDatabase = (database: Database, transaction: Transaction): Database => ({
  dialect: database.dialect,
  query: (row, sql, parameters) => transaction.query(row, sql, parameters),
  execute: (sql, parameters) => transaction.execute(sql, parameters),
  transaction: (work) => work(transaction),
  cursor: (row, sql, parameters, batchSize) => database.cursor(row, sql, parameters, batchSize),
  runScript: (sql) => transaction.runScript(sql),
  close: async () => undefined,
});
