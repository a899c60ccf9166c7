import { LeaseLostError } from '../../errors.js';
import type { Database } from '../../store/database/database.js';
import { type Lease, releaseLease, renewLease } from '../../store/leases.js';

/** How long a lease lives without a heartbeat, by the database's clock; a dead owner's is taken over after at most this. */
export const leaseTtlMs = 8_000;
const heartbeatMs = 1_000;

/** A lease kept alive in the background; `signal` is aborted with LeaseLostError when it is lost. */
export interface KeptLease {
  signal: AbortSignal;
  /** Ends the heartbeat and frees the lease. */
  release(): Promise<void>;
}

/** Renews the lease every second until it is released. */
export function keepLease(database: Database, lease: Lease): KeptLease {
  const lost = new AbortController();
  let renewal: Promise<void> = Promise.resolve();
  const renew = async (): Promise<void> => {
    // A heartbeat that fails for once is no loss: the lease lives on until it expires, and every write checks it anyway.
    const isOurs = await renewLease(database, lease, leaseTtlMs).catch(() => true);
    if (!isOurs) lost.abort(new LeaseLostError(`lease ${lease.key} was taken over by another process`));
  };
  let isRenewing = false;
  const timer = setInterval(() => {
    // A database that is out of reach keeps a heartbeat waiting: the next ones would only queue behind it.
    if (isRenewing) return;
    isRenewing = true;
    renewal = renew().finally(() => {
      isRenewing = false;
    });
  }, heartbeatMs);
  timer.unref();
  return {
    signal: lost.signal,
    release: async () => {
      clearInterval(timer);
      await renewal;
      await releaseLease(database, lease);
    },
  };
}
