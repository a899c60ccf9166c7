import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assessCap, detectCap } from '../../../../src/runs/screening/monitoring.js';
import { isFullSize } from '../../../helpers/figures.js';

/** The length of a list, drawn from a geometric spread in which each longer one is `decay` times as frequent. */
const drawLength = (uniform: number, decay: number): number => Math.floor(Math.log(1 - uniform) / Math.log(decay));

const toHistogram = (lengths: readonly number[]): Map<number, number> => {
  const histogram = new Map<number, number>();
  for (const length of lengths) histogram.set(length, (histogram.get(length) ?? 0) + 1);
  return histogram;
};

/** Evenly spread numbers between 0 and 1 that look random, the same for the same seed. */
const draw = (count: number, seed: number): number[] => {
  let state = seed >>> 0;
  return Array.from({ length: count }, () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  });
};

const decays = fc.double({ min: 0.05, max: 0.97, noNaN: true });
const seeds = fc.integer();

describe('a cap on lists', () => {
  it('is never seen in lists whose lengths fall off geometrically', () => {
    fc.assert(
      fc.property(decays, fc.integer({ min: 0, max: 6_000 }), seeds, (decay, answers, seed) => {
        expect(detectCap(toHistogram(draw(answers, seed).map((one) => drawLength(one, decay))))).toBeNull();
      }),
      { numRuns: isFullSize ? 400 : 100 },
    );
  });

  it('is seen whenever enough answers are cut at it', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.5, max: 0.97, noNaN: true }),
        fc.integer({ min: 5, max: 40 }),
        seeds,
        (decay, cap, seed) => {
          const whole = draw(3_000, seed).map((one) => drawLength(one, decay));
          const cut = whole.map((length) => Math.min(length, cap));
          // Forty lists that would have been longer.
          fc.pre(whole.filter((length) => length > cap).length >= 40);
          expect(detectCap(toHistogram(cut))).toBe(cap);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is not seen in few answers, nor in short lists', () => {
    expect(detectCap(new Map([[20, 9]]))).toBeNull();
    expect(
      detectCap(
        new Map([
          [1, 900],
          [2, 300],
          [4, 300],
        ]),
      ),
    ).toBeNull();
    expect(detectCap(new Map())).toBeNull();
  });

  it('that is known stays while no list is longer, and goes with the first that is', () => {
    expect(
      assessCap(
        20,
        new Map([
          [3, 50],
          [20, 1],
        ]),
      ),
    ).toEqual({ cap: 20, standing: 'known', gone: null });
    expect(
      assessCap(
        20,
        new Map([
          [3, 50],
          [21, 1],
        ]),
      ),
    ).toEqual({ cap: null, standing: 'found', gone: 20 });
    expect(assessCap(20, new Map([[10, 40]]))).toEqual({ cap: 10, standing: 'found', gone: 20 });
    expect(assessCap(20, new Map([[50, 40]]))).toEqual({ cap: 50, standing: 'found', gone: 20 });
    expect(assessCap(null, new Map([[20, 40]]))).toEqual({ cap: 20, standing: 'found', gone: null });
    expect(assessCap(null, new Map([[2, 40]]))).toEqual({ cap: null, standing: 'found', gone: null });
  });
});
