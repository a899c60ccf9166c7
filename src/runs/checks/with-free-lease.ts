import { tryAcquireLease } from '../../store/leases.js';
import { keepLease, leaseTtlMs } from '../session/keep-lease.js';
import { type HeldLease, withLease } from '../session/run-session.js';
import type { Workplace } from '../workplace.js';

/**
 * Does `work` under the first of several leases that is free, so that as many may work side by side; when all are held, waits for the last
 * one and throws RunLockedError naming its holder. A lease that a process died with is used again once it has expired.
 */
export async function withFreeLease<T>(
  workplace: Workplace,
  leaseKeys: readonly string[],
  signal: AbortSignal,
  work: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const { database, owner } = workplace;
  for (const key of leaseKeys) {
    const answer = await tryAcquireLease(database, key, owner, leaseTtlMs);
    if (!('acquired' in answer)) continue;
    const kept = keepLease(database, answer.acquired);
    try {
      return await work({ lease: answer.acquired, signal: AbortSignal.any([signal, kept.signal]) });
    } finally {
      await kept.release();
    }
  }
  return withLease(workplace, leaseKeys.at(-1) ?? '', signal, work);
}
