import { expect, it } from 'vitest';
import { shiftedClock } from '../../src/clock.js';
import { RunLockedError } from '../../src/errors.js';
import { keepLease, leaseTtlMs } from '../../src/runs/session.js';
import { assertLease, waitForLease } from '../../src/store/leases.js';
import { testDatabases } from '../helpers/databases.js';

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
  // A merge of a large roster, longer than the lease lives.
  const merge = holder.transaction(async (transaction) => {
    await assertLease(transaction, lease);
    await transaction.execute('select pg_sleep(10)');
  });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const begin = performance.now();
  const answer = await waitForLease(asker, shiftedClock(0), {
    key: lease.key,
    owner: 'asker',
    ttlMs: leaseTtlMs,
  }).catch((error: unknown) => error);
  const waitedMs = performance.now() - begin;
  await merge;
  await kept.release();
  expect.soft(answer).toBeInstanceOf(RunLockedError);
  expect.soft(waitedMs).toBeLessThan(2_000);
});
