import { z } from 'zod';
import { customerStatesSql } from './customer-states.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { type RunSums, runSumsSchema } from './run-sums.js';

const numbers = z.record(z.string(), z.number());
const sumsRow = z.object({ sums: numbers });
const namedRow = z.object({ name: z.string(), count: z.number() });

/** Each customer of the run once: failed before remaining before screened before skipped, and the worst state of its parties. */
const customersOfRun = `
  select party.customer_id,
    bool_or(screening.outcome <> 'skipped') as is_planned,
    bool_or(screening.outcome = 'failed') as has_failed,
    bool_or(screening.outcome = 'remaining') as has_remaining,
    bool_and(screening.outcome in ('screened', 'reused', 'skipped')) as is_answered,
    bool_and(screening.outcome in ('reused', 'skipped')) as is_reused,
    min(screening.outcome_reason) filter (where screening.outcome = 'failed') as failed_because,
    coalesce(
      min(screening.outcome_reason) filter (where screening.outcome = 'skipped' and screening.outcome_reason <> 'not_due'),
      min(screening.outcome_reason) filter (where screening.outcome = 'skipped')
    ) as skipped_because,
    max(array_position(
      ${customerStatesSql},
      case
        when screening.outcome in ('screened', 'reused') or screening.outcome_reason = 'not_due' then coalesce(state.state, 'not_screened')
        else 'not_screened'
      end
    )) as worst
  from screening
  join party using (party_id)
  join run using (run_id)
  left join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
  where screening.run_id = $1
  group by party.customer_id`;

/** Adds up a run from its stored screenings, attempts, answers and change events. */
export async function computeRunSums(database: Queryable, runId: number): Promise<RunSums> {
  const customers = await readSums(
    database,
    `select jsonb_build_object(
       'inScope', coalesce((select in_scope from run where run_id = $1), 0),
       'planned', count(*) filter (where is_planned),
       'skipped', count(*) filter (where not is_planned),
       'failed', count(*) filter (where has_failed),
       'remaining', count(*) filter (where has_remaining and not has_failed),
       'reused', count(*) filter (where is_planned and is_reused),
       'screened', count(*) filter (where is_planned and is_answered and not is_reused),
       'clear', count(*) filter (where worst = 1),
       'below_threshold', count(*) filter (where worst = 2),
       'settled_false_positive', count(*) filter (where worst = 3),
       'incompletely_seen', count(*) filter (where worst = 4),
       'not_screened', count(*) filter (where worst = 5),
       'open_hit', count(*) filter (where worst = 6),
       'confirmed', count(*) filter (where worst = 7)
     ) as sums from (${customersOfRun}) customers`,
    runId,
  );
  const work = await readSums(
    database,
    `with answered as (
       select distinct request_id, response_id from screening where run_id = $1 and outcome = 'screened'
     )
     select jsonb_build_object(
       'searches', (select count(distinct request_id) from screening where run_id = $1 and batch_id is not null and outcome <> 'reused'),
       'attempts', (select count(*) from search_attempt where run_id = $1 and outcome not in ('not_sent', 'in_flight')),
       'matches', (select count(*) from answered join match using (response_id)),
       'hits', (select count(*) from answered join match using (response_id) where match.is_hit),
       'possiblyBilledTwice', (
         select count(*) from search_attempt unknown where unknown.run_id = $1 and unknown.outcome = 'unknown' and exists (
           select from search_attempt again
           where again.run_id = $1 and again.request_id = unknown.request_id and again.attempt_id > unknown.attempt_id
             and again.outcome <> 'not_sent'
         )
       )
     ) as sums`,
    runId,
  );
  const rows = await readSums(
    database,
    `select coalesce(
       (select jsonb_build_object('rows', rows, 'customers', customers, 'rejected', rejected, 'duplicates', duplicates)
        from roster_import where run_id = $1 order by import_id desc limit 1),
       '{"rows": 0, "customers": 0, "rejected": 0, "duplicates": 0}'::jsonb
     ) as sums`,
    runId,
  );
  const baseline = await readNamed(
    database,
    'select severity as name, count(*)::integer as count from change_event where run_id = $1 and is_baseline group by severity',
    runId,
  );
  const changes = await readNamed(
    database,
    `select 'changes' as name, count(*)::integer as count from change_event where run_id = $1 and not is_baseline`,
    runId,
  );
  return runSumsSchema.parse({
    counts: { ...rows, ...customers, ...work, ...changes },
    states: customers,
    failedBecause: await readNamed(
      database,
      `select failed_because as name, count(*)::integer as count from (${customersOfRun}) customers
       where has_failed group by failed_because order by failed_because`,
      runId,
    ),
    skippedBecause: await readNamed(
      database,
      `select skipped_because as name, count(*)::integer as count from (${customersOfRun}) customers
       where not is_planned group by skipped_because order by skipped_because`,
      runId,
    ),
    baseline: { critical: 0, high: 0, medium: 0, low: 0, info: 0, ...baseline },
    attemptsByOutcome: await readNamed(
      database,
      `select coalesce(case when outcome = 'error_status' then status::text end, outcome) as name, count(*)::integer as count
       from search_attempt where run_id = $1 and outcome not in ('not_sent', 'in_flight') group by name order by name`,
      runId,
    ),
    possiblyBilledTwice: work['possiblyBilledTwice'],
  });
}

/** What the answers of a run have held so far. */
export async function countFound(database: Queryable, runId: number): Promise<{ matches: number; hits: number }> {
  const rows = await database.query(
    z.object({ matches: z.number(), hits: z.number() }),
    `select count(match.rank) as matches, count(*) filter (where match.is_hit) as hits
     from (select distinct request_id, response_id from screening where run_id = $1 and outcome = 'screened') answered
     join match using (response_id)`,
    [runId],
  );
  return firstRow(rows, 'screening');
}

async function readSums(database: Queryable, sql: string, runId: number): Promise<Record<string, number>> {
  return firstRow(await database.query(sumsRow, sql, [runId]), 'run').sums;
}

async function readNamed(database: Queryable, sql: string, runId: number): Promise<Record<string, number>> {
  const rows = await database.query(namedRow, sql, [runId]);
  return Object.fromEntries(rows.map((row) => [row.name, row.count]));
}
