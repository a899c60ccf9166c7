import { z } from 'zod';
import { ConfigError, LeaseLostError } from '../../errors.js';
import { type HaltCode, haltCodes } from '../../vocabulary.js';
import { findRow, type Queryable, readColumn, readRow } from '../database/database.js';
import type { Lease } from '../database/leases.js';
import { sql } from '../database/statement.js';
import { saveRunWorker } from '../runs.js';
import { paceAccountSql } from './account-pace.js';
import type { RunNumbers } from './ledger.js';
import { remainingSql } from './screenings.js';

/**
 * Cuts the remaining searches of a run into chunks of `size`, in their order. The first wave has `first` searches, each later one `each`; the
 * waves are numbered from the current one of the run. Returns the number of searches of each wave.
 */
export function openChunks(
  transaction: Queryable,
  runId: number,
  { version, size, first, each, most }: { version: string; size: number; first: number; each: number; most: number },
) {
  return transaction.query(
    z.object({ searches: z.number() }),
    sql`with placed as (
       select party_id, dense_rank() over (order by place, request_id) - 1 as position
       from (
         select request_id, party_id, min(search_order) over (partition by request_id) as place
         from (${remainingSql(runId)}) planned
       ) remaining
     ), waved as (
       select party_id, position,
         case when position < ${first}::bigint then 0 else 1 + (position - ${first}::bigint) / ${each}::bigint end as wave
       from placed where position < ${most}::bigint
     ), cut as (
       select wave, (position - case when wave = 0 then 0 else ${first}::bigint + (wave - 1) * ${each}::bigint end) / ${size}::bigint as place,
         array_agg(party_id order by position, party_id) as party_ids, count(distinct position)::integer as searches
       from waved group by 1, 2
     ), opened as (
       insert into chunk (run_id, number, wave, party_ids, searches, version)
       select ${runId}, (select coalesce(max(number), 0) from chunk where run_id = ${runId}) + row_number() over (order by cut.wave, place),
         run.wave + cut.wave, party_ids, searches, ${version}
       from cut join run on run.run_id = ${runId}
       returning wave, searches
     )
     select sum(searches)::integer as searches from opened group by wave order by wave`,
  );
}

const claimRow = z.object({
  runId: z.number(),
  number: z.number(),
  wave: z.number(),
  partyIds: z.array(z.number()),
  epoch: z.number(),
  formerWorker: z.number().nullable(),
});
/** A chunk that has ended so many processes is given to no other. */
export const mostDeaths = 10;
/** The right of a process to search a chunk and to write its answers while `epoch` is the chunk's. */
export interface ChunkClaim extends Omit<z.infer<typeof claimRow>, 'formerWorker'> {
  /** The number of the process in the run. */
  worker: number;
}

/** Which chunks a process may claim: those of runs of its own account, version and settings. `joined` has its numbers by run. */
interface ClaimScope {
  joined: ReadonlyMap<number, Pick<RunNumbers, 'worker'>>;
  accountId: number;
  version: string;
  settingsDigest: string;
  takenAt: Date;
}

/**
 * Claims the next open chunk that no living process holds; null when there is none. Calls of a dead holder become unknown: the service may have
 * billed them.
 * A process joins a run with its first chunk.
 */
