import { expect, test } from 'vitest';
import { testDatabases } from '../helpers/databases.js';
import { printFigure } from '../helpers/figures.js';
import { killInviters } from '../helpers/kill-inviters.js';

const databases = testDatabases('postgres');

test('inviters that are killed a hundred times at any moment invite nobody twice', { timeout: 900_000 }, async () => {
  const { kills, customers, timesInvited, unknown, last } = await killInviters(databases, 100, 11);
  printFigure(`${kills} kills, ${customers} customers, ${unknown} invitations of unknown outcome at a death`);
  expect(last.exitCode).toBe(0);
  expect(kills).toBe(100);
  expect(unknown).toBeGreaterThan(0);
  expect([...timesInvited.values()].filter((times) => times !== 1)).toEqual([]);
  expect(timesInvited.size).toBe(customers);
});
