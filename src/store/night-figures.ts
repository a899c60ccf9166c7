import { z } from 'zod';
import type { Queryable } from './database.js';
import { isNightSql } from './night-sql.js';

const nightFigure = z.object({
  roster: z.string(),
  state: z.string().nullable(),
  failedCanaries: z.number(),
  lastSuccessAt: z.date().nullable(),
});
/** How the newest night of a roster that has ended did, with a null state before the first; and when one of them last was complete. */
export type NightFigures = z.infer<typeof nightFigure>;

/**
 * The nights of these rosters, each roster once, known or not. A night was to screen everybody who is due: an onboarding, a run over new or
 * chosen customers and one that was given up for a newer one are none.
 */
export function readNightFigures(
  database: Queryable,
  organisationId: number,
  rosters: readonly string[],
): Promise<readonly NightFigures[]> {
  return database.query(
    nightFigure,
    `with night as (
       select run.run_id, run.roster_id, run.state, run.finished_at
       from run join roster on roster.roster_id = run.roster_id
       where roster.organisation_id = $1 and roster.name = any ($2::text[])
         and ${isNightSql('run')} and run.state not in ('running', 'abandoned')
     ),
     ends as (
       select roster_id, max(run_id) as run_id, max(finished_at) filter (where state = 'complete') as last_success
       from night group by roster_id
     )
     select watched.name as roster, newest.state, ends.last_success as "lastSuccessAt",
       (select count(*) from canary_outcome where canary_outcome.run_id = ends.run_id and verdict = 'failed') as "failedCanaries"
     from unnest($2::text[]) watched (name)
     left join roster on roster.organisation_id = $1 and roster.name = watched.name
     left join ends on ends.roster_id = roster.roster_id
     left join run newest on newest.run_id = ends.run_id
     order by watched.name collate "C"`,
    [organisationId, [...rosters]],
  );
}
