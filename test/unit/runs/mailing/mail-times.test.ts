import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toNextAttempt } from '../../../../src/runs/mail/deliver.js';

const now = new Date('2026-11-22T02:00:00Z');
const waitOf = (attempts: number): number => (toNextAttempt(attempts, now).getTime() - now.getTime()) / 60_000;

it('a mail is tried again after ever longer waits, and never later than in an hour', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map(waitOf)).toEqual([2, 4, 8, 16, 32, 60, 60]);
  fc.assert(fc.property(fc.integer({ min: 1, max: 1_000_000 }), (attempts) => waitOf(attempts) <= 60));
});
