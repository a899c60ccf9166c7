import { channel } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptObserver } from '../client/calls/attempt-observer.js';
import type { RunEvent } from '../runs/run-event.js';

const runEvents = channel('nightscreen:run-event');
const attempts = channel('nightscreen:attempt');
const exits = channel('nightscreen:exit');

/** Gives a run event to what listens in this process, such as a preloaded tracer; no customer data in it. */
export const publishRunEvent = (event: RunEvent): void => runEvents.publish(event);

/** Passes an observer's events on, and gives each attempt that ended to what listens in this process as `{ attempt, end }`. */
export const publishAttempts = (observer: AttemptObserver | undefined): AttemptObserver => ({
  ...(observer?.repeating
    ? { repeating: (operation: string) => observer.repeating?.(operation) ?? Promise.resolve() }
    : {}),
  started: (attempt) => observer?.started?.(attempt),
  ended: (attempt, end) => {
    observer?.ended?.(attempt, end);
    attempts.publish({ attempt, end });
  },
});

/** Says that this process is about to end, and waits at most `patienceMs` for what listeners hand to `waitFor`. */
export async function publishExit(exitCode: number, patienceMs = 5_000): Promise<void> {
  const waiting: Promise<unknown>[] = [];
  exits.publish({ exitCode, waitFor: (promise: Promise<unknown>) => waiting.push(promise) });
  if (waiting.length === 0) return;
  const patience = new AbortController();
  const { signal } = patience;
  await Promise.race([Promise.allSettled(waiting), delay(patienceMs, undefined, { signal }).catch(() => undefined)]);
  patience.abort();
}
