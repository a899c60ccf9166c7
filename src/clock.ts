import { setTimeout as delay } from 'node:timers/promises';

/** The only source of time: everything that needs a date or waits takes one of these. */
export interface Clock {
  /** The present instant. */
  now(): Date;
  /** Milliseconds that only grow, whatever happens to the date: for spans, never for dates. */
  elapsedMs(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when aborted earlier. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

// A timer set for longer than this fires at once.
const maxTimerMs = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  elapsedMs: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      for (let leftMs = ms; leftMs > 0 || leftMs === ms; leftMs -= maxTimerMs) {
        await delay(Math.min(leftMs, maxTimerMs), undefined, signal ? { signal } : {});
      }
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};

/** A clock that runs `offsetMs` beside the machine's; the demo plays yesterday's night with it. */
export const shiftedClock = (offsetMs: number): Clock => ({
  now: () => new Date(Date.now() + offsetMs),
  elapsedMs: systemClock.elapsedMs,
  sleep: systemClock.sleep,
});

/** Whether the name is a time zone of the IANA database that this Node knows. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}
