import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Gate, type Reachability } from '../../../src/client/pace.js';
import type { Clock } from '../../../src/clock.js';
import { makeFakeClock } from '../../helpers/clocks.js';
import { printFigure } from '../../helpers/figures.js';

const close = (gate: Gate): void => {
  for (let call = 0; call < 10; call += 1) gate.note('out_of_reach');
};

/** A closed gate, whose clock shows what it is set to. */
const openOutage = () => {
  const time = { nowMs: 0 };
  const clock: Clock = { ...makeFakeClock(), elapsedMs: () => time.nowMs };
  const gate = new Gate(clock);
  close(gate);
  return { gate, time };
};

describe('an outage', () => {
  test('begins at the tenth failure in a row and not before, whatever came earlier', () => {
    const answers = fc.array(fc.constantFrom<Reachability>('there', 'out_of_reach', 'unknown'), { maxLength: 200 });
    fc.assert(
      fc.property(answers, (sequence) => {
        const gate = new Gate(makeFakeClock());
        let row = 0;
        for (const answer of sequence) {
          if (gate.isOutage) return true;
          gate.note(answer);
          if (answer === 'there') row = 0;
          if (answer === 'out_of_reach') row += 1;
          if (gate.isOutage !== row >= 10) return false;
        }
        return true;
      }),
    );
  });

  test('lets probes through 5, 10 and then every 20 seconds, one at a time, and ends with the first good one', async () => {
    const { gate, time } = openOutage();
    const beganMs: number[] = [];
    for (let probe = 0; probe < 5; probe += 1) {
      time.nowMs += gate.probeWaitMs;
      expect(await gate.pass(undefined)).toBe(true);
      gate.startProbe();
      beganMs.push(time.nowMs);
      gate.endProbe('out_of_reach');
    }
    expect(beganMs).toEqual([5_000, 15_000, 35_000, 55_000, 75_000]);
    time.nowMs += gate.probeWaitMs;
    expect(await gate.pass(undefined)).toBe(true);
    expect(gate.endProbe('there')).toBe(95_000);
    expect(gate.isOutage).toBe(false);
    gate.note('out_of_reach');
    expect(gate.isOutage).toBe(false);
  });

  test('a probe that never began leaves its time to the next, a late answer of an ordinary call decides nothing', async () => {
    const { gate, time } = openOutage();
    time.nowMs = 5_000;
    await gate.pass(undefined);
    gate.endProbe('unknown');
    expect(gate.probeWaitMs).toBe(0);
    gate.note('there');
    expect(gate.isOutage).toBe(true);
  });

  test('of ten minutes takes at most 31 probes', async () => {
    const { gate, time } = openOutage();
    let probes = 0;
    for (; time.nowMs < 600_000; time.nowMs += 10) {
      if (gate.probeWaitMs > 0) continue;
      await gate.pass(undefined);
      gate.startProbe();
      gate.endProbe('out_of_reach');
      probes += 1;
    }
    expect(probes).toBeLessThanOrEqual(31);
  });

  test('practically never begins at random failures of 30 %', () => {
    let state = 11;
    const random = (): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    let opened = 0;
    let gate = new Gate(makeFakeClock());
    for (let call = 0; call < 100_000; call += 1) {
      gate.note(random() < 0.3 ? 'out_of_reach' : 'there');
      if (!gate.isOutage) continue;
      opened += 1;
      gate = new Gate(makeFakeClock());
    }
    printFigure(`outages: ${opened} began in 100,000 calls of which 30 % failed at random`);
    expect(opened).toBeLessThanOrEqual(4);
  });
});

describe('the gate', () => {
  test('holds everybody during an outage, lets one after the other try, and everybody go on with the first good answer', async () => {
    const clock = makeFakeClock();
    const gate = new Gate(clock);
    close(gate);
    const passed: { caller: number; isProbe: boolean; atMs: number }[] = [];
    for (let caller = 0; caller < 4; caller += 1) {
      void gate.pass(undefined).then((isProbe) => {
        if (isProbe) gate.startProbe();
        passed.push({ caller, isProbe, atMs: clock.elapsedMs() });
      });
    }
    await clock.advance(4_900);
    expect(passed).toEqual([]);
    await clock.advance(60_000);
    expect(passed).toEqual([{ caller: 0, isProbe: true, atMs: 5_000 }]);
    expect(gate.endProbe('out_of_reach')).toBeNull();
    await clock.advance(10);
    expect(passed.at(-1)).toMatchObject({ caller: 1, isProbe: true });
    expect(gate.endProbe('there')).toBeGreaterThan(0);
    await clock.advance(10);
    expect(passed.slice(2)).toEqual([
      { caller: 2, isProbe: false, atMs: clock.elapsedMs() - 10 },
      { caller: 3, isProbe: false, atMs: clock.elapsedMs() - 10 },
    ]);
  });

  test('a caller that gives up does not take the probe with it', async () => {
    const clock = makeFakeClock();
    const gate = new Gate(clock);
    close(gate);
    const giveUp = new AbortController();
    const first = gate.pass(giveUp.signal).catch(() => 'gave up');
    const second = gate.pass(undefined);
    giveUp.abort();
    await clock.advance(5_000);
    expect(await first).toBe('gave up');
    expect(await second).toBe(true);
  });
});
