import { usageError } from '../../errors.js';
import type { PublishedList } from '../../lists/published-list.js';
import { createComparison } from '../../names/compare.js';
import type { Database, Queryable } from '../../store/database/database.js';
import {
  type ForcedCustomer,
  finishComparison,
  type ListComparison,
  noteList,
  readForcedCustomers,
  readListComparison,
} from '../../store/night/checks.js';
import { type ForcedScreening, forceScreenings } from '../../store/night/plan.js';
import { carryForcedScreenings, readRosterParties } from '../../store/night/plan-sql.js';
import type { RunRow } from '../../store/runs.js';
import type { AppContext } from '../app-context.js';
import { toSignalHalt } from '../halt.js';
import type { RunSession } from '../session.js';

/** Small enough that a heartbeat never waits long for the comparison of a batch. */
const batchSize = 200;

interface ComparedScope {
  rosterId: number;
  accountId: number | null;
  leaveAfterDays: number;
}

/**
 * Compares a published list with the names of a roster's customers and gives the parties that may be listed to `force`, batch by batch.
 * Returns the counts. Memory does not grow with the roster. Throws RunHalted when the signal is aborted.
 */
export async function compareRoster(
  database: Database,
  list: PublishedList,
  scope: ComparedScope,
  signal: AbortSignal,
  force: (forced: readonly ForcedScreening[]) => Promise<void>,
) {
  const findListed = await createComparison(list.parties, readNames(database, scope, signal));
  const sums = { comparedParties: 0, forcedParties: 0, forcedCustomers: 0 };
  let lastForced: number | null = null;
  for await (const batch of readRosterParties(database, scope, batchSize)) {
    if (signal.aborted) throw toSignalHalt(signal);
    const forced: ForcedScreening[] = [];
    for (const { partyId, customerId, name, type } of batch) {
      sums.comparedParties += 1;
      const listed = findListed(name, type);
      if (!listed) continue;
      forced.push({ partyId, because: toReason(list, listed) });
      sums.forcedParties += 1;
      // The parties of a customer come one after another.
      if (customerId !== lastForced) sums.forcedCustomers += 1;
      lastForced = customerId;
    }
    if (forced.length > 0) await force(forced);
  }
  return sums;
}

/** The facts of a list that are stored with a run; its names are not. */
export const toStoredList = ({ file, format, files, digest, parties, spellings }: PublishedList) => ({
  file,
  format,
  files,
  digest,
  listed: parties.length,
  spellings,
});

async function* readNames(
  database: Database,
  scope: ComparedScope,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  for await (const batch of readRosterParties(database, scope, batchSize)) {
    if (signal.aborted) throw toSignalHalt(signal);
    yield batch.map((party) => party.name);
  }
}

function toReason({ file, digest }: PublishedList, { name, spelling }: { name: string; spelling: string }): string {
  const alias = spelling === name ? '' : `, listed as ${spelling}`;
  return `${name}${alias} (${file}, SHA-256 ${digest.slice(0, 12)})`;
}

/**
 * Stage: forces searches for the customers that a published list may name, and those that earlier runs have left undone. Throws ConfigError
 * when the run began with a list, the comparison is not finished, and no list is given.
 */
export async function forceListed(
  session: RunSession,
  list: PublishedList | undefined,
  scope: { rosterId: number; accountId: number | null },
): Promise<void> {
  const { run, app } = session;
  await session.write(async (transaction) => {
    if (list) await noteList(transaction, run.runId, toStoredList(list));
    await carryForcedScreenings(transaction, run.runId);
  });
  const known = await readListComparison(app.database, run.runId);
  if (known === null || known.comparedAt !== null) return;
  if (list) return compare(session, list, scope);
  const message = `the customers were not compared with ${known.file} yet; start it again with --because-of and that file`;
  throw usageError('run', message);
}

async function compare(
  session: RunSession,
  list: PublishedList,
  scope: { rosterId: number; accountId: number | null },
): Promise<void> {
  const { app, run, runId, signal } = session;
  const { clock, database, settings } = app;
  app.emit({ kind: 'stage_started', runId, stage: 'compare' });
  const { leaveAfterDays } = settings.screening;
  const sums = await compareRoster(database, list, { ...scope, leaveAfterDays }, signal, (forced) =>
    session.write((transaction) => forceScreenings(transaction, run.runId, forced)),
  );
  await session.write((transaction) => finishComparison(transaction, run.runId, sums, clock.now()));
  const counts = { listed: list.parties.length, ...sums };
  app.emit({ kind: 'stage_finished', runId, stage: 'compare', counts });
}

/** Why an open run cannot be resumed with this list; null for the same list or none. */
export async function findOtherList(
  { database }: AppContext,
  open: RunRow,
  wanted: PublishedList | undefined,
): Promise<string | null> {
  if (wanted === undefined) return null;
  const noted = await readListComparison(database, open.runId);
  if (noted?.digest === wanted.digest) return null;
  return noted === null ? 'it used no list' : `it used the list ${noted.file}, SHA-256 ${noted.digest.slice(0, 12)}`;
}

/** A published list and the customers whose searches it has forced in a run. */
export interface BecauseOf {
  comparison: ListComparison;
  /** The first customers. */
  forced: readonly ForcedCustomer[];
}

/** The list of a run and the first customers whose searches it has forced; null without a list. */
export async function describeBecauseOf(
  database: Queryable,
  { runId }: Pick<RunRow, 'runId'>,
  mostNamed: number,
): Promise<BecauseOf | null> {
  const comparison = await readListComparison(database, runId);
  if (comparison === null) return null;
  return { comparison, forced: await readForcedCustomers(database, runId, mostNamed) };
}
