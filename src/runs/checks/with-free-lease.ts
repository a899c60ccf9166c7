import { tryAcquireLease } from '../../store/leases.js';
import { leaseTtlMs } from '../session/keep-lease.js';
import { withLease } from '../session/run-session.js';
import { type HeldLease, underLease } from '../session/under-lease.js';
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
    return underLease(database, answer.acquired, signal, work);
  }
  return withLease(workplace, leaseKeys.at(-1) ?? '', signal, work);
}
