import { z } from 'zod';
import type { Clock } from '../../clock.js';
import { LeaseLostError, RunLockedError, StoreError } from '../../errors.js';
import { type Database, findRow, findValue, type Queryable } from './database.js';
import { sql } from './statement.js';

const pollMs = 250;

// Only rows, row locks and single transactions: the embedded database grants advisory locks to everyone.

/** The right to write under a key while `epoch` is the key's current one. */
export interface Lease {
  key: string;
  epoch: number;
  owner: string;
}

/** The lease of a restore, which no process takes: the epochs of new leases start above its own. */
export const restoredKey = 'restored';

export const holderRow = z.object({
  owner: z.string(),
  epoch: z.number(),
  acquiredAt: z.date(),
  heartbeatAt: z.date(),
  heartbeatAgeMs: z.number(),
  expiresInMs: z.number(),
});
/** The holder of a lease, by the database's clock; `expiresInMs` is 0 after its expiry. */
export type LeaseHolder = z.infer<typeof holderRow>;
const heldRow = holderRow.extend({ key: z.string() });

/** SQL: a lease's row as its holder, by one reading of the database's clock. */
export const holderSql = sql`owner, epoch, acquired_at, heartbeat_at,
  greatest(0, extract(epoch from clock_timestamp() - heartbeat_at) * 1000)::float8 as "heartbeatAgeMs",
  greatest(0, extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as "expiresInMs"`;

/** SQL: whether a lease was not released. A released one expired in 1970: a clock that is set back leads no heartbeat there. */
const unreleasedSql = sql`expires_at > 'epoch'`;

/**
 * Takes the lease with the next epoch when it is free or expired, else returns its holder. `ttlMs` counts by the clock of a server; on the embedded
 * database, which this process alone has, by a monotonic clock, and a lease that this process does not hold belongs to a dead one. `deadEpoch`
 * is the epoch of a holder that has shown no heartbeat for as long as its lease lasts: it is taken from, whatever the server's clock says.
 */
export async function tryAcquireLease(
  database: Database,
  key: string,
  owner: string,
  ttlMs: number,
  deadEpoch?: number,
): Promise<{ acquired: Lease } | { holder: LeaseHolder }> {
  const takeFrom = database.dialect === 'embedded' ? await findDeadEpoch(database, key) : (deadEpoch ?? null);
  // The lock on an expired row waits for the writes of its former holder. The first of several callers takes the row; the others then find
  // it unexpired and change nothing.
  const epoch = await findValue(
    database,
    z.number(),
    sql`with dead as (
       select lease_key from lease
       where lease_key = ${key} and coalesce(epoch = ${takeFrom}::bigint, expires_at <= clock_timestamp())
       for update
     )
     insert into lease as held (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at)
     select ${key}, coalesce((select epoch from lease where lease_key = ${restoredKey}), 0) + 1, ${owner}, instant, instant,
       instant + ${ttlMs}::float8 * interval '1 millisecond'
     from (select clock_timestamp() as instant) as moment
     where (select count(*) from dead) >= 0
     on conflict (lease_key) do update set
       epoch = held.epoch + 1,
       owner = excluded.owner,
       acquired_at = excluded.acquired_at,
       heartbeat_at = excluded.heartbeat_at,
       expires_at = excluded.expires_at
     where coalesce(held.epoch = ${takeFrom}::bigint, held.expires_at <= clock_timestamp()) and exists (select from dead)
     returning epoch`,
  );
  if (epoch === null) return { holder: await readHolder(database, key) };
  noteLive(database, key, epoch, ttlMs);
  return { acquired: { key, epoch, owner } };
}

interface LiveLease {
  epoch: number;
  untilMs: number;
}

/** The leases that this process holds in the embedded database, by the monotonic clock. */
const liveLeases = new WeakMap<object, Map<string, LiveLease>>();

function noteLive(database: Pick<Database, 'dialect'>, key: string, epoch: number, ttlMs: number): void {
  if (database.dialect !== 'embedded') return;
  const live = liveLeases.get(database) ?? new Map<string, LiveLease>();
  liveLeases.set(database, live.set(key, { epoch, untilMs: performance.now() + ttlMs }));
}

/** The epoch of a lease of the embedded database that may be taken, or of none. */
async function findDeadEpoch(database: Queryable, key: string): Promise<number> {
  const holder = await findHolder(database, key);
  if (holder === null) return noEpoch;
  const live = liveLeases.get(database)?.get(key);
  const isLive = live?.epoch === holder.epoch && performance.now() < live.untilMs;
  return isLive ? noEpoch : holder.epoch;
}

const noEpoch = 0;

/** The present or last holder of a lease; null without one. */
export const findHolder = (database: Queryable, key: string): Promise<LeaseHolder | null> =>
  findRow(database, holderRow, sql`select ${holderSql} from lease where lease_key = ${key}`);

async function readHolder(database: Queryable, key: string): Promise<LeaseHolder> {
  const holder = await findHolder(database, key);
  if (holder) return holder;
  throw new StoreError('lease_missing', `the row of lease ${key} was removed; its epochs must not be reused`);
}

