import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlidingWindow } from '../../../src/sandbox/calls.js';

const LENGTH_MS = 1_000;

describe('a sliding window', () => {
  it('never lets more through in any second than it has places, and refuses nobody while there is one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.double({ min: 0, max: 400, noNaN: true }), { maxLength: 80 }),
        (places, gapsMs) => {
          const window = new SlidingWindow(places, LENGTH_MS);
          const accepted: number[] = [];
          let atMs = 0;
          for (const gapMs of gapsMs) {
            atMs += gapMs;
            const recent = accepted.filter((earlier) => atMs - earlier < LENGTH_MS).length;
            const waitMs = window.take(atMs);
            expect(waitMs === 0).toBe(recent < places);
            if (waitMs === 0) accepted.push(atMs);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('says how long until a place is free, and a refused call takes none', () => {
    const window = new SlidingWindow(2, LENGTH_MS);
    expect([0, 100, 400, 999].map((atMs) => window.take(atMs))).toEqual([0, 0, 600, 1]);
    expect([1_000, 1_099, 1_100].map((atMs) => window.take(atMs))).toEqual([0, 1, 0]);
  });

  it('counts a call that comes a little late where it belongs', () => {
    const window = new SlidingWindow(2, LENGTH_MS);
    expect([5, 4, 1_003, 1_004, 1_005].map((atMs) => window.take(atMs))).toEqual([0, 0, 1, 0, 0]);
  });
});