export async function claimChunk(
  transaction: Queryable,
  { key, epoch, owner }: Lease,
  { joined, accountId, version, settingsDigest, takenAt }: ClaimScope,
): Promise<ChunkClaim | null> {
  const claimed = await findRow(
    transaction,
    claimRow,
    sql`with free as (
       select chunk.run_id, chunk.number, chunk.worker as former_worker, run.wave
       from chunk join run using (run_id)
       where exists (select from lease where lease_key = ${key} and epoch = ${epoch} and expires_at > clock_timestamp())
         and chunk.state = 'open' and chunk.wave <= run.wave and run.state = 'running' and run.account_id = ${accountId}
         and chunk.deaths < ${mostDeaths} and chunk.version = ${version} and run.settings_digest = ${settingsDigest}
         and not exists (
           select from lease
           where lease.lease_key = chunk.lease_key and lease.epoch = chunk.lease_epoch and lease.expires_at > clock_timestamp()
         )
       order by chunk.run_id, chunk.number limit 1
       -- A former holder that still writes is skipped until its transaction has ended.
       for update of chunk skip locked
     )
     update chunk set epoch = chunk.epoch + 1, lease_key = ${key}, lease_epoch = ${epoch}, claimed_at = clock_timestamp(),
       -- Whoever lives gives it back.
       deaths = deaths + case when lease_key is null then 0 else 1 end
     from free where chunk.run_id = free.run_id and chunk.number = free.number
     returning chunk.run_id, chunk.number, free.wave, chunk.party_ids, chunk.epoch, free.former_worker`,
  );
  if (claimed === null) return null;
  const { formerWorker, ...claim } = claimed;
  const { runId } = claim;
  if (formerWorker !== null) {
    await transaction.execute(
      sql`update call set outcome = 'unknown'
       where run_id = ${runId} and outcome = 'in_flight'
         and request_id in (select request_id from planned where run_id = ${runId} and party_id = any (${claim.partyIds}))`,
    );
  }
  const worker =
    joined.get(runId)?.worker ??
    (await saveRunWorker(transaction, runId, { epoch, owner, takenAt, differences: [] }, true));
  await transaction.execute(
    sql`update chunk set worker = ${worker} where run_id = ${runId} and number = ${claim.number}`,
  );
  return { ...claim, worker };
}

/**
 * Throws LeaseLostError unless the claim holds, and keeps it until the transaction ends; it is the first statement of each write. Returns whether
 * no further search may begin.
 */
export async function assertClaim(
  transaction: Queryable,
  { runId, number, epoch }: ChunkClaim,
): Promise<{ isStopped: boolean }> {
  const row = await findRow(
    transaction,
    z.object({ isStopped: z.boolean() }),
    sql`select chunk.state = 'stopped' as is_stopped
     from chunk join run using (run_id)
     where chunk.run_id = ${runId} and chunk.number = ${number} and chunk.epoch = ${epoch} and run.state = 'running'
     for key share of chunk`,
  );
  if (row !== null) return row;
  throw new LeaseLostError(`chunk ${number} of run ${runId} is no longer ours, so nothing is written`);
}

/** Ends a claim whose searches were all made, or gives the chunk back for another process; `failed` counts as a death. */
export async function leaveChunk(
  transaction: Queryable,
  { runId, number, epoch }: ChunkClaim,
  end: 'done' | 'given_back' | 'failed',
): Promise<void> {
  const isDone = end === 'done';
  await transaction.execute(
    sql`update chunk set lease_key = null, lease_epoch = null, done_at = case when ${isDone} then clock_timestamp() end,
       deaths = deaths + ${end === 'failed' ? 1 : 0}, state = case when ${isDone} and state = 'open' then 'done' else state end
     where run_id = ${runId} and number = ${number} and epoch = ${epoch}`,
  );
}

/** Stops the chunks of a run: no further search begins, and what is under way may still be saved. */
export async function stopChunks(transaction: Queryable, runId: number): Promise<void> {
  // In one order, and beside those who write under a claim, so that nobody waits for another in a circle.
  await transaction.execute(
    sql`select from chunk where run_id = ${runId} and state = 'open' order by number for no key update`,
  );
  await transaction.execute(sql`update chunk set state = 'stopped' where run_id = ${runId} and state = 'open'`);
}

/** Stops the run of a claim because of what its process found. */
export async function haltByChunk(
  transaction: Queryable,
  claim: ChunkClaim,
  { code, message }: { code: HaltCode; message: string },
): Promise<void> {
  const { runId, number, epoch } = claim;
  await stopChunks(transaction, runId);
  await transaction.execute(
    sql`update chunk set halted_by = ${code}, halt_reason = ${message}
     where run_id = ${runId} and number = ${number} and epoch = ${epoch}`,
  );
}

