import fc from 'fast-check';
import { expect, it } from 'vitest';
import { budgetSettingsSchema, toBudgetLeft, toPlanAllowance } from '../../../src/screening/budget.js';

const count = fc.integer({ min: 0, max: 20_000 });
const cap = fc.option(fc.integer({ min: 1, max: 10_000 }), { nil: undefined });
const settings = fc
  .record({
    maxSearchesPerRun: cap,
    maxSearchesPerDay: cap,
    maxSearchesPerMonth: cap,
    reserveShare: fc.double({ min: 0, max: 0.5, noNaN: true }),
  })
  .map(({ reserveShare, ...caps }) => ({ ...budgetSettingsSchema.parse(caps), reserveShare }));
const used = fc.record({ run: count, day: count, month: count });

it('what is left never lets any cap be passed, and the reserve is left alone by everybody but those it is kept for', () => {
  fc.assert(
    fc.property(settings, used, (budget, spent) => {
      const left = toBudgetLeft(budget, spent);
      expect(left.leftForReserved).toBeGreaterThanOrEqual(left.leftForAll);
      expect(left.leftForAll).toBeGreaterThanOrEqual(0);
      for (const { per, cap, reserve } of left.caps) {
        if (left.leftForReserved > 0) expect(spent[per] + left.leftForReserved).toBeLessThanOrEqual(cap);
        if (left.leftForAll > 0) expect(spent[per] + left.leftForAll).toBeLessThanOrEqual(cap - reserve);
        expect(reserve).toBeGreaterThanOrEqual(Math.floor(cap * budget.reserveShare));
      }
    }),
  );
});

it('control searches are paid out of the reserve first, and a plan together with them stays within every cap', () => {
  fc.assert(
    fc.property(settings, used, fc.integer({ min: 0, max: 500 }), (budget, spent, controls) => {
      const left = toBudgetLeft(budget, spent);
      const allowance = toPlanAllowance(left, controls);
      expect(allowance === null).toBe(left.caps.length === 0);
      if (allowance === null) return;
      const { general, reserved } = allowance;
      if (general + reserved > 0) expect(general + reserved + controls).toBeLessThanOrEqual(left.leftForReserved);
      expect(general).toBeLessThanOrEqual(left.leftForAll);
    }),
  );
});

it('a twentieth of a cap is kept unless told otherwise', () => {
  const budget = budgetSettingsSchema.parse({ maxSearchesPerMonth: 1_000, maxSearchesPerRun: 10 });
  expect(toBudgetLeft(budget, { run: 0, day: 0, month: 0 })).toMatchObject({ leftForAll: 9, leftForReserved: 10 });
  expect(toBudgetLeft(budget, { run: 0, day: 0, month: 947 })).toMatchObject({ leftForAll: 3, leftForReserved: 10 });
  expect(toBudgetLeft(budget, { run: 0, day: 0, month: 999 })).toMatchObject({ leftForAll: 0, leftForReserved: 1 });
});
