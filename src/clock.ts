import { setTimeout as delay } from 'node:timers/promises';

/** The only source of time. */
export interface Clock {
  /** The current time. */
  now(): Date;
  /** Monotonic milliseconds, for spans only. */
  elapsedMs(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when aborted earlier. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

// A timer set for longer fires immediately.
const maxTimerMs = 2 ** 31 - 1;

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

/** A clock `offsetMs` away from the machine's; the demo uses it for the night of yesterday. */
export const shiftedClock = (offsetMs: number): Clock => ({
  now: () => new Date(Date.now() + offsetMs),
  elapsedMs: systemClock.elapsedMs,
  sleep: systemClock.sleep,
});

/** Whether the name is an IANA time zone that this Node knows. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}
