import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { assessedPartiesSql } from '../../../src/store/night/plan-sql.js';
import { testDatabases } from '../../helpers/databases.js';
import { isFullSize, printFigure } from '../../helpers/figures.js';
import { buildPlanInput, fillPlanningWorld } from '../../helpers/planning-world.js';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
const graceMs = 3 * hourMs;
const customers = 300;
const { open } = testDatabases('postgres');

it('with a cadence of several days nobody is screened later than it allows, and no night has much more than its share', async () => {
  const database = await open();
  let largest = 0;
  const days = fc.integer({ min: 2, max: 7 });
  // A night may begin earlier or later than it should.
  const lateMs = fc.array(fc.integer({ min: -25 * 60_000, max: 25 * 60_000 }), { minLength: 24, maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(days, lateMs, fc.integer({ min: 0, max: 23 }), async (days, lateMs, hour) => {
      const onboardedAt = new Date(Date.UTC(2026, 0, 1, hour, 30));
      const everybody = Array.from(
        { length: customers },
        () => ({ riskTier: 'low', screenedAt: onboardedAt }) as const,
      );
      await fillPlanningWorld(database, everybody, new Date('2100-01-01'));
      await database.runScript('analyze customer, customer_version, party, party_state');
      const lastMs = new Map(everybody.map((_, index) => [index + 1, onboardedAt.getTime()]));
      const nights: number[] = [];
      for (let night = 1; night <= 3 * days; night += 1) {
        const startMs = Date.UTC(2026, 0, 1 + night, 2) + (lateMs[night % lateMs.length] ?? 0);
        const oldestMs = startMs - Math.min(...lastMs.values());
        if (oldestMs > days * dayMs + graceMs) throw new Error(`after ${oldestMs / hourMs} hours in night ${night}`);
        const due = await screenNight(database, new Date(startMs), `${days}d`);
        for (const id of due) lastMs.set(id, startMs);
        nights.push(due.length);
      }
      const lastRound = nights.slice(-days);
      expect(lastRound.reduce((sum, count) => sum + count, 0)).toBe(customers);
      const shares = nights.map((count) => (count / customers) * days);
      // In the first round two nights may fall together, where the last of them would come too late.
      expect(Math.max(...shares)).toBeLessThan(2.5);
      largest = Math.max(largest, ...shares.slice(days));
      expect(largest).toBeLessThan(1.5);
    }),
    { numRuns: isFullSize ? 4 : 2, endOnFailure: true },
  );
  printFigure(`the fullest night of a cadence of several days: ${largest.toFixed(2)} times its share`);
});

/** Screens whoever is due the moment a night begins; gives who that was. */
async function screenNight(database: Database, now: Date, low: string): Promise<readonly number[]> {
  const assessed = assessedPartiesSql(buildPlanInput(now, { cadence: { low, reason: 'policy 4.2' } }));
  return readColumn(
    database,
    z.number(),
    sql`update party_state set screened_at = ${now}
     where party_id in (select party_id from (${assessed}) judged where reason <> 'not_due')
     returning party_id as id`,
  );
}
