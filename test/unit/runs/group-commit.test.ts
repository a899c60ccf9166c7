import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openGroupCommit } from '../../../src/runs/screening/search-many.js';

it('everything is saved once and in order, and no more than the limit is ever unsaved', async () => {
  const saved: number[] = [];
  let added = 0;
  let most = 0;
  const commit = openGroupCommit<number>({ maxItems: 10, maxDelayMs: 5 }, async (items) => {
    most = Math.max(most, added - saved.length);
    await delay(1);
    saved.push(...items);
  });
  const callers = Array.from({ length: 4 }, async (_, caller) => {
    for (let turn = 0; turn < 50; turn += 1) {
      added += 1;
      await commit.add(caller * 50 + turn);
    }
  });
  await Promise.all(callers);
  await commit.close();
  expect(saved.toSorted((left, right) => left - right)).toEqual(Array.from({ length: 200 }, (_, index) => index));
  for (let caller = 0; caller < 4; caller += 1) {
    const own = saved.filter((item) => Math.floor(item / 50) === caller);
    expect(own).toEqual(own.toSorted((left, right) => left - right));
  }
  // Each caller may have one more in its hands while it waits.
  expect(most).toBeLessThanOrEqual(10 + 4);
});

it('a lone item is saved after the delay without anybody asking', async () => {
  const saved: string[] = [];
  const commit = openGroupCommit<string>({ maxItems: 10, maxDelayMs: 5 }, async (items) => {
    saved.push(...items);
  });
  await commit.add('only');
  await delay(50);
  expect(saved).toEqual(['only']);
  await commit.close();
});

it('after a failed save nothing more is saved and every caller hears why', async () => {
  let saves = 0;
  const commit = openGroupCommit<string>({ maxItems: 2, maxDelayMs: 5 }, async () => {
    saves += 1;
    throw new Error('disk full');
  });
  await commit.add('one').catch(() => undefined);
  await delay(20);
  await expect(commit.add('two')).rejects.toThrow('disk full');
  await expect(commit.close()).rejects.toThrow('disk full');
  expect(saves).toBe(1);
});
