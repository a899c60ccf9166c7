import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assessRate, type RunFinding } from '../../../../src/runs/screening/monitoring.js';

/** A run whose answers hold one finding each. */
const finding = (screened: number, found: number, squares = found): RunFinding => ({ screened, found, squares });
const nights = (count: number, screened: number, found: number): RunFinding[] =>
  Array.from({ length: count }, () => finding(screened, found));

describe('what a run found beside former ones', () => {
  it('is flagged below half and above twice their median, with both figures', () => {
    expect(assessRate(finding(10_000, 80), nights(14, 10_000, 200))).toEqual({
      perThousand: 8,
      usual: 20,
      formerRuns: 14,
      verdict: 'low',
    });
    expect(assessRate(finding(10_000, 410), nights(5, 10_000, 200))).toMatchObject({
      perThousand: 41,
      verdict: 'high',
    });
    expect(assessRate(finding(10_000, 101), nights(14, 10_000, 200)).verdict).toBe('usual');
    expect(assessRate(finding(10_000, 399), nights(14, 10_000, 200)).verdict).toBe('usual');
  });

  it('is not judged beside fewer than five runs, nor without anybody screened', () => {
    expect(assessRate(finding(10_000, 0), nights(4, 10_000, 200)).verdict).toBe('unknown');
    expect(assessRate(finding(0, 0), nights(14, 10_000, 200))).toMatchObject({ perThousand: 0, verdict: 'unknown' });
    expect(assessRate(finding(10_000, 0), nights(14, 0, 0))).toMatchObject({ usual: null, verdict: 'unknown' });
  });

  it('never cries wolf over a handful', () => {
    expect(assessRate(finding(100, 0), nights(14, 100, 3)).verdict).toBe('usual');
    expect(assessRate(finding(3, 3), nights(14, 10_000, 200)).verdict).toBe('usual');
    // Fifty matches of one customer are one finding.
    expect(assessRate(finding(500, 50, 2_500), nights(14, 500, 10)).verdict).toBe('usual');
    expect(assessRate(finding(500, 50), nights(14, 500, 10)).verdict).toBe('high');
  });

  it('is usual for any run that found at most twice and at least half as much', () => {
    const night = fc.record({ screened: fc.integer({ min: 1, max: 1_000_000 }) });
    fc.assert(
      fc.property(
        fc.array(night, { minLength: 5, maxLength: 14 }),
        fc.double({ min: 0.001, max: 0.2, noNaN: true }),
        fc.double({ min: 0.52, max: 1.95, noNaN: true }),
        (former, rate, factor) => {
          const runs = former.map(({ screened }) => finding(screened, screened * rate));
          const { verdict } = assessRate(finding(50_000, 50_000 * rate * factor), runs);
          expect(verdict).toBe('usual');
        },
      ),
    );
  });

  it('is low for a service that went blind wherever enough was usual, whatever the size of the runs', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5, max: 14 }), fc.integer({ min: 12, max: 5_000 }), (count, found) => {
        const verdict = assessRate(finding(10_000, 0), nights(count, 10_000, found)).verdict;
        expect(verdict).toBe('low');
      }),
    );
  });

  it('is flagged by chance in less than one night in a thousand', () => {
    let state = 1;
    const uniform = (): number => {
      state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
      return ((state ^ (state >>> 12)) >>> 0) / 0x1_0000_0000;
    };
    const poisson = (mean: number): number => {
      let count = -1;
      for (let product = 1; product > Math.exp(-mean); count += 1) product *= uniform();
      return count;
    };
    let flagged = 0;
    for (let night = 0; night < 4_000; night += 1) {
      const mean = 1 + (night % 40);
      const former = Array.from({ length: 14 }, () => finding(1_000, poisson(mean)));
      if (!['usual', 'unknown'].includes(assessRate(finding(1_000, poisson(mean)), former).verdict)) flagged += 1;
    }
    expect(flagged).toBeLessThan(4);
  });
});