/** Takes all chunks of a run from their processes, which write nothing more. */
export async function endChunks(transaction: Queryable, runId: number): Promise<void> {
  // The lock waits for a transaction that writes answers under a claim.
  await transaction.execute(
    sql`select from chunk where run_id = ${runId} and state <> 'done' order by number for update`,
  );
  await transaction.execute(
    sql`update chunk set epoch = epoch + 1, lease_key = null, lease_epoch = null, halted_by = null, halt_reason = null,
       state = case when state = 'open' then 'stopped' else state end
     where run_id = ${runId} and state <> 'done'`,
  );
}

/** How far the chunks of a run of an account are. */
export function readChunkProgress(database: Queryable, runId: number, accountId: number) {
  return readRow(
    database,
    z.object({
      /** Open chunks of the current wave, and of those after it. */
      open: z.number(),
      later: z.number(),
      /** Chunks that a living process holds. */
      held: z.number(),
      done: z.number(),
      /** The searches of chunks that are done. */
      searches: z.number(),
      /** The calls of all processes of the run. */
      calls: z.number(),
      haltedBy: z.enum(haltCodes).nullable(),
      haltReason: z.string().nullable(),
      /** An open chunk that is given to no other process. */
      abandoned: z.number().nullable(),
      /** How much longer the service wants no call of the account. */
      pauseMs: z.number(),
    }),
    sql`select count(*) filter (where chunk.state = 'open' and chunk.wave <= run.wave)::integer as open,
       count(*) filter (where chunk.state = 'open' and chunk.wave > run.wave)::integer as later,
       count(*) filter (where lease.expires_at > clock_timestamp())::integer as held,
       count(*) filter (where chunk.state = 'done')::integer as done,
       coalesce(sum(chunk.searches) filter (where chunk.state = 'done'), 0)::integer as searches,
       (select coalesce(sum(calls), 0)::integer from run_worker where run_worker.run_id = ${runId}) as calls,
       min(chunk.halted_by) as halted_by, (array_agg(chunk.halt_reason order by chunk.halted_by))[1] as halt_reason,
       min(chunk.number) filter (where chunk.state = 'open' and chunk.deaths >= ${mostDeaths}) as abandoned,
       coalesce((
         select extract(epoch from greatest(paused_until, clock_timestamp()) - clock_timestamp())::float8 * 1000
         from account_pace where account_id = ${paceAccountSql(accountId)}
       ), 0) as pause_ms
     from run
     left join chunk on chunk.run_id = run.run_id
     left join lease on lease.lease_key = chunk.lease_key and lease.epoch = chunk.lease_epoch
     where run.run_id = ${runId}`,
  );
}

/** What a worker's login needs besides reading, by table; docs/scaling.md has the grants. */
const workerRights: Readonly<Record<string, readonly string[]>> = {
  account: ['insert', 'update'],
  account_pace: ['insert', 'update'],
  batch: ['insert'],
  call: ['insert', 'update'],
  change: ['insert'],
  chunk: ['update'],
  failure: ['insert'],
  lease: ['insert', 'update', 'delete'],
  listed_party: ['insert'],
  next_state: ['insert'],
  planned: ['select'],
  response: ['insert'],
  run: ['update'],
  run_worker: ['insert', 'update'],
};

/** Throws ConfigError when this login lacks a right that a worker needs: its calls would be paid for in vain. */
export async function requireWorkerRights(database: Queryable): Promise<void> {
  const wanted = Object.entries(workerRights).flatMap(([table, rights]) => rights.map((right) => ({ table, right })));
  const lacking = await readColumn(
    database,
    z.string(),
    sql`select upper(privilege) || ' on ' || name as lacking
     from unnest(${wanted.map(({ table }) => table)}::text[], ${wanted.map(({ right }) => right)}::text[]) wanted (name, privilege)
     where not case privilege
       when 'delete' then has_table_privilege(name, privilege)
       else has_any_column_privilege(name, privilege)
     end`,
  );
  if (lacking.length === 0) return;
  const message = `its login lacks ${lacking.join(', ')}: give it the rights of a worker (docs/scaling.md), then start the worker again`;
  throw new ConfigError([{ where: 'DATABASE_URL', path: '', message }]);
}

