import { z } from 'zod';
import { type Queryable, readRow } from '../database/database.js';
import { rawSql, type Sql, sql } from '../database/statement.js';
import { screeningKindsSql } from '../row-shapes.js';

/** The newest finished run of a kind and roster, and the time of the last complete one. */
const runFigure = z.object({
  kind: z.string(),
  roster: z.string().nullable(),
  state: z.string(),
  startedAt: z.date(),
  finishedAt: z.date().nullable(),
  lastSuccessAt: z.date().nullable(),
  failedControls: z.number(),
  isProven: z.boolean().nullable(),
  calls: z.record(z.string(), z.number()).nullable(),
  perSecond: z.number().nullable(),
  limitPerSecond: z.number().nullable(),
  repeated: z.number().nullable(),
  cost: z.object({ amount: z.number(), currency: z.string() }).nullable(),
});
/** The waiting alerts of a roster by severity and by age (`day`, `week`, `month`, `older`). */
const openAlerts = z.object({ roster: z.string(), severity: z.string(), age: z.string(), alerts: z.number() });

/** Unsent outbox entries by state, and the time of the oldest; dropped entries are not included. */
const outbox = z.object({ kind: z.string(), state: z.string(), entries: z.number(), oldestAt: z.date() });

const incidents = z.object({ kind: z.string(), open: z.number() });

/** The figures of an organisation at `now`, without customer data: nights and runs of these rosters; all alerts, outbox entries and incidents. */
export async function readStoredFigures(
  database: Queryable,
  organisationId: number,
  rosters: readonly string[],
  now: Date,
) {
  return {
    nights: await readNightFigures(database, organisationId, rosters),
    runs: await database.query(
      runFigure,
      // By index from the newest run; single checks and imports are not nightly work.
      sql`select run.kind, roster.name as roster, run.state, run.started_at, run.finished_at, newest.last_success as "lastSuccessAt",
         (select count(*) from control_outcome where control_outcome.run_id = run.run_id and verdict = 'failed') as "failedControls",
         (run.sweep -> 'proven')::boolean as "isProven",
         run.sums -> 'attemptsByOutcome' as calls,
         (run.health ->> 'perSecond')::float8 as "perSecond", (run.health ->> 'limitPerSecond')::float8 as "limitPerSecond",
         (run.health ->> 'repeated')::integer as repeated, nullif(run.health -> 'cost', 'null'::jsonb) as cost
       from (
         select max(run_id) filter (where state <> 'running') as run_id, max(finished_at) filter (where state = 'complete') as last_success
         from run
         where organisation_id = ${organisationId} and kind in (${screeningKindsSql}, 'sweep') and state <> 'abandoned' and ${isWholeSql('run')}
         group by kind, roster_id
       ) newest
       join run on run.run_id = newest.run_id
       left join roster on roster.roster_id = run.roster_id
       where run.roster_id is null or roster.name = any (${rosters})
       order by run.kind, roster.name`,
    ),
    openAlerts: await database.query(
      openAlerts,
      sql`select roster, severity, age, count(*) as alerts
       from (
         select roster.name as roster, alert.severity,
           case
             when ${now}::timestamptz - alert.opened_at <= interval '1 day' then 'day'
             when ${now}::timestamptz - alert.opened_at <= interval '7 days' then 'week'
             when ${now}::timestamptz - alert.opened_at <= interval '30 days' then 'month'
             else 'older'
           end as age
         from alert
         -- \`offset 0\`: alerts are few beside customers, and one after the other they are found by indexes.
         cross join lateral (
           select customer.roster_id from party join customer on customer.customer_id = party.customer_id
           where party.party_id = alert.party_id offset 0
         ) customer
         join roster on roster.roster_id = customer.roster_id
         where roster.organisation_id = ${organisationId} and alert.state in ('open', 'pending_approval')
       ) waiting
       group by roster, severity, age`,
    ),
    outbox: await database.query(
      outbox,
      sql`select kind, state, count(*) as entries, min(queued_at) as "oldestAt"
       from outbox where organisation_id = ${organisationId} and state not in ('sent', 'dropped') group by kind, state`,
    ),
    incidents: await database.query(
      incidents,
      sql`select kind, count(*) as open from incident where organisation_id = ${organisationId} and recovered_at is null group by kind`,
    ),
  };
}

/** The chunks of an organisation that workers have or may take, and its workers that are alive. */
export function readFleetFigures(database: Queryable, organisation: string) {
  return readRow(
    database,
    z.object({ openChunks: z.number(), workers: z.number() }),
    // Chunks of later waves cannot be taken yet.
    sql`select
       (select count(*) from chunk join run using (run_id) join organisation using (organisation_id)
        where organisation.name = ${organisation} and run.state = 'running' and chunk.state = 'open' and chunk.wave <= run.wave) as "openChunks",
       (select count(*) from lease
        where lease_key like 'worker/%' and split_part(lease_key, '/', 2) = ${encodeURIComponent(organisation)}
          and details is not null and expires_at > clock_timestamp()) as workers`,
  );
}

/** The newest finished night of a roster (null before the first), and the time of the last complete one. */
const nightFigure = z.object({
  roster: z.string(),
  state: z.string().nullable(),
  failedControls: z.number(),
  lastSuccessAt: z.date().nullable(),
});
/**
 * One row per roster, known or not. A night is a run over all due customers: an onboarding, a run over selected customers and an abandoned run
 * are not.
 */
function readNightFigures(database: Queryable, organisationId: number, rosters: readonly string[]) {
  return database.query(
    nightFigure,
    sql`with night as (
       select run.run_id, run.roster_id, run.state, run.finished_at
       from run join roster on roster.roster_id = run.roster_id
       where roster.organisation_id = ${organisationId} and roster.name = any (${rosters})
         and ${isNightSql} and run.state not in ('running', 'abandoned')
     ),
     ends as (
       select roster_id, max(run_id) as run_id, max(finished_at) filter (where state = 'complete') as last_success
       from night group by roster_id
     )
     select watched.name as roster, newest.state, ends.last_success as "lastSuccessAt",
       (select count(*) from control_outcome where control_outcome.run_id = ends.run_id and verdict = 'failed') as "failedControls"
     from unnest(${rosters}::text[]) watched (name)
     left join roster on roster.organisation_id = ${organisationId} and roster.name = watched.name
     left join ends on ends.roster_id = roster.roster_id
     left join run newest on newest.run_id = ends.run_id
     order by watched.name collate "C"`,
  );
}

/** SQL: whether a row of `run` is a night, which screens all due customers; an onboarding and a run over selected customers are not. */
export const isNightSql = sql`run.kind in ('screen', 'rescreen') and run.selection in ('due', 'all')`;

/** SQL: when a row of `run` was started or last resumed. */
export const takenAtSql = sql`greatest(
  run.started_at, (select max(taken_at) from run_worker where run_worker.run_id = run.run_id and not has_joined)
)`;

/** SQL: whether a row of `run` is more than a run over the dossiers or customers that events have marked. */
export const isWholeSql = (run: string): Sql => sql`${rawSql(run)}.selection is distinct from 'dirty'`;
