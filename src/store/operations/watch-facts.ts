import { z } from 'zod';
import { runStates } from '../../vocabulary.js';
import { findRow, type Queryable } from '../database/database.js';
import { sql } from '../database/statement.js';
import { runIdSql } from '../runs.js';
import { isNightSql, isWholeSql, takenAtSql } from './metrics.js';

const nightRow = z.object({
  runId: z.number(),
  /** The run id for people. */
  name: z.string(),
  state: z.enum(runStates),
  reasons: z.array(z.string()),
  /** When it began or was last resumed. */
  takenAt: z.date(),
  /** Customers whose searches failed. */
  failed: z.number(),
  /** Whether a control search failed. */
  hasFailedControl: z.boolean(),
  /** Whether a sweep was proven complete; null for other runs and before its end. */
  isProven: z.boolean().nullable(),
});
/** A run of a nightly job. */
export type NightFacts = z.infer<typeof nightRow>;

const nightColumns = sql`run.run_id, ${runIdSql('run')} as name, run.state, run.state_reasons as reasons,
  ${takenAtSql} as "takenAt", coalesce((run.sums #>> '{counts,failed}')::integer, 0) as failed,
  exists (select from control_outcome where control_outcome.run_id = run.run_id and verdict = 'failed') as "hasFailedControl",
  (run.sweep -> 'proven')::boolean as "isProven"`;

/** The newest runs of a nightly job. */
export interface Nights {
  /** The newest, ended or not; null before the first. */
  begun: NightFacts | null;
  /** The newest that has ended; null before the first end. */
  ended: NightFacts | null;
}

/** The newest runs of a roster for all due customers, or without a roster the newest sweeps; not runs of chosen customers, nor abandoned ones. */
export async function findLastNights(database: Queryable, organisationId: number, roster: string | null) {
  const isOfJobSql =
    roster === null ? sql`run.kind = 'sweep' and ${isWholeSql('run')}` : sql`roster.name = ${roster} and ${isNightSql}`;
  const findNewest = (excluded: readonly string[]): Promise<NightFacts | null> =>
    findRow(
      database,
      nightRow,
      sql`select ${nightColumns} from run left join roster on roster.roster_id = run.roster_id
       where run.organisation_id = ${organisationId} and ${isOfJobSql} and run.state <> all (${excluded})
       order by run.run_id desc limit 1`,
    );
  const begun = await findNewest(['abandoned']);
  return { begun, ended: begun?.state === 'running' ? await findNewest(['abandoned', 'running']) : begun };
}

const runningRow = z.object({
  runId: z.number(),
  name: z.string(),
  kind: z.string(),
  roster: z.string().nullable(),
  owner: z.string(),
  /** Milliseconds since the last heartbeat of its owner; null while the owner holds the lock of the run. */
  silentMs: z.number().nullable(),
  /** When it began, was resumed, or last saved something. */
  activeAt: z.date(),
});
/** A run in progress, and whether a process works on it. */
export type RunningFacts = z.infer<typeof runningRow>;

/** The runs that are not closed, by the locks of their owners at this moment of the database's clock. */
export async function readRunning(database: Queryable, organisationId: number): Promise<readonly RunningFacts[]> {
  return database.query(
    runningRow,
    sql`select run.run_id, ${runIdSql('run')} as name, run.kind, roster.name as roster, run.owner,
       case when not coalesce(lease.epoch = run.epoch and lease.expires_at > clock_timestamp(), false) then
         greatest(0, extract(epoch from clock_timestamp() - coalesce(
           case when lease.epoch = run.epoch then lease.heartbeat_at end, run.started_at
         )) * 1000)::float8
       end as "silentMs",
       greatest(
         ${takenAtSql},
         (select max(committed_at) from batch where batch.run_id = run.run_id)
       ) as "activeAt"
     from run
     left join roster on roster.roster_id = run.roster_id
     left join lease on lease.lease_key = run.lease_key
     where run.organisation_id = ${organisationId} and run.state = 'running' and run.kind <> 'check'
     order by run.run_id`,
  );
}
