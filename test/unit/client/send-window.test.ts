import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SendWindow } from '../../../src/client/tempo.js';

const windowMs = 1_000;

test('whatever the demand and however late a request leaves, no window holds more than its size', () => {
  const step = fc.record({
    gapMs: fc.double({ min: 0, max: 400, noNaN: true }),
    lagMs: fc.double({ min: 0, max: 900, noNaN: true }),
    isSent: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 150 }), (size, steps) => {
      const window = new SendWindow(size, windowMs);
      const sentMs: number[] = [];
      let underWay: { atMs: number; isSent: boolean }[] = [];
      const settleUntil = (nowMs: number): void => {
        for (const { atMs, isSent } of underWay
          .filter((one) => one.atMs <= nowMs)
          .toSorted((a, b) => a.atMs - b.atMs)) {
          if (!isSent) window.giveBack();
          else {
            window.noteSent(atMs);
            sentMs.push(atMs);
          }
        }
        underWay = underWay.filter((one) => one.atMs > nowMs);
      };
      let nowMs = 0;
      for (const { gapMs, lagMs, isSent } of steps) {
        nowMs += gapMs;
        settleUntil(nowMs);
        for (let waitMs = window.waitMs(nowMs); waitMs > 0; waitMs = window.waitMs(nowMs)) {
          nowMs += Number.isFinite(waitMs) ? waitMs : 20;
          settleUntil(nowMs);
        }
        window.take();
        underWay.push({ atMs: nowMs + lagMs, isSent });
      }
      settleUntil(Number.POSITIVE_INFINITY);
      return sentMs.every(
        (atMs, index) => atMs - (sentMs[index - size] ?? Number.NEGATIVE_INFINITY) >= windowMs - 1e-6,
      );
    }),
  );
});

test('nobody is held back while there are places, and a request that has not left yet takes one', () => {
  const window = new SendWindow(2, windowMs);
  window.take();
  window.noteSent(0);
  expect(window.waitMs(0)).toBe(0);
  window.take();
  expect(window.waitMs(20)).toBe(980);
  expect(window.waitMs(1_000)).toBe(0);
  window.take();
  expect(window.waitMs(1_000)).toBe(Number.POSITIVE_INFINITY);
  window.giveBack();
  expect(window.waitMs(1_000)).toBe(0);
});
