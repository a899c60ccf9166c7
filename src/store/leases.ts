import { z } from 'zod';
import type { Clock } from '../clock.js';
import { LeaseLostError, RunLockedError, StoreError } from '../errors.js';
import type { Database, Queryable } from './database/database.js';

const pollMs = 250;

// Rows, their locks and single transactions only: a transaction-mode pooler gives every transaction another session, so nothing that
// lives in a session (advisory locks, settings, prepared names) may carry a lease.

/** The right to write under a key, as long as `epoch` is the key's current one. */
export interface Lease {
  key: string;
  epoch: number;
  owner: string;
}

/** The outcome of asking for a lease. */
export type LeaseAnswer = { acquired: Lease } | { holder: LeaseHolder };

/** `takeFrom`: take the lease also from this epoch although it has not expired, because its holder is known to be dead. */
export interface LeaseOptions {
  takeFrom?: number;
}

/** The lease that a restore leaves, which nobody takes: the epochs of new leases begin above its own. */
export const restoredKey = 'restored';

const epochRow = z.object({ epoch: z.number() });
/** A lease's row as its holder. */
export const holderRow = z.object({
  owner: z.string(),
  epoch: z.number(),
  acquiredAt: z.date(),
  heartbeatAt: z.date(),
  heartbeatAgeMs: z.number(),
  expiresInMs: z.number(),
});
/** Who holds a lease, by the database's clock; `expiresInMs` is 0 once it has expired. */
export type LeaseHolder = z.infer<typeof holderRow>;
const heldRow = holderRow.extend({ key: z.string() });

/** A lease's row as its holder, by one look at the database's clock. */
const holderSql = `owner, epoch, acquired_at, heartbeat_at,
  greatest(0, extract(epoch from clock_timestamp() - heartbeat_at) * 1000)::float8 as "heartbeatAgeMs",
  greatest(0, extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as "expiresInMs"`;

/** Takes the lease with the next epoch when it is free or expired, else says who holds it; `ttlMs` counts by the database's clock. */
export async function tryAcquireLease(
  database: Queryable,
  key: string,
  owner: string,
  ttlMs: number,
  options: LeaseOptions = {},
): Promise<LeaseAnswer> {
  // Locking a dead row waits for the writes of its former holder. The first of several gets the row; the others then find it
  // unexpired and change nothing.
  const [taken] = await database.query(
    epochRow,
    `with dead as (
       select lease_key from lease
       where lease_key = $1 and (expires_at <= clock_timestamp() or epoch = $4::bigint)
       for update
     )
     insert into lease as held (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at)
     select $1, coalesce((select epoch from lease where lease_key = $5), 0) + 1, $2, instant, instant,
       instant + $3::float8 * interval '1 millisecond'
     from (select clock_timestamp() as instant) as moment
     where (select count(*) from dead) >= 0
     on conflict (lease_key) do update set
       epoch = held.epoch + 1,
       owner = excluded.owner,
       acquired_at = excluded.acquired_at,
       heartbeat_at = excluded.heartbeat_at,
       expires_at = excluded.expires_at
     where (held.expires_at <= clock_timestamp() or held.epoch = $4::bigint) and exists (select from dead)
     returning epoch`,
    [key, owner, ttlMs, options.takeFrom ?? null, restoredKey],
  );
  if (!taken) return { holder: await readHolder(database, key) };
  const lease = { key, epoch: taken.epoch, owner };
  rememberTaken(database, lease);
  return { acquired: lease };
}

/** Who holds a lease, or held it last; undefined when nobody ever did. */
export async function findHolder(database: Queryable, key: string): Promise<LeaseHolder | undefined> {
  const [holder] = await database.query(holderRow, `select ${holderSql} from lease where lease_key = $1`, [key]);
  return holder;
}

async function readHolder(database: Queryable, key: string): Promise<LeaseHolder> {
  const holder = await findHolder(database, key);
  if (!holder)
    throw new StoreError('lease_missing', `the row of lease ${key} was removed; its epochs must not be reused`);
  return holder;
}

