import { z } from 'zod';
import type { Queryable } from './database.js';
import { runIdSql } from './run-id.js';

/** What is stored of moments that have not come yet: a clock was ahead when it was written. */
export interface AheadFacts {
  /** The last runs of rosters, and the last sweep, that began at what is yet to come, with that moment. */
  starts: readonly { name: string; startedAt: Date }[];
  /** By roster, customers in scope whose last valid answer is of what is yet to come: they are not due before that. */
  screened: readonly { roster: string; customers: number; latestScreenedAt: Date }[];
}

/** What is later than this from now is not explained by two clocks that differ a little. */
const toleratedSql = `interval '5 minutes'`;

/** Reads what is dated ahead of a moment, of these rosters. */
export async function readAhead(
  database: Queryable,
  organisationId: number,
  rosters: readonly string[],
  now: Date,
): Promise<AheadFacts> {
  const starts = await database.query(
    z.object({ name: z.string(), startedAt: z.date() }),
    `select ${runIdSql('newest')} as name, newest.began_at as "startedAt"
     from (
       select distinct on (run.roster_id) run.*,
         greatest(run.started_at, (select max(taken_at) from run_holder where run_holder.run_id = run.run_id)) as began_at
       from run left join roster on roster.roster_id = run.roster_id
       where run.organisation_id = $1 and run.state <> 'abandoned'
         and (run.kind = 'sweep' or run.kind in ('screen', 'rescreen', 'onboard') and roster.name = any ($2::text[]))
       order by run.roster_id, run.run_id desc
     ) newest
     where newest.began_at > $3::timestamptz + ${toleratedSql}
     order by newest.run_id`,
    [organisationId, [...rosters], now],
  );
  const screened = await database.query(
    z.object({ roster: z.string(), customers: z.number(), latestScreenedAt: z.date() }),
    `select roster.name as roster, count(distinct customer.customer_id) as customers, max(state.screened_at) as "latestScreenedAt"
     from party_state state
     join party on party.party_id = state.party_id and party.is_current
     join customer on customer.customer_id = party.customer_id and customer.left_at is null
     join roster on roster.roster_id = customer.roster_id
     where state.screened_at > $3::timestamptz + ${toleratedSql}
       and roster.organisation_id = $1 and roster.name = any ($2::text[])
     group by roster.name order by roster.name`,
    [organisationId, [...rosters], now],
  );
  return { starts, screened };
}
