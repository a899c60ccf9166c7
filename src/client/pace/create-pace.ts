import { type Clock, systemClock } from '../../clock.js';
import { NightscreenError } from '../../errors.js';
import { tellSafely } from '../tell-safely.js';
import { checkRate } from './check-rate.js';
import { Gate } from './gate.js';
import type { Entrant, Pace, PaceEvent } from './pace.js';
import { PacedTurn } from './paced-turn.js';
import { Slots } from './slots.js';
import { Tempo } from './tempo.js';

// Callers that wait cost memory; whoever has more to ask lets them come one by one.
const maxWaiting = 100_000;

/** The pace that all callers share. */
export interface PaceSettings {
  /** Requests sent in any sliding second; a fraction above one is rounded down. */
  perSecond: number;
  /** Requests under way at the same time. */
  concurrency: number;
  clock?: Clock;
  /** Hears of pauses, outages and lowered rates; what it throws is a warning of the process. */
  tell?: (event: PaceEvent) => void;
}

/**
 * One pace for everybody who is given it: rate, concurrency, a pause that holds all callers, and for each operation a gate that an
 * outage closes. Throws ConfigError when rate or concurrency is out of range. Beyond 100,000 waiting callers a further one is refused with
 * NightscreenError `too_many_waiting`.
 */
export const createPace = (settings: PaceSettings): Pace => {
  checkRate(settings);
  const { clock = systemClock, tell: listener = () => undefined } = settings;
  const tell = (event: PaceEvent): void => tellSafely(listener, event);
  const tempo = new Tempo(settings.perSecond, clock);
  const slots = new Slots(settings.concurrency);
  const gates = new Map<string, Gate>();
  let waiting = 0;

  const findGate = (operation: string): Gate => {
    const gate = gates.get(operation) ?? new Gate(clock);
    gates.set(operation, gate);
    return gate;
  };

  const awaitTurn = async ({ operation, isRepeat, signal }: Entrant): Promise<PacedTurn> => {
    const gate = findGate(operation);
    for (;;) {
      const isProbe = await gate.pass(signal);
      const turn = new PacedTurn({ operation, gate, tempo, slots, clock, tell, isProbe });
      if (await turn.begin(signal, isRepeat)) return turn;
    }
  };

  return {
    run: async (entrant, task) => {
      if (waiting >= maxWaiting) {
        const message = `${maxWaiting} calls wait for their turn already; let them come one by one (aml.searchEach)`;
        throw new NightscreenError('too_many_waiting', message);
      }
      waiting += 1;
      const turn = await awaitTurn(entrant).finally(() => {
        waiting -= 1;
      });
      try {
        return await task(turn);
      } finally {
        turn.end();
      }
    },
    close: () => {
      tempo.close();
      for (const gate of gates.values()) gate.close();
    },
  };
};
