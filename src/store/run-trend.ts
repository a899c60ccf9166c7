import { z } from 'zod';
import type { TrendPoint } from '../reports/history-facts.js';
import type { Queryable } from './database.js';
import { isWholeSql } from './night-sql.js';
import { toRunId } from './run-id.js';
import { runSumsSchema } from './run-sums.js';

const runsShown = 30;

const pointRow = z
  .object({
    runId: z.number(),
    kind: z.enum(['screen', 'rescreen', 'onboard']),
    startedAt: z.date(),
    finishedAt: z.date(),
    sums: runSumsSchema,
    waiting: z.number().nullable(),
  })
  .transform(
    ({ sums, waiting, ...run }): TrendPoint => ({
      runId: toRunId(run),
      finishedAt: run.finishedAt,
      seconds: Math.round((run.finishedAt.getTime() - run.startedAt.getTime()) / 1_000),
      searches: sums.counts.searches,
      notScreened: sums.states.not_screened,
      hits: sums.counts.hits,
      changes: sums.counts.changes,
      changesBySeverity: sums.changesBySeverity ?? null,
      waiting,
    }),
  );

/**
 * The last runs of a run's roster on the same account up to and including itself, oldest first; the same at any later time, since a run that
 * another has followed is never gone on with.
 */
export async function readRunTrend(database: Queryable, runId: number): Promise<readonly TrendPoint[]> {
  const newestFirst = await database.query(
    pointRow,
    `select former.run_id as "runId", former.kind, former.started_at as "startedAt", former.finished_at as "finishedAt", former.sums,
       (former.open_items ->> 'waiting')::integer as waiting
     from run
     join run former on former.roster_id = run.roster_id and former.account_id = run.account_id and former.run_id <= run.run_id
     where run.run_id = $1 and former.kind in ('screen', 'rescreen', 'onboard') and former.finished_at is not null
       and former.sums is not null and (former.run_id = run.run_id or ${isWholeSql('former')})
     order by former.run_id desc
     limit $2`,
    [runId, runsShown],
  );
  return newestFirst.toReversed();
}
