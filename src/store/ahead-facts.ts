import { z } from 'zod';
import type { Queryable } from './database.js';
import { takenAtSql } from './night-sql.js';
import { runIdSql } from './run-id.js';

const aheadRow = z.object({
  roster: z.string(),
  /** Its last run, where that began at what is yet to come. */
  run: z.string().nullable(),
  startedAt: z.date().nullable(),
  /** Customers in scope whose last valid answer is of what is yet to come. */
  customers: z.number(),
  latestScreenedAt: z.date().nullable(),
});
/** What is stored of a roster at moments that have not come yet: a clock was ahead when it was written. */
export type AheadFacts = z.infer<typeof aheadRow>;

/** What is later than this from now is not explained by two clocks that differ a little. */
const toleratedSql = `interval '5 minutes'`;

/** Reads what is dated ahead of a moment, of these rosters; those of which nothing is are left out. */
export async function readAhead(
  database: Queryable,
  organisationId: number,
  rosters: readonly string[],
  now: Date,
): Promise<readonly AheadFacts[]> {
  return database.query(
    aheadRow,
    `select roster.name as roster, newest.name as run, newest.began_at as "startedAt",
       coalesce(screened.customers, 0) as customers, screened.latest_at as "latestScreenedAt"
     from roster
     left join lateral (
       select ${runIdSql('run')} as name,
         ${takenAtSql('run')} as began_at
       from run
       where run.roster_id = roster.roster_id and run.kind in ('screen', 'rescreen', 'onboard') and run.state <> 'abandoned'
       order by run.run_id desc limit 1
     ) newest on newest.began_at > $3::timestamptz + ${toleratedSql}
     left join (
       select customer.roster_id, count(distinct customer.customer_id) as customers, max(state.screened_at) as latest_at
       from party_state state
       join party on party.party_id = state.party_id and party.is_current
       join customer on customer.customer_id = party.customer_id and customer.left_at is null
       where state.screened_at > $3::timestamptz + ${toleratedSql}
       group by customer.roster_id
     ) screened on screened.roster_id = roster.roster_id
     where roster.organisation_id = $1 and roster.name = any ($2::text[]) and coalesce(newest.began_at, screened.latest_at) is not null
     order by roster.name`,
    [organisationId, [...rosters], now],
  );
}
