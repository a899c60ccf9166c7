import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** How a run's calls went, counted from the ledger. */
export interface RunCalls {
  /** Calls that were sent, by what came of them. */
  byOutcome: Readonly<Record<string, number>>;
  sent: number;
  firstAt: Date | null;
  lastAt: Date | null;
  /** Calls per second while calls were being made; breaks of more than a minute are left out. Null with fewer than two calls. */
  perSecond: number | null;
  /** Those breaks. */
  breaks: { count: number; seconds: number; longestSeconds: number };
}

const pauseSeconds = 60;

const timesRow = z.object({
  calls: z.number(),
  firstAt: z.date().nullable(),
  lastAt: z.date().nullable(),
  busySeconds: z.number(),
  breaks: z.object({ count: z.number(), seconds: z.number(), longestSeconds: z.number() }),
});

/** Reads how a run's calls went. */
export async function readRunCalls(database: Queryable, runId: number): Promise<RunCalls> {
  const outcomes = await database.query(
    z.object({ name: z.string(), count: z.number() }),
    `select coalesce(case when outcome = 'error_status' then status::text end, outcome) as name, count(*) as count
     from search_attempt where run_id = $1 and outcome <> 'not_sent' group by name order by name`,
    [runId],
  );
  const times = await database.query(
    timesRow,
    `select count(*) as calls, min(started_at) as "firstAt", max(started_at) as "lastAt",
       coalesce(extract(epoch from sum(gap) filter (where gap < $2::float8 * interval '1 second')), 0)::float8 as "busySeconds",
       jsonb_build_object(
         'count', count(*) filter (where gap >= $2::float8 * interval '1 second'),
         'seconds', coalesce(round(extract(epoch from sum(gap) filter (where gap >= $2::float8 * interval '1 second'))), 0),
         'longestSeconds', coalesce(round(extract(epoch from max(gap) filter (where gap >= $2::float8 * interval '1 second'))), 0)
       ) as breaks
     from (
       select started_at, started_at - lag(started_at) over (order by started_at) as gap
       from search_attempt where run_id = $1 and outcome <> 'not_sent'
     ) calls`,
    [runId, pauseSeconds],
  );
  const { calls, firstAt, lastAt, busySeconds, breaks } = firstRow(times, 'search_attempt');
  return {
    byOutcome: Object.fromEntries(outcomes.map(({ name, count }) => [name, count])),
    sent: calls,
    firstAt,
    lastAt,
    breaks,
    perSecond: calls < 2 || busySeconds === 0 ? null : Math.round(((calls - 1) * 10) / busySeconds) / 10,
  };
}
