import { channel } from 'node:diagnostics_channel';
import type { AttemptObserver } from '../client/calls/attempt-observer.js';
import type { RunEvent } from '../runs/workplace.js';
import { within } from './within.js';

const runEvents = channel('nightscreen:run-event');
const attempts = channel('nightscreen:attempt');
const exits = channel('nightscreen:exit');

/** Gives a run event to what listens in this process, such as a preloaded tracer; no customer data in it. */
export const publishRunEvent = (event: RunEvent): void => runEvents.publish(event);

/** Passes an observer's events on, and gives each attempt that ended to what listens in this process as `{ attempt, end }`. */
export const publishAttempts = (observer: AttemptObserver = {}): AttemptObserver => ({
  ...observer,
  ended: (attempt, end) => {
    observer.ended?.(attempt, end);
    attempts.publish({ attempt, end });
  },
});

/** Says that this process is about to end, and waits at most `patienceMs` for what listeners hand to `waitFor`. */
export async function publishExit(exitCode: number, patienceMs = 5_000): Promise<void> {
  const waiting: Promise<unknown>[] = [];
  exits.publish({ exitCode, waitFor: (promise: Promise<unknown>) => waiting.push(promise) });
  if (waiting.length === 0) return;
  // What fails or takes longer is the listeners' loss.
  await within(patienceMs, Promise.allSettled(waiting)).catch(() => undefined);
}
