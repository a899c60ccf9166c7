import { expect, test } from 'vitest';
import { testDatabases } from '../helpers/databases.js';
import { killInviters } from '../helpers/kill-inviters.js';

const databases = testDatabases('postgres');

test('inviters that are killed ten times at any moment invite nobody twice', { timeout: 180_000 }, async () => {
  const { kills, customers, timesInvited, last } = await killInviters(databases, 10, 7);
  expect(last.exitCode).toBe(0);
  expect(kills).toBe(10);
  expect([...timesInvited.values()].filter((times) => times !== 1)).toEqual([]);
  expect(timesInvited.size).toBe(customers);
});
