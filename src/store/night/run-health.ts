import { z } from 'zod';
import type { HistoryFacts, WatchFacts } from '../../reports/run-facts.js';
import { type Queryable, readRow } from '../database/database.js';
import { json, sql } from '../database/statement.js';

/**
 * Computes from the ledger the rate, repeats, breaks and cost of a run's calls, and stores them with the run. Its billable calls must be
 * stored before.
 */
export async function saveRunHealth(
  transaction: Queryable,
  runId: number,
  terms: { limitPerSecond: number; pricePerSearch?: number | undefined; currency: string },
): Promise<void> {
  const { perSecond, breaks } = await readCallTimes(transaction, runId);
  const { repeated, billable } = await readRow(
    transaction,
    z.object({ repeated: z.number(), billable: z.number() }),
    // One pass instead of a self-join, because a recent run has no statistics. A call repeats when an earlier call of its request has no
    // answer.
    sql`select coalesce(billable_attempts, 0)::integer as billable, (
       select count(*)::integer from call unanswered
       where unanswered.run_id = ${runId} and unanswered.outcome not in ('ok', 'not_sent') and exists (
         select from call again
         where again.run_id = ${runId} and again.request_id = unanswered.request_id and again.outcome <> 'not_sent'
           and (again.worker, again.number) > (unanswered.worker, unanswered.number)
       )
     ) as repeated
     from run where run_id = ${runId}`,
  );
  const { limitPerSecond, pricePerSearch, currency } = terms;
  const cost =
    pricePerSearch === undefined ? null : { amount: Math.round(billable * pricePerSearch * 100) / 100, currency };
  const health: HistoryFacts['health'] = { perSecond, limitPerSecond, repeated, breaks, billable, cost };
  await transaction.execute(sql`update run set health = ${json(health)} where run_id = ${runId}`);
}

const pauseSeconds = 60;

const timesRow = z.object({
  calls: z.number(),
  firstAt: z.date().nullable(),
  lastAt: z.date().nullable(),
  busySeconds: z.number(),
  breaks: z.object({ count: z.number(), seconds: z.number(), longestSeconds: z.number() }),
});

/**
 * The calls of a run from the ledger: the sent ones by outcome, and their number per second. Breaks of more than a minute are excluded;
 * null with fewer than two calls.
 */
export async function readRunCalls(database: Queryable, runId: number) {
  const outcomes = await database.query(
    z.object({ name: z.string(), count: z.number() }),
    sql`select coalesce(case when outcome = 'error_status' then status::text end, outcome) as name, count(*) as count
     from call where run_id = ${runId} and outcome <> 'not_sent' group by name order by name`,
  );
  const byOutcome = Object.fromEntries(outcomes.map(({ name, count }) => [name, count]));
  return { byOutcome, ...(await readCallTimes(database, runId)) };
}

async function readCallTimes(database: Queryable, runId: number) {
  const { calls, firstAt, lastAt, busySeconds, breaks } = await readRow(
    database,
    timesRow,
    sql`select count(*) as calls, min(started_at) as "firstAt", max(started_at) as "lastAt",
       coalesce(extract(epoch from sum(gap) filter (where gap < ${pauseSeconds}::float8 * interval '1 second')), 0)::float8 as "busySeconds",
       jsonb_build_object(
         'count', count(*) filter (where gap >= ${pauseSeconds}::float8 * interval '1 second'),
         'seconds', coalesce(round(extract(epoch from sum(gap) filter (where gap >= ${pauseSeconds}::float8 * interval '1 second'))), 0),
         'longestSeconds', coalesce(round(extract(epoch from max(gap) filter (where gap >= ${pauseSeconds}::float8 * interval '1 second'))), 0)
       ) as breaks
     from (
       select started_at, started_at - lag(started_at) over (order by started_at) as gap
       from call where run_id = ${runId} and outcome <> 'not_sent'
     ) calls`,
  );
  const perSecond = calls < 2 || busySeconds === 0 ? null : Math.round(((calls - 1) * 10) / busySeconds) / 10;
  return { sent: calls, firstAt, lastAt, breaks, perSecond };
}

