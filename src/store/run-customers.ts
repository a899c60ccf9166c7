import { z } from 'zod';
import type { Queryable } from './database.js';

/** What of a run's customers can be listed. */
export const listableOutcomes = ['remaining', 'failed', 'skipped'] as const;
export type ListableOutcome = (typeof listableOutcomes)[number];

/** A customer of a run and why it stands as it does. */
export interface ListedCustomer {
  reference: string;
  /** Why it was asked about. */
  planned: string;
  /** Why it failed or was skipped; null for one that remains. */
  because: string | null;
}

/** Counts the customers that a run asked about, by the reason; one with several parties counts under each of their reasons. */
export async function countPlanReasons(database: Queryable, runId: number): Promise<Readonly<Record<string, number>>> {
  const rows = await database.query(
    z.object({ name: z.string(), count: z.number() }),
    `select plan_reason as name, count(distinct party.customer_id) as count
     from screening join party using (party_id)
     where run_id = $1 and outcome <> 'skipped' group by plan_reason order by plan_reason`,
    [runId],
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/**
 * A page of the customers that a run failed, skipped or left, in the order of their references after `after`. One that failed in one of
 * its parties is failed, whatever became of the others.
 */
export async function listRunCustomers(
  database: Queryable,
  runId: number,
  outcome: ListableOutcome,
  page: { after: string | null; limit: number },
): Promise<readonly ListedCustomer[]> {
  return database.query(
    z.object({ reference: z.string(), planned: z.string(), because: z.string().nullable() }),
    `select customer.reference, min(screening.plan_reason) as planned,
       min(screening.outcome_reason) filter (where screening.outcome = $2) as because
     from screening
     join party using (party_id)
     join customer using (customer_id)
     where screening.run_id = $1 and ($3::text is null or customer.reference collate "C" > $3)
     group by customer.customer_id, customer.reference
     having max(array_position(array['skipped', 'reused', 'screened', 'remaining', 'failed'], screening.outcome))
       = array_position(array['skipped', 'reused', 'screened', 'remaining', 'failed'], $2)
     order by customer.reference collate "C"
     limit $4`,
    [runId, outcome, page.after, page.limit],
  );
}