/** The kinds of work that exclude each other within an organisation. */
type LeaseKind = 'screening' | 'sweep' | 'sweep-dirty' | 'reconcile' | 'check' | 'assure' | 'invite' | 'job' | 'worker';

/**
 * The key of a lease: the kind of work, the organisation, and what the lease is about. A slash in the name of an organisation is escaped, so
 * that the keys of two organisations always differ.
 */
export const toLeaseKey = (kind: LeaseKind, organisation: string, ...about: readonly string[]): string =>
  [kind, encodeURIComponent(organisation), ...about].join('/');

/** All leases of an organisation that are held or were left by a dead holder, without released ones. */
export async function readHeldLeases(database: Queryable, organisation: string) {
  return database.query(
    heldRow,
    sql`select lease_key as key, ${holderSql} from lease
     where ${unreleasedSql} and split_part(lease_key, '/', 2) = ${encodeURIComponent(organisation)} order by lease_key`,
  );
}

/** Describes a holder: owner, start, and age of the last heartbeat. */
export const describeHolder = ({ owner, acquiredAt, heartbeatAgeMs }: LeaseHolder): string =>
  `${owner} since ${acquiredAt.toISOString()}, last heartbeat ${(heartbeatAgeMs / 1_000).toFixed(1)} s ago`;

/** Extends the lease to `ttlMs` from now; false when another process took it, or it was released. */
export async function renewLease(database: Database, lease: Lease, ttlMs: number): Promise<boolean> {
  // An expired lease that no process took can be renewed; a released one has expires_at = acquired_at.
  const renewed = await database.execute(
    sql`update lease set heartbeat_at = clock_timestamp(),
       expires_at = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
     where lease_key = ${lease.key} and epoch = ${lease.epoch} and ${unreleasedSql}`,
  );
  if (renewed === 1) noteLive(database, lease.key, lease.epoch, ttlMs);
  return renewed === 1;
}

/** Releases the lease and keeps its row and epoch; does nothing when it is already lost. */
export async function releaseLease(database: Queryable, lease: Lease): Promise<void> {
  // Neither a late heartbeat nor a late write can renew it.
  await database.execute(
    sql`update lease set expires_at = 'epoch' where lease_key = ${lease.key} and epoch = ${lease.epoch}`,
  );
  const live = liveLeases.get(database);
  if (live?.get(lease.key)?.epoch === lease.epoch) live.delete(lease.key);
}

/**
 * Throws LeaseLostError unless the lease is current, and keeps it until the transaction ends. It is the first statement of each write of a
 * run.
 */
export async function assertLease(transaction: Queryable, lease: Lease): Promise<void> {
  // The lock makes a takeover wait for the commit and does not block the own heartbeat.
  const epoch = await findValue(
    transaction,
    z.number(),
    sql`select epoch from lease where lease_key = ${lease.key} and epoch = ${lease.epoch} and ${unreleasedSql} for key share`,
  );
  if (epoch !== null) return;
  throw new LeaseLostError(`lease ${lease.key} with epoch ${lease.epoch} is no longer ours, so nothing is written`);
}

const namedAfterMs = 1_000;

/**
 * Takes the lease, also from a dead holder; rejects with the signal's reason when aborted. Throws RunLockedError with the holder when its
 * heartbeat advances, within two seconds when it renews every 1.5 s. A holder without a new heartbeat is waited for until its lease
 * expires, and at most `ttlMs` by this process's monotonic clock: the database's clock may have been set back.
 */
export async function waitForLease(
  database: Database,
  clock: Clock,
  lease: {
    key: string;
    owner: string;
    ttlMs: number;
    signal?: AbortSignal | undefined;
    onWait?: (holder: LeaseHolder, atMostMs: number) => void;
  },
): Promise<Lease> {
  const { key, owner, ttlMs, signal, onWait } = lease;
  const since = clock.elapsedMs();
  let first: LeaseHolder | undefined;
  let isNamed = false;
  for (;;) {
    const waitedMs = clock.elapsedMs() - since;
    const deadEpoch = waitedMs >= ttlMs ? first?.epoch : undefined;
    const answer = await tryAcquireLease(database, key, owner, ttlMs, deadEpoch);
    if ('acquired' in answer) return answer.acquired;
    const { holder } = answer;
    first ??= holder;
    if (holder.epoch !== first.epoch || holder.heartbeatAt.getTime() !== first.heartbeatAt.getTime()) {
      const heldMs = holder.heartbeatAt.getTime() - holder.acquiredAt.getTime() + holder.heartbeatAgeMs;
      throw new RunLockedError(`${key} is held by ${describeHolder(holder)}`, holder.owner, heldMs);
    }
    const atMostMs = Math.max(0, Math.min(holder.expiresInMs, ttlMs - waitedMs));
    if (waitedMs >= namedAfterMs && !isNamed) {
      isNamed = true;
      onWait?.(holder, atMostMs);
    }
    await clock.sleep(Math.max(1, Math.min(pollMs, atMostMs)), signal);
  }
}