const findingsRow = z.object({
  matches: z.number(),
  matchSquares: z.number(),
  hits: z.number(),
  hitSquares: z.number(),
  /**
   * The number of answers by length (as the service counted it), from 2. Answers with the same first listed party count once, because
   * customers of one name share its list.
   */
  answersByLength: z
    .array(z.object({ length: z.number(), answers: z.number() }))
    .transform((lengths): ReadonlyMap<number, number> => new Map(lengths.map((each) => [each.length, each.answers]))),
});
/** The findings in the answers of a run: each search counts once; the squares measure how concentrated they are. */
export type AnswerFindings = z.infer<typeof findingsRow>;

/** Computes the findings of a run in one pass over its answers. */
export async function readAnswerFindings(database: Queryable, runId: number): Promise<AnswerFindings> {
  return readRow(
    database,
    findingsRow,
    sql`with answer as materialized (
       select answered.searches, response.total, response.matches, response.hits, response.first_match_id
       from (
         select response_id, count(distinct request_id) as searches
         from screening where run_id = ${runId} and outcome = 'screened'
         group by response_id
       ) answered
       join response on response.response_id = answered.response_id
     )
     select
       coalesce(sum(searches * matches), 0)::bigint as matches,
       coalesce(sum(searches * matches ^ 2), 0)::double precision as "matchSquares",
       coalesce(sum(searches * hits), 0)::bigint as hits,
       coalesce(sum(searches * hits ^ 2), 0)::double precision as "hitSquares",
       (select coalesce(jsonb_agg(jsonb_build_object('length', total, 'answers', answers)), '[]')
        from (
          select total, count(distinct first_match_id) as answers from answer
          where total >= 2 and first_match_id is not null
          group by total
        ) by_length) as answers_by_length
     from answer`,
  );
}

const volumeRow = z.object({
  /** Searches of customers screened before under the same settings, the only ones that can show a change of the service's data. */
  searchesAgain: z.number(),
  /** Parties of one search count once. */
  changes: z.number(),
  changeSquares: z.number(),
});
/** Counts the changes of the service's data in a run per search, with the squares, which measure how concentrated they are. */
export async function readChangeVolume(database: Queryable, runId: number) {
  return readRow(
    database,
    volumeRow,
    sql`select
       (select count(distinct answer.request_id)::integer
        from party_answer answer
        left join next_state next on next.run_id = answer.run_id and next.party_id = answer.party_id
        where answer.run_id = ${runId} and not answer.is_reused and answer.plan_reason <> 'new'
          -- Changed settings are no change of the service.
          and coalesce(next.former_settings_digest = next.settings_digest, true)) as "searchesAgain",
       coalesce(sum(events), 0)::double precision as changes, coalesce(sum(events ^ 2), 0)::double precision as "changeSquares"
     from (
       select count(*)::double precision / count(distinct screening.party_id) as events
       from change_event event
       join screening on screening.run_id = event.run_id and screening.party_id = event.party_id and screening.outcome = 'screened'
       where event.run_id = ${runId} and not event.is_baseline and event.cause = 'service_data'
       group by screening.request_id
     ) by_search`,
  );
}

const runFindingsRow = findingsRow.omit({ answersByLength: true }).extend({ screened: z.number(), ...volumeRow.shape });
/** The findings in the answers of a run, summed over its answers, with the sums of their squares. */
export type RunFindings = z.infer<typeof runFindingsRow>;

/** The findings of the last `limit` comparable runs of the same roster and account. */
export async function readFormerFindings(database: Queryable, runId: number, limit: number) {
  return database.query(
    runFindingsRow,
    // Customers chosen by a list or a flag are not a typical selection.
    sql`select findings.*
     from run
     join run former on former.roster_id = run.roster_id and former.account_id = run.account_id and former.run_id < run.run_id
     cross join jsonb_to_record(former.watch -> 'findings') as findings (
       screened bigint, matches bigint, "matchSquares" double precision, hits bigint, "hitSquares" double precision,
       "searchesAgain" bigint, changes double precision, "changeSquares" double precision
     )
     where run.run_id = ${runId} and (former.watch ->> 'isComparable')::boolean and findings.screened > 0
       and former.selection in ('due', 'all')
     order by former.run_id desc
     limit ${limit}`,
  );
}

/** Saves the findings about the service of a run; replaces those of an earlier end. */
export async function saveRunWatch(
  transaction: Queryable,
  runId: number,
  watch: { findings: RunFindings; isComparable: boolean } & WatchFacts,
): Promise<void> {
  const { findings, isComparable, rates, listCap, volume } = watch;
  await transaction.execute(
    sql`update run set watch = ${json({ isComparable, findings, rates, listCap, volume })} where run_id = ${runId}`,
  );
}
