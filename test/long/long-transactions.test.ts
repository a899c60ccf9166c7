import { expect, it } from 'vitest';
import { shiftedClock } from '../../src/clock.js';
import { RunLockedError } from '../../src/errors.js';
import { keepLease, leaseTtlMs } from '../../src/runs/session.js';
import { assertLease, waitForLease } from '../../src/store/database/leases.js';
import { testDatabases } from '../helpers/databases.js';
import { takeLeast } from '../helpers/figures.js';

const databases = testDatabases('postgres');

it('a second start is told who holds the lease within two seconds while the holder is in a long transaction', async () => {
  const location = await databases.locate();
  const holder = await databases.open(location);
  const asker = await databases.open(location);
  const lease = await waitForLease(holder, shiftedClock(0), {
    key: 'screening/default/people',
    owner: 'holder',
    ttlMs: leaseTtlMs,
  });
  const kept = keepLease(holder, lease);
  let isMerging = false;
  let isOver = false;
  // A merge of a large roster.
  const merge = holder.transaction(async (transaction) => {
    await assertLease(transaction, lease);
    isMerging = true;
    while (!isOver) await transaction.execute('select pg_sleep(1)');
  });
  await expect.poll(() => isMerging).toBe(true);
  const leastMs = await takeLeast(2_000, async () => {
    const begunMs = performance.now();
    const asked = { key: lease.key, owner: 'asker', ttlMs: leaseTtlMs };
    await expect(waitForLease(asker, shiftedClock(0), asked)).rejects.toBeInstanceOf(RunLockedError);
    return performance.now() - begunMs;
  });
  isOver = true;
  await merge;
  await kept.release();
  expect(leastMs).toBeLessThan(2_000);
});
