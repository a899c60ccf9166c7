import { createTask, type Logger } from 'node-cron';
import type { Clock } from '../clock.js';
import type { ScheduleEvent } from './schedule-event.js';

/** A scheduler that runs. */
export interface Scheduler {
  /** Begins nothing more; resolves when the job under way has ended. */
  stop(): Promise<void>;
}

/** What a scheduler works with; `look` begins what is due and gives when to look again. */
export interface SchedulerParts {
  clock: Clock;
  look: () => Promise<Date>;
  tell: (event: ScheduleEvent) => void;
}

const everySecond = '* * * * * *';
const shortestRetryMs = 1_000;
const longestRetryMs = 60_000;
// Due times decide what was missed, not the timer; a job that keeps the process busy for a second is no news.
const silent: Logger = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };

/**
 * Looks at once, and then whenever the time has come by the clock, however it was set meanwhile; never twice at the same time. A look that
 * fails is told and tried again, after a minute at most.
 */
export function startScheduler({ clock, look, tell }: SchedulerParts): Scheduler {
  let lookAt = clock.now();
  let tickedAt = lookAt;
  let failing: { sinceMs: number; retryMs: number } | null = null;
  let underWay: Promise<void> | null = null;
  const lookOnce = async (): Promise<void> => {
    try {
      lookAt = await look();
      failing = null;
    } catch (error) {
      const nowMs = clock.now().getTime();
      const retryMs: number = failing ? Math.min(failing.retryMs * 2, longestRetryMs) : shortestRetryMs;
      failing = { sinceMs: failing?.sinceMs ?? nowMs, retryMs };
      lookAt = new Date(nowMs + retryMs);
      tell({ kind: 'blocked', error, retryMs, sinceMs: nowMs - failing.sinceMs });
    }
  };
  const tick = (): void => {
    const now = clock.now();
    // Where the clock was put back, what was to come may be due sooner by it.
    const isDue = now >= lookAt || now < tickedAt;
    tickedAt = now;
    if (!isDue || underWay) return;
    underWay = lookOnce().finally(() => {
      underWay = null;
    });
  };
  const task = createTask(everySecond, tick, {
    name: 'look',
    timezone: 'UTC',
    logger: silent,
    suppressMissedWarning: true,
  });
  void task.start();
  tick();
  return {
    stop: async () => {
      await task.destroy();
      await underWay;
    },
  };
}
