import { z } from 'zod';
import type { Queryable } from './database.js';

/** Something that watchdogs watch; nothing is expected of it before `watchedSince`. */
export interface Watched {
  subject: string;
  watchedSince: Date;
  lastWatchedAt: Date;
}

/** What a roster is called among what is watched. */
export const toRosterSubject = (roster: string): string => `roster/${roster}`;
/** What a job is called among what is watched. */
export const toJobSubject = (job: string): string => `job/${job}`;
/** What a job is called that goes by a certain schedule. */
export const toScheduleSubject = (job: string, { cron, timezone }: { cron: string; timezone: string }): string =>
  `schedule/${job} ${cron} ${timezone}`;

/**
 * Notes that these are watched at a moment, and gives everything that is or was. Something new counts from then on, a roster from when it was
 * first known; what others were watched without for a day counts anew.
 */
export async function noteWatched(
  database: Queryable,
  organisationId: number,
  subjects: readonly string[],
  now: Date,
): Promise<readonly Watched[]> {
  await database.execute(
    // In order, so that two that look at the same time wait for each other. A clock that was ahead keeps nothing from being expected.
    `with latest as (
       select max(last_watched_at) as at from watched where organisation_id = $1 and last_watched_at <= $3
     )
     insert into watched as known (organisation_id, subject, watched_since, last_watched_at)
     select $1, subject,
       least($3::timestamptz, (select created_at from roster where organisation_id = $1 and 'roster/' || name = subject)), $3
     from unnest($2::text[]) as asked (subject)
     order by subject collate "C"
     on conflict (organisation_id, subject) do update set
       watched_since = case
         when known.last_watched_at < (select at - interval '1 day' from latest) then excluded.last_watched_at
         else least(known.watched_since, excluded.last_watched_at)
       end,
       last_watched_at = excluded.last_watched_at`,
    [organisationId, [...new Set(subjects)], now],
  );
  return database.query(
    z.object({ subject: z.string(), watchedSince: z.date(), lastWatchedAt: z.date() }),
    `select subject, watched_since as "watchedSince", last_watched_at as "lastWatchedAt" from watched where organisation_id = $1`,
    [organisationId],
  );
}