const reportSchema = z.object({
  version: z.string(),
  settingsDigest: z.string(),
  /** The account of its key. */
  accountId: z.number(),
  /** Since when it finds the service out of reach; null while it does not. */
  outageSince: z.iso.datetime().nullable(),
  /** Whether the service has answered one of its searches in the last seconds. */
  isAnswered: z.boolean(),
  /** By how many seconds its clock is ahead of the database's. */
  clockAhead: z.number(),
});
/** What a worker reports with its lease. */
type WorkerReport = z.infer<typeof reportSchema>;

/** Stores what a worker reports, with its clock. */
export async function reportWorker(
  database: Queryable,
  { key, epoch }: Lease,
  report: Omit<WorkerReport, 'clockAhead'>,
  now: Date,
): Promise<void> {
  await database.execute(
    sql`update lease set details = ${JSON.stringify(report)}::jsonb || jsonb_build_object(
         'clockAhead', round(extract(epoch from ${now}::timestamptz - clock_timestamp()))
       )
     where lease_key = ${key} and epoch = ${epoch}`,
  );
}

/** Whether a worker makes searches for runs of this version, settings and account. */
export const isAble = (
  worker: Pick<WorkerReport, 'version' | 'settingsDigest' | 'accountId'>,
  wanted: { version: string; settingsDigest: string; accountId: number },
): boolean =>
  worker.version === wanted.version &&
  worker.settingsDigest === wanted.settingsDigest &&
  worker.accountId === wanted.accountId;

/** The living workers of an organisation, by their owner. */
export async function readWorkers(database: Queryable, organisation: string) {
  return database.query(
    z.object({ owner: z.string(), ...reportSchema.shape }),
    sql`select owner, details ->> 'version' as version, details ->> 'settingsDigest' as settings_digest,
       (details -> 'accountId')::bigint as account_id, details ->> 'outageSince' as outage_since, (details -> 'isAnswered')::boolean as is_answered, (details ->> 'clockAhead')::integer as clock_ahead
     from lease
     where lease_key like 'worker/%' and split_part(lease_key, '/', 2) = ${encodeURIComponent(organisation)}
       and details is not null and expires_at > clock_timestamp()
     order by owner`,
  );
}

/** Removes the leases of workers that ended an hour ago or earlier; none of them comes back under its key. */
export async function dropDeadWorkers(database: Queryable): Promise<void> {
  await database.execute(
    sql`delete from lease where lease_key like 'worker/%' and expires_at < clock_timestamp() - interval '1 hour'
       and not exists (select from chunk where chunk.lease_key = lease.lease_key)`,
  );
}

/** What each worker has done of a run, by its owner. */
export function readRunWorkers(database: Queryable, runId: number) {
  return database.query(
    z.object({
      owner: z.string(),
      calls: z.number(),
      chunks: z.number(),
      held: z.number(),
      searches: z.number(),
      /** Its searches per second, from its first chunk on; null before its first one is done. */
      perSecond: z.number().nullable(),
    }),
    sql`select run_worker.owner, run_worker.calls, count(chunk.done_at)::integer as chunks,
       count(*) filter (where lease.expires_at > clock_timestamp())::integer as held,
       coalesce(sum(chunk.searches) filter (where chunk.done_at is not null), 0)::integer as searches,
       round(sum(chunk.searches) filter (where chunk.done_at is not null)
         / nullif(extract(epoch from max(chunk.done_at) - min(chunk.claimed_at)), 0), 1)::float8 as per_second
     from run_worker
     left join chunk on chunk.run_id = run_worker.run_id and chunk.worker = run_worker.worker
     left join lease on lease.lease_key = chunk.lease_key and lease.epoch = chunk.lease_epoch
     where run_worker.run_id = ${runId} and run_worker.has_joined
     group by run_worker.worker, run_worker.owner, run_worker.calls
     order by run_worker.worker`,
  );
}
