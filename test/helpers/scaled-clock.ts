import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../src/clock.js';

/** A clock that runs `factor` times as fast as the machine's. */
export const makeScaledClock = (factor: number): Clock => {
  const startMs = performance.now();
  const elapsedMs = (): number => (performance.now() - startMs) * factor;
  return {
    elapsedMs,
    now: () => new Date(Date.UTC(2026, 0, 1) + elapsedMs()),
    sleep: async (ms, signal) => {
      await delay(ms / factor, undefined, signal ? { signal } : {}).catch((error: unknown) => {
        throw signal?.aborted ? signal.reason : error;
      });
    },
  };
};
