import { z } from 'zod';
import type { WatchFacts } from '../reports/list-facts.js';
import type { HistoryFacts } from '../reports/run-facts.js';
import { findRow, findValue, firstRow, type Queryable, toUpsert } from './database/database.js';
import { findingsRow, volumeRow } from './run-sums.js';

const healthShape = z.object({
  perSecond: z.number().nullable(),
  limitPerSecond: z.number(),
  repeated: z.number(),
  breaks: z.object({ count: z.number(), seconds: z.number(), longestSeconds: z.number() }),
  billable: z.number(),
  cost: z.object({ amount: z.number(), currency: z.string() }).nullable(),
}) satisfies z.ZodType<HistoryFacts['health']>;

/** By which rate and price a run's calls were made. */
interface CallTerms {
  limitPerSecond: number;
  pricePerSearch?: number | undefined;
  currency: string;
}

/** Adds up from the ledger how a run's calls went, and keeps it with the run, whose billable calls have been noted by then. */
export async function saveRunHealth(transaction: Queryable, runId: number, terms: CallTerms): Promise<void> {
  const { perSecond, breaks } = await readRunCalls(transaction, runId);
  const rows = await transaction.query(
    z.object({ repeated: z.number(), billable: z.number() }),
    // One walk, in which each call of a request but the last repeats if it was not answered: of a run that has just been, nothing is known
    // by which the table could be joined with itself.
    `select coalesce(billable_attempts, 0)::integer as billable, (
       select coalesce(sum(unanswered - case when last_unanswered = last then 1 else 0 end), 0)::integer
       from (
         select count(*) filter (where outcome <> 'ok') as unanswered, max(attempt_id) filter (where outcome <> 'ok') as last_unanswered,
           max(attempt_id) as last
         from search_attempt
         where run_id = $1 and outcome <> 'not_sent'
         group by request_id
       ) request
     ) as repeated
     from run where run_id = $1`,
    [runId],
  );
  const { repeated, billable } = firstRow(rows, 'run');
  const { limitPerSecond, pricePerSearch, currency } = terms;
  const cost =
    pricePerSearch === undefined ? null : { amount: Math.round(billable * pricePerSearch * 100) / 100, currency };
  const health: HistoryFacts['health'] = { perSecond, limitPerSecond, repeated, breaks, billable, cost };
  await transaction.execute('update run set health = $2::text::jsonb where run_id = $1', [
    runId,
    JSON.stringify(health),
  ]);
}

/** How a run's calls went; null for one that closed before it was noted. */
export function readRunHealth(database: Queryable, runId: number): Promise<HistoryFacts['health']> {
  return findValue(database, healthShape.nullable(), 'select health from run where run_id = $1', [runId]);
}

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

const runFindingsRow = findingsRow.omit({ answersByLength: true }).extend({ screened: z.number(), ...volumeRow.shape });
/** What the answers for the customers that a run screened held: sums over answers, and the same of the squares. */
export type RunFindings = z.infer<typeof runFindingsRow>;

/** What the last `limit` comparable runs of the same roster and account before this one found. */
export async function readFormerFindings(database: Queryable, runId: number, limit: number) {
  return database.query(
    runFindingsRow,
    // Whom a list or a flag has chosen is no usual crowd.
    `select watch.screened, watch.matches, watch.match_squares, watch.hits, watch.hit_squares,
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
  const { screened, matches, matchSquares, hits, hitSquares, searchesAgain, changes, changeSquares } = findings;
  const row = {
    ...{ runId, isComparable, screened, matches, matchSquares, hits, hitSquares, rates },
    ...{ cap: listCap?.length, capStanding: listCap?.status, cappedCustomers: listCap?.customers },
    ...{ searchesAgain, changes, changeSquares, volume },
  };
  await transaction.execute(...toUpsert('run_watch', row, ['run_id']));
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
    status: z.enum(['known', 'found', 'gone']).nullable(),
    customers: z.number().nullable(),
    volume: rate.nullable(),
  })
  .transform(
    ({ rates, length, status, customers, volume }): WatchFacts => ({
      rates,
      volume,
      listCap: length === null || status === null || customers === null ? null : { length, status, customers },
    }),
  );

/** What watching a run came to; null for a run that was never watched. */
export function readRunWatch(database: Queryable, runId: number): Promise<WatchFacts | null> {
  return findRow(
    database,
    watchRow,
    `select rates, cap as length, cap_standing as status, capped_customers as customers, volume from run_watch where run_id = $1`,
    [runId],
  );
}
