import { LeaseLostError } from '../../errors.js';
import { type Database, DatabaseError } from '../../store/database/database.js';
import { describeHolder, findHolder, type Lease } from '../../store/leases.js';
import { keepLease } from './keep-lease.js';

/** The right to run something, kept alive; `signal` is aborted when somebody asks to stop, or with LeaseLostError. */
export interface HeldLease {
  lease: Lease;
  signal: AbortSignal;
}

/**
 * Does `work` while keeping a lease alive, and frees it then. Throws LeaseLostError naming the new owner when the work failed because
 * another process has taken the lease over, also where all that it learned itself is that its connection had been ended.
 */
export async function underLease<T>(
  database: Database,
  lease: Lease,
  signal: AbortSignal,
  work: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const kept = keepLease(database, lease);
  try {
    const result = await work({ lease, signal: AbortSignal.any([signal, kept.signal]) });
    await kept.release();
    return result;
  } catch (error) {
    const named = await nameNewOwner(database, lease, error);
    // What cannot be freed expires; why the work failed matters more.
    await kept.release().catch(() => undefined);
    throw named;
  }
}

// Connections that ended while the process slept are found out one by one.
const mostLooks = 5;

async function nameNewOwner(database: Database, lease: Lease, error: unknown): Promise<unknown> {
  if (!(error instanceof DatabaseError || error instanceof LeaseLostError)) return error;
  for (let looks = 0; looks < mostLooks; looks += 1) {
    try {
      const holder = await findHolder(database, lease.key);
      if (holder === undefined || holder.epoch === lease.epoch) return error;
      const message = `lease ${lease.key} was taken over by ${describeHolder(holder)}, so nothing more is written`;
      return new LeaseLostError(message, { cause: error });
    } catch {
      // The next look takes another connection.
    }
  }
  return error;
}
