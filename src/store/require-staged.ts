import { z } from 'zod';
import { StoreError } from '../errors.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** What an import has on its way: rows of the roster and of related parties, and what a snapshot changes. */
export interface Staged {
  rows: number;
  steps: number;
}

/** Counts what an import has on its way. */
export async function countOnTheWay(transaction: Queryable, runId: number): Promise<Staged> {
  const rows = await transaction.query(
    z.object({ rows: z.number(), steps: z.number() }),
    `select (select count(*) from roster_staging where run_id = $1)
         + (select count(*) from roster_party_staging where run_id = $1) as rows,
       (select count(*) from roster_step where run_id = $1) as steps`,
    [runId],
  );
  return firstRow(rows, 'roster_staging');
}

/**
 * Throws StoreError `roster_not_whole` unless all of it is still there: tables that are not logged are empty after a server has recovered
 * from a crash, and a part of a roster must not pass for the whole.
 */
export function requireStaged(found: number, expected: number): void {
  if (found === expected) return;
  throw new StoreError(
    'roster_not_whole',
    `${found} of ${expected} rows on their way were still there, so nothing of the roster was stored: has the database restarted? Start again`,
  );
}