/** Every lease that is held now or was left by a holder that died: whoever released one holds nothing. */
export async function readHeldLeases(database: Queryable): Promise<readonly (LeaseHolder & { key: string })[]> {
  return database.query(
    heldRow,
    `select lease_key as key, ${holderSql} from lease where expires_at > acquired_at order by lease_key`,
  );
}

/** A holder in words for an operator: who, since when, and how long ago it was last heard of. */
export const describeHolder = ({ owner, acquiredAt, heartbeatAgeMs }: LeaseHolder): string =>
  `${owner} since ${acquiredAt.toISOString()}, last heard of ${(heartbeatAgeMs / 1_000).toFixed(1)} s ago`;

/** Extends the lease to `ttlMs` from now; false when it is lost: another has taken it, or it was released. */
export async function renewLease(database: Queryable, lease: Lease, ttlMs: number): Promise<boolean> {
  // The heartbeat. An expired lease that nobody took is still ours; a released one has expires_at = acquired_at.
  const renewed = await database.execute(
    `update lease set heartbeat_at = clock_timestamp(),
       expires_at = clock_timestamp() + $3::float8 * interval '1 millisecond'
     where lease_key = $1 and epoch = $2 and expires_at > acquired_at`,
    [lease.key, lease.epoch, ttlMs],
  );
  return renewed === 1;
}

/** Frees the lease for the next asker and keeps its row and epoch; does nothing when it is already lost. */
export async function releaseLease(database: Queryable, lease: Lease): Promise<void> {
  // Expired since it was acquired: neither a late heartbeat nor a late write can bring it back.
  await database.execute('update lease set expires_at = acquired_at where lease_key = $1 and epoch = $2', [
    lease.key,
    lease.epoch,
  ]);
}

/**
 * Throws LeaseLostError unless the lease is still ours, and keeps it ours until the transaction ends; the first statement of every
 * write of a run.
 */
export async function assertLease(transaction: Queryable, lease: Lease): Promise<void> {
  // The lock makes whoever wants to take the lease over wait for our commit, and lets our own heartbeat pass.
  const rows = await transaction.query(
    epochRow,
    'select epoch from lease where lease_key = $1 and epoch = $2 and expires_at > acquired_at for key share',
    [lease.key, lease.epoch],
  );
  if (rows.length === 0) {
    throw new LeaseLostError(`lease ${lease.key} with epoch ${lease.epoch} is no longer ours, so nothing is written`);
  }
}

/**
 * Takes the lease, from a dead holder as well; rejects with the signal's reason when aborted while it waits. A holder whose heartbeat moves is alive: throws RunLockedError naming it, within two
 * seconds when it renews at least every 1.5 s. One whose heartbeat stands still is waited for until its lease expires, except on the
 * embedded database, whose folder has one owner process: there a lease that this opening did not take is taken over at once.
 */
export async function waitForLease(
  database: Database,
  clock: Clock,
  key: string,
  owner: string,
  ttlMs: number,
  signal?: AbortSignal,
): Promise<Lease> {
  let options: LeaseOptions = {};
  let before: LeaseHolder | undefined;
  for (;;) {
    const answer = await tryAcquireLease(database, key, owner, ttlMs, options);
    if ('acquired' in answer) return answer.acquired;
    const { holder } = answer;
    if (before && (holder.epoch !== before.epoch || holder.heartbeatAt.getTime() !== before.heartbeatAt.getTime())) {
      const heldMs = holder.heartbeatAt.getTime() - holder.acquiredAt.getTime() + holder.heartbeatAgeMs;
      throw new RunLockedError(`${key} is held by ${describeHolder(holder)}`, holder.owner, heldMs);
    }
    before = holder;
    if (database.dialect === 'embedded' && takenThrough.get(database)?.get(key) !== holder.epoch) {
      options = { takeFrom: holder.epoch };
    } else {
      await clock.sleep(Math.max(1, Math.min(pollMs, holder.expiresInMs)), signal);
    }
  }
}

/** The epochs taken through each opening of a database: what reports a sibling in this process from a process that has died. */
const takenThrough = new WeakMap<Queryable, Map<string, number>>();

function rememberTaken(database: Queryable, lease: Lease): void {
  const taken = takenThrough.get(database) ?? new Map<string, number>();
  takenThrough.set(database, taken.set(lease.key, lease.epoch));
}
