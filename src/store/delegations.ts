import { z } from 'zod';
import type { Queryable } from './database.js';

/** That somebody stands in for somebody else; with nobody to stand in it ends what was said before. */
export interface NewDelegation {
  organisationId: number;
  from: string;
  to: string | null;
  /** The last day, `yyyy-mm-dd`, and when it is over. */
  until: string | null;
  endsAt: Date | null;
  reason: string;
  actor: { name: string; isAttested: boolean };
}

/** A delegation that holds. */
export interface Delegation {
  from: string;
  to: string;
  /** The last day, `yyyy-mm-dd`. */
  until: string;
  reason: string;
  actor: string;
  isAttested: boolean;
}

/** Adds a delegation, or the end of one, to the history. */
export async function insertDelegation(transaction: Queryable, delegation: NewDelegation, now: Date): Promise<void> {
  const { organisationId, from, to, until, endsAt, reason, actor } = delegation;
  await transaction.execute(
    `insert into review_delegation (
       organisation_id, from_name, to_name, until, ends_at, reason, happened_at, actor, is_attested
     ) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [organisationId, from, to, until, endsAt, reason, now, actor.name, actor.isAttested],
  );
}

/** Who stands in for whom at a moment, by name. */
export function readDelegations(
  database: Queryable,
  organisationId: number,
  moment: Date,
): Promise<readonly Delegation[]> {
  return database.query(
    z.object({
      from: z.string(),
      to: z.string(),
      until: z.string(),
      reason: z.string(),
      actor: z.string(),
      isAttested: z.boolean(),
    }),
    `select from_name as "from", to_name as "to", until::text as until, reason, actor, is_attested as "isAttested"
     from (
       select distinct on (from_name) * from review_delegation where organisation_id = $1 order by from_name, delegation_id desc
     ) last_said
     where ends_at > $2
     order by from_name`,
    [organisationId, moment],
  );
}
