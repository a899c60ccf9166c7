import { createComparison, type ListedName } from '../../lists/compare-names.js';
import type { PublishedList } from '../../lists/listed-party.js';
import type { ComparisonSums, StoredList } from '../../store/checks.js';
import type { Database } from '../../store/database/database.js';
import type { ForcedScreening } from '../../store/plan.js';
import { readRosterParties } from '../../store/roster-imports.js';
import { toSignalHalt } from '../session/run-halted.js';

/** Few enough that a heartbeat never waits long for a batch to be compared. */
const batchSize = 200;

/** Which customers of which roster are compared. */
export interface ComparedScope {
  rosterId: number;
  accountId: number | null;
  leaveAfterDays: number;
}

/**
 * Compares a published list with the names of a roster's customers and hands whoever may be listed to `force`, batch by batch; gives what
 * it came to. Memory does not grow with the roster. Throws RunHalted when the signal is aborted.
 */
export async function compareRoster(
  database: Database,
  list: PublishedList,
  scope: ComparedScope,
  signal: AbortSignal,
  force: (forced: readonly ForcedScreening[]) => Promise<void>,
): Promise<ComparisonSums> {
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
      // The parties of a customer follow one another.
      if (customerId !== lastForced) sums.forcedCustomers += 1;
      lastForced = customerId;
    }
    if (forced.length > 0) await force(forced);
  }
  return sums;
}

/** A list as it is kept with a run: without its names. */
export const toStoredList = ({ file, format, files, digest, parties, spellings }: PublishedList): StoredList => ({
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

function toReason({ file, digest }: PublishedList, { name, spelling }: ListedName): string {
  const alias = spelling === name ? '' : `, listed as ${spelling}`;
  return `${name}${alias} (${file}, SHA-256 ${digest.slice(0, 12)})`;
}
