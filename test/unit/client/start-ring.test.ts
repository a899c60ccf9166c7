import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StartRing } from '../../../src/client/pace/start-ring.js';

test('whatever the demand, no window holds more starts than the ring has places', () => {
  const gapsMs = fc.array(fc.double({ min: 0, max: 400, noNaN: true }), { maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), gapsMs, (size, gaps) => {
      const ring = new StartRing(size, 1_000);
      const startsMs: number[] = [];
      let nowMs = 0;
      for (const gapMs of gaps) {
        nowMs += gapMs;
        nowMs += ring.waitMs(nowMs);
        ring.note(nowMs);
        startsMs.push(nowMs);
      }
      return startsMs.every((startMs, index) => {
        const earlierMs = startsMs[index - size];
        return earlierMs === undefined || startMs - earlierMs >= 1_000 - 1e-6;
      });
    }),
  );
});

test('the ring holds nobody back while it has places', () => {
  const ring = new StartRing(2, 1_000);
  ring.note(0);
  expect(ring.waitMs(0)).toBe(0);
  ring.note(10);
  expect(ring.waitMs(20)).toBe(980);
  expect(ring.waitMs(1_000)).toBe(0);
});
