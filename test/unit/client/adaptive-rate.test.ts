import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeRate, lowerRate, startAdaptiveRate } from '../../../src/client/tempo.js';
import { printFigure } from '../../helpers/figures.js';

describe('the adaptive rate', () => {
  test('is the configured one until it is refused, and never above it or at nothing', () => {
    const refusals = fc.array(fc.double({ min: 0, max: 60_000, noNaN: true }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.double({ min: 0.2, max: 5_000, noNaN: true }), refusals, (ceiling, gapsMs) => {
        let rate = startAdaptiveRate(ceiling);
        let nowMs = 0;
        expect(computeRate(rate, nowMs)).toBe(ceiling);
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          rate = lowerRate(rate, nowMs, nowMs);
          for (const laterMs of [0, 1_000, 15_000, 100_000]) {
            expect(computeRate(rate, nowMs + laterMs)).toBeLessThanOrEqual(ceiling);
            expect(computeRate(rate, nowMs + laterMs)).toBeGreaterThan(0);
          }
        }
      }),
    );
  });

  test('a refusal lowers it by a fifth, once for all that was under way', () => {
    const lowered = lowerRate(startAdaptiveRate(50), 900, 1_000);
    expect(computeRate(lowered, 1_000)).toBeCloseTo(40);
    expect(lowerRate(lowered, 990, 1_010)).toBe(lowered);
    expect(computeRate(lowerRate(lowered, 1_020, 1_030), 1_030)).toBeCloseTo(32, 0);
  });

  test('it comes back flatly to what was refused and steeply beyond', () => {
    const lowered = lowerRate(startAdaptiveRate(1_000), 0, 0);
    const at = (seconds: number): number => computeRate({ ...lowered, ceiling: 10_000 }, seconds * 1_000);
    expect(at(15)).toBeCloseTo(980);
    expect(at(18) - at(12)).toBeLessThan(at(3) - at(0));
    expect(at(60)).toBeGreaterThan(5_000);
  });
});

/** Sends evenly at the adaptive rate against a hidden sliding-second limit, on a clock of its own. */
const play = (ceiling: number, limitAt: (seconds: number) => number, untilSeconds: number) => {
  const calls: { atMs: number; isRefused: boolean; perSecond: number }[] = [];
  const acceptedMs: number[] = [];
  let rate = startAdaptiveRate(ceiling);
  let nowMs = 0;
  while (nowMs < untilSeconds * 1_000) {
    const perSecond = computeRate(rate, nowMs);
    nowMs += 1_009 / perSecond;
    while ((acceptedMs[0] ?? Number.POSITIVE_INFINITY) <= nowMs - 1_000) acceptedMs.shift();
    const isRefused = acceptedMs.length >= limitAt(nowMs / 1_000);
    calls.push({ atMs: nowMs, isRefused, perSecond });
    if (isRefused) {
      rate = lowerRate(rate, nowMs, nowMs);
      nowMs += 250;
    } else acceptedMs.push(nowMs);
  }
  return calls;
};

test.each([50, 100, 400])(
  'with %i per second configured it finds a hidden 50, follows it to 10 and back to 50, and then returns to the configured rate',
  (ceiling) => {
    const limitAt = (seconds: number): number =>
      seconds < 120 ? 50 : seconds < 240 ? 10 : seconds < 360 ? 50 : Number.POSITIVE_INFINITY;
    const calls = play(ceiling, limitAt, 480);
    const between = (from: number, to: number) => calls.filter(({ atMs }) => atMs >= from * 1_000 && atMs < to * 1_000);
    const refusedShare = (from: number, to: number): number => {
      const some = between(from, to);
      return some.filter(({ isRefused }) => isRefused).length / some.length;
    };
    const shares = [refusedShare(30, 120), refusedShare(150, 240), refusedShare(270, 360)];
    const backAfter = calls.find(({ atMs, perSecond }) => atMs >= 240_000 && perSecond >= 45)?.atMs ?? Number.NaN;
    const used = between(30, 120).filter(({ isRefused }) => !isRefused).length / (90 * Math.min(50, ceiling));
    printFigure(
      `adaptive rate, ${ceiling}/s configured, hidden 50 -> 10 -> 50: refused ${shares.map((share) => `${(share * 100).toFixed(2)} %`).join(', ')} after 30 s each, back at 90 % after ${((backAfter - 240_000) / 1_000).toFixed(0)} s, ${(used * 100).toFixed(0)} % of the limit used (simulated time)`,
    );
    for (const share of shares) expect(share).toBeLessThanOrEqual(0.01);
    expect(backAfter - 240_000).toBeLessThanOrEqual(60_000);
    expect(used).toBeGreaterThan(0.85);
    expect(computeRate({ ceiling, refusal: null }, 0)).toBe(ceiling);
    expect(calls.at(-1)?.perSecond).toBe(ceiling);
  },
);
