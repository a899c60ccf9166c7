import { setTimeout as delay } from 'node:timers/promises';

/** The only source of time: everything that needs a date or waits takes one of these. */
export interface Clock {
  /** The present instant. */
  now(): Date;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when aborted earlier. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};

/** A clock that runs `offsetMs` beside the machine's; the demo plays yesterday's night with it. */
export const shiftedClock = (offsetMs: number): Clock => ({
  now: () => new Date(Date.now() + offsetMs),
  sleep: systemClock.sleep,
});
