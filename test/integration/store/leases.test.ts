import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/clock.js';
import { LeaseLostError, RunLockedError } from '../../../src/errors.js';
import { quietRestored } from '../../../src/store/backup/restore-backup.js';
import type { Database } from '../../../src/store/database/database.js';
import {
  assertLease,
  type Lease,
  readHeldLeases,
  releaseLease,
  renewLease,
  toLeaseKey,
  tryAcquireLease,
  waitForLease,
} from '../../../src/store/database/leases.js';
import type { DatabaseLocation } from '../../../src/store/database/open-database.js';
import { sql } from '../../../src/store/database/statement.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';
import { isFullSize, takeLeast } from '../../helpers/figures.js';

const longTtlMs = 60_000;
const shortTtlMs = 700;

describeOnEachDatabase('leases', (open, databases) => {
  let location: DatabaseLocation;
  let database: Database;
  let key = '';
  let keys = 0;

  beforeAll(async () => {
    location = await databases.locate();
    database = await open(location);
  });

  afterAll(() => database.close());

  beforeEach(() => {
    keys += 1;
    key = toLeaseKey('job', 'default', String(keys));
  });

  async function take(owner: string, ttlMs: number): Promise<Lease> {
    const answer = await tryAcquireLease(database, key, owner, ttlMs);
    if ('acquired' in answer) return answer.acquired;
    throw new Error(`held by ${answer.holder.owner}`);
  }

  const assertInTransaction = (lease: Lease) => database.transaction((transaction) => assertLease(transaction, lease));

  it('goes to the first, and the second is told who holds it and for how long', async () => {
    expect(await take('first', longTtlMs)).toEqual({ key, epoch: 1, owner: 'first' });
    const answer = await tryAcquireLease(database, key, 'second', longTtlMs);
    expect(answer).toMatchObject({ holder: { owner: 'first', epoch: 1, heartbeatAt: expect.any(Date) } });
    if (!('holder' in answer)) throw new Error('taken twice');
    expect(answer.holder.expiresInMs).toBeGreaterThan(longTtlMs - 5_000);
    expect(answer.holder.expiresInMs).toBeLessThanOrEqual(longTtlMs);
  });

  it('is won by exactly one of fifty that ask at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => tryAcquireLease(database, key, `asker ${n}`, longTtlMs)),
    );
    expect(answers.filter((answer) => 'acquired' in answer)).toHaveLength(1);
  });

  it('has no epoch after a restore that any process from before can hold, whether the backup knew the lease or not', async () => {
    const restored = await open();
    const known = await tryAcquireLease(restored, key, 'first', longTtlMs);
    await restored.transaction((transaction) => quietRestored(transaction, new Set(), 'yesterday'));
    if (!('acquired' in known)) throw new Error('the lease is not free');
    expect(await renewLease(restored, known.acquired, longTtlMs)).toBe(false);
    for (const name of [key, `${key}/later`]) {
      const answer = await tryAcquireLease(restored, name, 'second', longTtlMs);
      expect('acquired' in answer && answer.acquired.epoch).toBeGreaterThan(1_000_000_000_000);
    }
    expect((await readHeldLeases(restored, 'default')).map((held) => held.key)).toEqual([key, `${key}/later`]);
  });

  it('is taken over with the next epoch when expired or released, and never by its old epoch again', async () => {
    const first = await take('first', 1);
    await systemClock.sleep(20);
    const second = await take('second', longTtlMs);
    expect(second.epoch).toBe(2);
    expect(await renewLease(database, first, longTtlMs)).toBe(false);
    await releaseLease(database, first);
    await assertInTransaction(second);
    await releaseLease(database, second);
    expect((await take('third', longTtlMs)).epoch).toBe(3);
  });

  it('lets its holder write, and refuses the write of one that lost it', async () => {
    const lease = await take('first', 1);
    await assertInTransaction(lease);
    await systemClock.sleep(20);
    await take('second', longTtlMs);
    await expect(assertInTransaction(lease)).rejects.toBeInstanceOf(LeaseLostError);
  });

  it('cannot be written under, or renewed, once it was released', async () => {
    const lease = await take('first', longTtlMs);
    await releaseLease(database, lease);
    expect(await renewLease(database, lease, longTtlMs)).toBe(false);
    await expect(assertInTransaction(lease)).rejects.toBeInstanceOf(LeaseLostError);
  });

  it('is extended by renewal, also when it had expired and nobody took it', async () => {
    const lease = await take('first', 1);
    await systemClock.sleep(20);
    expect(await renewLease(database, lease, longTtlMs)).toBe(true);
    expect(await tryAcquireLease(database, key, 'second', longTtlMs)).toHaveProperty('holder');
  });

  it('refuses within two seconds, naming the holder, while the holder is alive', async () => {
    const lease = await take('process 7 on host', longTtlMs);
    const heartbeat = setInterval(() => void renewLease(database, lease, longTtlMs), 500);
    const leastMs = await takeLeast(2_000, async () => {
      const started = Date.now();
      const refusal = await waitForLease(database, systemClock, { key, owner: 'late', ttlMs: longTtlMs }).catch(
        (error: unknown) => error,
      );
      expect(refusal).toBeInstanceOf(RunLockedError);
      expect(refusal).toMatchObject({ holder: 'process 7 on host' });
      return Date.now() - started;
    }).finally(() => clearInterval(heartbeat));
    expect(leastMs).toBeLessThan(2_000);
  });

  it('is waited for while its holder shows no life, and taken when it expires', async () => {
    await take('dead', shortTtlMs);
    const started = Date.now();
    const lease = await waitForLease(database, systemClock, { key, owner: 'heir', ttlMs: longTtlMs });
    expect(lease).toMatchObject({ epoch: 2, owner: 'heir' });
    expect(Date.now() - started).toBeGreaterThan(shortTtlMs - 200);
  });

  if (databases.dialect === 'embedded') {
    it('is taken over at once from a process that had the folder before', async () => {
      await take('dead', longTtlMs);
      const leastMs = await takeLeast(1_000, async () => {
        await database.close();
        database = await open(location);
        const started = Date.now();
        const lease = await waitForLease(database, systemClock, { key, owner: 'heir', ttlMs: longTtlMs });
        expect(lease).toMatchObject({ owner: 'heir' });
        return Date.now() - started;
      });
      // Its heartbeat is not waited for, and its lease would have lasted a minute.
      expect(leastMs).toBeLessThan(1_000);
    });

    it.each([
      ['an hour back', -1],
      ['an hour forward', 1],
      ['a day back', -24],
    ])('stays with its live holder, and ends with a dead one, when the clock is set %s', async (_, hours) => {
      const lease = await take('first', longTtlMs);
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 });
      try {
        expect(await tryAcquireLease(database, key, 'second', longTtlMs)).toHaveProperty('holder');
        expect(await renewLease(database, lease, shortTtlMs)).toBe(true);
        expect(await tryAcquireLease(database, key, 'second', longTtlMs)).toHaveProperty('holder');
        await assertInTransaction(lease);
        await systemClock.sleep(shortTtlMs);
        expect(await waitForLease(database, systemClock, { key, owner: 'heir', ttlMs: longTtlMs })).toMatchObject({
          epoch: 2,
        });
        await expect(assertInTransaction(lease)).rejects.toBeInstanceOf(LeaseLostError);
      } finally {
        vi.useRealTimers();
      }
    });

    it('is won by exactly one of fifty that find its holder dead at once', async () => {
      await take('dead', 1);
      await systemClock.sleep(20);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) => tryAcquireLease(database, key, `asker ${n}`, longTtlMs)),
      );
      expect(answers.filter((answer) => 'acquired' in answer)).toHaveLength(1);
    });
  } else {
    it('is waited for by the own clock, and the holder named within two seconds, when that of the server is set back', async () => {
      const { epoch } = await take('dead', longTtlMs);
      await database.execute(
        sql`update lease set heartbeat_at = heartbeat_at + interval '1 hour', expires_at = expires_at + interval '1 hour'
         where lease_key = ${key}`,
      );
      const ttlMs = 2_500;
      const started = performance.now();
      const told: { owner: string; afterMs: number; atMostMs: number }[] = [];
      const onWait: Parameters<typeof waitForLease>[2]['onWait'] = ({ owner }, atMostMs) =>
        void told.push({ owner, afterMs: performance.now() - started, atMostMs });
      const lease = await waitForLease(database, systemClock, { key, owner: 'heir', ttlMs, onWait });
      const tookMs = performance.now() - started;
      expect(lease.epoch).toBe(epoch + 1);
      expect(tookMs).toBeGreaterThan(ttlMs - 10);
      // By the server's clock it would be an hour.
      expect(tookMs).toBeLessThan(60_000);
      expect(told).toEqual([{ owner: 'dead', afterMs: expect.any(Number), atMostMs: expect.any(Number) }]);
      expect(told[0]?.afterMs).toBeLessThan(2_000);
      expect(told[0]?.atMostMs).toBeLessThan(ttlMs);
    });

    it('makes whoever takes it over wait for a write that has begun, also in the moment of its expiry', async () => {
      for (let round = 0; round < (isFullSize ? 40 : 15); round += 1) {
        const asked = `${key} round ${round}`;
        const first = await tryAcquireLease(database, asked, 'slow', 40);
        if (!('acquired' in first)) throw new Error('a new lease is not free');
        let isOver = false;
        const { promise: begun, resolve: begin } = withResolvers();
        const write = database.transaction(async (transaction) => {
          await assertLease(transaction, first.acquired);
          begin();
          await systemClock.sleep(60);
          isOver = true;
        });
        await begun;
        let answer = await tryAcquireLease(database, asked, 'eager', longTtlMs);
        while (!('acquired' in answer)) answer = await tryAcquireLease(database, asked, 'eager', longTtlMs);
        expect(isOver).toBe(true);
        await write;
      }
    });
  }
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
