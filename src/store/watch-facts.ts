import { z } from 'zod';
import type { RunState } from '../reports/run-facts.js';
import type { Queryable } from './database.js';
import { runIdSql } from './run-id.js';

const runStates = [
  'running',
  'complete',
  'incomplete',
  'stopped',
  'unbalanced',
  'refused',
  'abandoned',
] as const satisfies readonly RunState[];

/** The newest run of a nightly job. */
export interface NightFacts {
  runId: number;
  /** As people see it. */
  name: string;
  state: RunState;
  reasons: readonly string[];
  /** When it began, or was last gone on with. */
  takenAt: Date;
  /** Customers whose searches failed in it. */
  failed: number;
  /** Whether a control search of it failed. */
  hasFailedCanary: boolean;
  /** Of a sweep: whether it was proven complete; null for anything else, and before its end. */
  isProven: boolean | null;
}

const nightRow = z.object({
  runId: z.number(),
  name: z.string(),
  state: z.enum(runStates),
  reasons: z.array(z.string()),
  takenAt: z.date(),
  failed: z.number(),
  hasFailedCanary: z.boolean(),
  isProven: z.boolean().nullable(),
}) satisfies z.ZodType<NightFacts>;

const nightColumns = `run.run_id as "runId", ${runIdSql('run')} as name, run.state, run.state_reasons as reasons,
  greatest(run.started_at, (select max(taken_at) from run_holder where run_holder.run_id = run.run_id)) as "takenAt",
  coalesce((run.sums #>> '{counts,failed}')::integer, 0) as failed,
  exists (select from canary_outcome where canary_outcome.run_id = run.run_id and verdict = 'failed') as "hasFailedCanary",
  (select proven from sweep where sweep.run_id = run.run_id) as "isProven"`;

/**
 * The newest run of a roster that was to screen everybody who is due; runs over chosen customers are none, nor are those that were given up
 * for a newer one. Null before the first.
 */
export async function findLastNight(
  database: Queryable,
  organisationId: number,
  roster: string,
): Promise<NightFacts | null> {
  const rows = await database.query(
    nightRow,
    `select ${nightColumns}
     from run join roster on roster.roster_id = run.roster_id
     where roster.organisation_id = $1 and roster.name = $2
       and run.kind in ('screen', 'rescreen') and run.selection in ('due', 'all') and run.state <> 'abandoned'
     order by run.run_id desc limit 1`,
    [organisationId, roster],
  );
  return rows[0] ?? null;
}

/** The newest sweep; null before the first. */
export async function findLastSweep(database: Queryable, organisationId: number): Promise<NightFacts | null> {
  const rows = await database.query(
    nightRow,
    `select ${nightColumns} from run
     where organisation_id = $1 and kind = 'sweep' and state <> 'abandoned' order by run_id desc limit 1`,
    [organisationId],
  );
  return rows[0] ?? null;
}

/** A run that has not come to its end, and whether anybody works on it. */
export interface RunningFacts {
  runId: number;
  name: string;
  kind: string;
  roster: string | null;
  owner: string;
  /** Milliseconds since its owner was last heard of; null while the owner holds the lock of the run. */
  silentMs: number | null;
  /** When it was begun, gone on with, or last saved anything. */
  activeAt: Date;
}

/** The runs that are not closed, by the locks that their owners hold at this moment of the database's clock. */
export async function readRunning(database: Queryable, organisationId: number): Promise<readonly RunningFacts[]> {
  return database.query(
    z.object({
      runId: z.number(),
      name: z.string(),
      kind: z.string(),
      roster: z.string().nullable(),
      owner: z.string(),
      silentMs: z.number().nullable(),
      activeAt: z.date(),
    }),
    `select run.run_id as "runId", ${runIdSql('run')} as name, run.kind, roster.name as roster, run.owner,
       case when not coalesce(lease.epoch = run.epoch and lease.expires_at > clock_timestamp(), false) then
         greatest(0, extract(epoch from clock_timestamp() - coalesce(
           case when lease.epoch = run.epoch then lease.heartbeat_at end, run.started_at
         )) * 1000)::float8
       end as "silentMs",
       greatest(
         run.started_at,
         (select max(taken_at) from run_holder where run_holder.run_id = run.run_id),
         (select max(committed_at) from commit_batch where commit_batch.run_id = run.run_id)
       ) as "activeAt"
     from run
     left join roster on roster.roster_id = run.roster_id
     left join lease on lease.lease_key = run.lease_key
     where run.organisation_id = $1 and run.state = 'running' and run.kind <> 'check'
     order by run.run_id`,
    [organisationId],
  );
}

/** Customers of a roster whose searches fail, against what was last told of them. */
export interface FailingFacts {
  customers: number;
  /** Whose searches did not fail yet when that was told. */
  newly: number;
  /** Without a valid answer for longer than is put up with, which was not so yet when that was told. */
  aged: number;
  /** Since when the one that waits longest has had none. */
  since: Date | null;
}

/**
 * Counts the customers in scope whose last search failed and who have had no valid answer since. `told`: the newest run and the moment when
 * they were last told of; null when they never were. `agedMs`: how long is put up with.
 */
export async function readFailing(
  database: Queryable,
  { rosterId, accountId }: { rosterId: number; accountId: number },
  { told, agedMs, now }: { told: { runId: number; at: Date } | null; agedMs: number; now: Date },
): Promise<FailingFacts> {
  const rows = await database.query(
    z.object({ customers: z.number(), newly: z.number(), aged: z.number(), since: z.date().nullable() }),
    `with plans as materialized (
       select run_id from run
       where roster_id = $1 and account_id = $2 and in_scope is not null and state not in ('running', 'unbalanced')
         and (sums #>> '{counts,failed}')::integer > 0
       order by run_id desc limit 30
     ),
     failing as (
       select party.customer_id, array_agg(screening.run_id) as failed_run_ids,
         coalesce(min(state.screened_at), min(joined.imported_at)) as since
       from plans
       join screening on screening.run_id = plans.run_id and screening.outcome = 'failed'
       join party on party.party_id = screening.party_id and party.is_current
       join customer on customer.customer_id = party.customer_id and customer.left_at is null
       join roster_import joined on joined.import_id = customer.first_import_id
       left join party_state state on state.account_id = $2 and state.party_id = party.party_id
       where screening.run_id > coalesce(state.run_id, 0)
       group by party.customer_id, party.party_id
     ),
     customers as (
       select customer_id, min(since) as since,
         bool_or(not exists (select from unnest(failed_run_ids) failed where failed <= coalesce($3::bigint, 0))) as is_new
       from failing group by customer_id
     )
     select count(*) as customers, count(*) filter (where is_new) as newly, min(since) as since,
       count(*) filter (
         where since <= $5::timestamptz - $6::float8 * interval '1 millisecond'
           and ($4::timestamptz is null or since > $4::timestamptz - $6::float8 * interval '1 millisecond')
       ) as aged
     from customers`,
    [rosterId, accountId, told?.runId ?? null, told?.at ?? null, now, agedMs],
  );
  return rows[0] ?? { customers: 0, newly: 0, aged: 0, since: null };
}
