import type { Database } from '../../store/database.js';
import {
  type ForcedCustomer,
  type ListComparison,
  readForcedCustomers,
  readListComparison,
} from '../../store/list-comparisons.js';
import { findRun } from '../session/list-runs.js';

/** Because of which list a run asked, and the first of whom it was forced to ask about; null when there was no list. */
export async function describeBecauseOf(
  database: Database,
  runId: string,
  mostNamed: number,
): Promise<{ comparison: ListComparison; forced: readonly ForcedCustomer[] } | null> {
  const run = await findRun(database, runId);
  const comparison = await readListComparison(database, run.runId);
  if (comparison === null) return null;
  return { comparison, forced: await readForcedCustomers(database, run.runId, mostNamed) };
}
