import { z } from 'zod';
import type { WatchFacts } from '../reports/watch-facts.js';
import type { AnswerFindings } from './answer-findings.js';
import type { ChangeVolume } from './change-volume.js';
import type { Queryable } from './database.js';

/** What the answers for the customers that a run screened held: sums over answers, and the same of the squares. */
export interface RunFindings extends Omit<AnswerFindings, 'answersByLength'>, ChangeVolume {
  screened: number;
}

const findingsRow = z.object({
  screened: z.number(),
  matches: z.number(),
  matchSquares: z.number(),
  hits: z.number(),
  hitSquares: z.number(),
  searchesAgain: z.number(),
  changes: z.number(),
  changeSquares: z.number(),
});

/** What the last `limit` comparable runs of the same roster and account before this one found. */
export async function readFormerFindings(
  database: Queryable,
  runId: number,
  limit: number,
): Promise<readonly RunFindings[]> {
  return database.query(
    findingsRow,
    // Whom a list or a flag has chosen is no usual crowd.
    `select watch.screened, watch.matches, watch.match_squares as "matchSquares", watch.hits, watch.hit_squares as "hitSquares",
       coalesce(watch.searches_again, 0) as "searchesAgain", coalesce(watch.changes, 0) as changes,
       coalesce(watch.change_squares, 0) as "changeSquares"
     from run
     join run former on former.roster_id = run.roster_id and former.account_id = run.account_id and former.run_id < run.run_id
     join run_watch watch on watch.run_id = former.run_id
     where run.run_id = $1 and watch.is_comparable and watch.screened > 0 and former.selection in ('due', 'all')
     order by former.run_id desc
     limit $2`,
    [runId, limit],
  );
}

/** Saves what watching a run came to, in place of what an earlier end of the same run gave. */
export async function saveRunWatch(
  transaction: Queryable,
  runId: number,
  watch: { findings: RunFindings; isComparable: boolean } & WatchFacts,
): Promise<void> {
  const { findings, isComparable, rates, listCap, volume } = watch;
  await transaction.execute(
    `insert into run_watch (
       run_id, is_comparable, screened, matches, match_squares, hits, hit_squares, rates, cap, cap_standing, capped_customers,
       searches_again, changes, change_squares, volume
     )
     values ($1, $2, $3, $4, $5, $6, $7, $8::text::jsonb, $9, $10, $11, $12, $13, $14, $15::text::jsonb)
     on conflict (run_id) do update set
       is_comparable = excluded.is_comparable, screened = excluded.screened, matches = excluded.matches,
       match_squares = excluded.match_squares, hits = excluded.hits, hit_squares = excluded.hit_squares, rates = excluded.rates,
       cap = excluded.cap, cap_standing = excluded.cap_standing, capped_customers = excluded.capped_customers, searches_again = excluded.searches_again, changes = excluded.changes,
       change_squares = excluded.change_squares, volume = excluded.volume`,
    [
      runId,
      isComparable,
      findings.screened,
      findings.matches,
      findings.matchSquares,
      findings.hits,
      findings.hitSquares,
      rates === null ? null : JSON.stringify(rates),
      listCap?.length ?? null,
      listCap?.standing ?? null,
      listCap?.customers ?? null,
      findings.searchesAgain,
      findings.changes,
      findings.changeSquares,
      volume === null ? null : JSON.stringify(volume),
    ],
  );
}

const rate = z.object({
  perThousand: z.number(),
  usual: z.number().nullable(),
  formerRuns: z.number(),
  verdict: z.enum(['usual', 'low', 'high', 'unknown']),
});

const watchRow = z
  .object({
    rates: z.object({ matches: rate, hits: rate }).nullable(),
    length: z.number().nullable(),
    standing: z.enum(['known', 'found', 'gone']).nullable(),
    customers: z.number().nullable(),
    volume: rate.nullable(),
  })
  .transform(
    ({ rates, length, standing, customers, volume }): WatchFacts => ({
      rates,
      volume,
      listCap: length === null || standing === null || customers === null ? null : { length, standing, customers },
    }),
  );

/** What watching a run came to; null for a run that was never watched. */
export async function readRunWatch(database: Queryable, runId: number): Promise<WatchFacts | null> {
  const rows = await database.query(
    watchRow,
    `select rates, cap as length, cap_standing as standing, capped_customers as customers, volume from run_watch where run_id = $1`,
    [runId],
  );
  return rows[0] ?? null;
}
