import { findDeadChecks } from '../../store/checks.js';
import { assertLease, releaseLease, tryAcquireLease } from '../../store/leases.js';
import { markInFlightUnknown } from '../../store/ledger.js';
import { leaseTtlMs } from '../session/keep-lease.js';
import type { Workplace } from '../workplace.js';
import { endCheck } from './end-check.js';

const failure = { code: 'interrupted', message: 'its process ended before an answer was kept; ask again' };

/** Closes the single checks whose processes have died, so that none stays `running`; what they had sent counts as perhaps billed. */
export async function closeDeadChecks({ database, clock, owner }: Workplace): Promise<void> {
  for (const { runId, leaseKey } of await findDeadChecks(database)) {
    // Under its lease nobody else writes the run: neither its own process, should it wake up, nor another one that closes it.
    const answer = await tryAcquireLease(database, leaseKey, owner, leaseTtlMs);
    if (!('acquired' in answer)) continue;
    const lease = answer.acquired;
    await database.transaction(async (transaction) => {
      await assertLease(transaction, lease);
      const isStillOpen = (await findDeadChecks(transaction, leaseKey)).some((check) => check.runId === runId);
      if (!isStillOpen) return;
      await markInFlightUnknown(transaction, runId);
      await endCheck(transaction, runId, failure, clock.now());
    });
    await releaseLease(database, lease);
  }
}
