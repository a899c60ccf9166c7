import type { RejectedRow } from '../../roster/customer.js';
import type { Queryable } from '../../store/database/database.js';
import { countRejects, readRejects } from '../../store/roster-imports.js';
import { type ListableOutcome, type ListedCustomer, listRunCustomers } from '../../store/screenings.js';
import { findRun } from './list-runs.js';

/** A page of a run's customers or rejected rows. */
export interface RunListed {
  list: ListableOutcome | 'rejected' | null;
  customers: readonly ListedCustomer[];
  /** The reference to go on after, or null on the last page. */
  next: string | null;
  /** Where they stand and why, without what they hold. */
  rejects: readonly Omit<RejectedRow, 'fields'>[];
  rejectsInAll: number;
}

/** Which page of a run's customers or rejected rows is wanted. */
export interface ListChoice {
  list?: ListableOutcome | 'rejected' | undefined;
  limit: number;
  after: string | null;
}

/** Lists what is asked for, and rejected rows where nothing is; throws ConfigError when there is no such run. */
export async function listOfRun(database: Queryable, text: string, options: ListChoice): Promise<RunListed> {
  const { runId } = await findRun(database, text);
  const { list = null, limit, after } = options;
  const rejectsInAll = await countRejects(database, runId);
  if (list === null || list === 'rejected') {
    const rejects = (await readRejects(database, runId, limit)).map(({ fields: _, ...where }) => where);
    return { list, customers: [], next: null, rejects, rejectsInAll };
  }
  // One more than asked for says whether there is a further page.
  const found = await listRunCustomers(database, runId, list, { after, limit: limit + 1 });
  const customers = found.slice(0, limit);
  const next = found.length > limit ? (customers.at(-1)?.reference ?? null) : null;
  return { list, customers, next, rejects: [], rejectsInAll };
}
