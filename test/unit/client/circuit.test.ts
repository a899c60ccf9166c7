import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Circuit, Gate, type Reachability } from '../../../src/client/pace.js';
import { makeFakeClock } from '../../helpers/clocks.js';
import { printFigure } from '../../helpers/figures.js';

const open = (nowMs = 0): Circuit => {
  const circuit = new Circuit();
  for (let call = 0; call < 10; call += 1) circuit.note('out_of_reach', nowMs);
  return circuit;
};

describe('the circuit', () => {
  test('opens at the tenth failure in a row and not before, whatever came earlier', () => {
    const answers = fc.array(fc.constantFrom<Reachability>('there', 'out_of_reach', 'unknown'), { maxLength: 200 });
    fc.assert(
      fc.property(answers, (sequence) => {
        const circuit = new Circuit();
        let row = 0;
        for (const answer of sequence) {
          if (circuit.isOpen) return true;
          circuit.note(answer, 0);
          if (answer === 'there') row = 0;
          if (answer === 'out_of_reach') row += 1;
          if (circuit.isOpen !== row >= 10) return false;
        }
        return true;
      }),
    );
  });

  test('lets probes through 5, 10 and then every 20 seconds, one at a time, and closes with the first good one', () => {
    const circuit = open();
    const beganMs: number[] = [];
    let nowMs = 0;
    for (let probe = 0; probe < 5; probe += 1) {
      nowMs += circuit.probeWaitMs(nowMs);
      circuit.takeProbe();
      circuit.startProbe(nowMs);
      expect(circuit.probeWaitMs(nowMs)).toBe(Number.POSITIVE_INFINITY);
      beganMs.push(nowMs);
      circuit.endProbe('out_of_reach');
    }
    expect(beganMs).toEqual([5_000, 15_000, 35_000, 55_000, 75_000]);
    circuit.takeProbe();
    circuit.endProbe('there');
    expect(circuit.isOpen).toBe(false);
    circuit.note('out_of_reach', nowMs);
    expect(circuit.isOpen).toBe(false);
  });

  test('a probe that never began leaves its time to the next, a late answer of an ordinary call decides nothing', () => {
    const circuit = open();
    circuit.takeProbe();
    circuit.endProbe('unknown');
    expect(circuit.probeWaitMs(5_000)).toBe(0);
    circuit.note('there', 5_000);
    expect(circuit.isOpen).toBe(true);
  });

  test('ten minutes of outage take at most 31 probes', () => {
    const circuit = open();
    let probes = 0;
    for (let nowMs = 0; nowMs < 600_000; nowMs += 10) {
      if (circuit.probeWaitMs(nowMs) > 0) continue;
      circuit.takeProbe();
      circuit.startProbe(nowMs);
      circuit.endProbe('out_of_reach');
      probes += 1;
    }
    expect(probes).toBeLessThanOrEqual(31);
  });

  test('random failures of 30 % practically never open it', () => {
    let state = 11;
    const random = (): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    let opened = 0;
    let circuit = new Circuit();
    for (let call = 0; call < 100_000; call += 1) {
      circuit.note(random() < 0.3 ? 'out_of_reach' : 'there', 0);
      if (!circuit.isOpen) continue;
      opened += 1;
      circuit = new Circuit();
    }
    printFigure(`circuit: opened ${opened} times in 100,000 calls of which 30 % failed at random`);
    expect(opened).toBeLessThanOrEqual(4);
  });
});

describe('the gate', () => {
  const close = (gate: Gate): void => {
    for (let call = 0; call < 10; call += 1) gate.note('out_of_reach');
  };

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
