import { z } from 'zod';
import type { Queryable } from './database.js';

const nameRow = z.object({ name: z.string() });

/** The names of an organisation's rosters. */
export async function readRostersOf(database: Queryable, organisationId: number): Promise<readonly string[]> {
  const rows = await database.query(nameRow, 'select name from roster where organisation_id = $1 order by name', [
    organisationId,
  ]);
  return rows.map(({ name }) => name);
}

/** Whether a roster of an organisation has or had a customer of this reference. */
export async function isKnownCustomer(database: Queryable, organisationId: number, name: string): Promise<boolean> {
  const rows = await database.query(
    nameRow,
    `select customer.reference as name from customer join roster using (roster_id)
     where roster.organisation_id = $1 and customer.reference = $2 limit 1`,
    [organisationId, name],
  );
  return rows.length > 0;
}

/** Whether anything was ever assigned to somebody of this name, or they were ever named as standing in or being away. */
export async function wasEverNamed(database: Queryable, organisationId: number, name: string): Promise<boolean> {
  const rows = await database.query(
    nameRow,
    `select $2::text as name where exists (select from review_event where assigned_to = $2)
       or exists (select from review_item where assigned_to = $2)
       or exists (select from review_delegation where organisation_id = $1 and (from_name = $2 or to_name = $2))`,
    [organisationId, name],
  );
  return rows.length > 0;
}
