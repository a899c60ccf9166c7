import {
  type ForcedCustomer,
  type ListComparison,
  readForcedCustomers,
  readListComparison,
} from '../../store/checks.js';
import type { Queryable } from '../../store/database/database.js';
import { findRun } from '../session/list-runs.js';

/** A published list and whom it has forced into a run. */
export interface BecauseOf {
  comparison: ListComparison;
  /** The first of them. */
  forced: readonly ForcedCustomer[];
}

/** Because of which list a run asked, and the first of whom it was forced to ask about; null when there was no list. */
export async function describeBecauseOf(
  database: Queryable,
  runId: string,
  mostNamed: number,
): Promise<BecauseOf | null> {
  const run = await findRun(database, runId);
  const comparison = await readListComparison(database, run.runId);
  if (comparison === null) return null;
  return { comparison, forced: await readForcedCustomers(database, run.runId, mostNamed) };
}
