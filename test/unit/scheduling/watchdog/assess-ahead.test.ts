import { expect, it } from 'vitest';
import { assessAhead } from '../../../../src/scheduling/watchdog/findings.js';

const later = new Date('2026-12-24T02:00:00Z');
const retail = {
  roster: 'retail',
  run: '2026-12-24-rescreen-9',
  startedAt: later,
  customers: 2,
  latestScreenedAt: later,
};

it('a clock that was ahead is told again when customers are found to be hit, and not because there are more of them or the next run began in time', () => {
  const markOf = (changes: Partial<typeof retail>) => assessAhead([{ ...retail, ...changes }])[0]?.mark;
  const begun = assessAhead([{ ...retail, customers: 0, latestScreenedAt: null }])[0];
  expect(begun?.reason).not.toContain('screened at');
  expect(begun?.mark).not.toBe(markOf({}));
  expect(markOf({ customers: 40 })).toBe(markOf({}));
  const mended = assessAhead([{ ...retail, run: null, startedAt: null }])[0];
  expect(mended?.reason).toMatch(/^2 customers screened in the future/);
  expect(mended?.mark).toBe(markOf({}));
});
