import { channel } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { z } from 'zod';
import type { AttemptObserver } from '../client/operation.js';
import type { RunEvent } from '../runs/app-context.js';

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

/** Says that this process is about to end, and waits at most `maxWaitMs` for what listeners hand to `waitFor`. */
export async function publishExit(exitCode: number, maxWaitMs = 5_000): Promise<void> {
  const waiting: Promise<unknown>[] = [];
  exits.publish({ exitCode, waitFor: (promise: Promise<unknown>) => waiting.push(promise) });
  if (waiting.length === 0) return;
  // What fails or takes longer is the listeners' loss.
  await within(maxWaitMs, Promise.allSettled(waiting)).catch(() => undefined);
}

const fromHere = createRequire(import.meta.url);

/** The version of Nightscreen. */
export const { version } = z.object({ version: z.string() }).parse(fromHere('#package.json'));

/** A file of the demo fixtures, as an absolute path; throws when the installation lacks it. */
export function findDemoFixture(name: string): string {
  const project = dirname(fromHere.resolve('#package.json'));
  const path = join(project, 'fixtures', 'demo', name);
  if (!existsSync(path)) throw new Error(`the installation is incomplete: ${path} is missing`);
  return path;
}

/** Who runs this process, as `user@host`; a user without a name, as in some containers, by number. */
export function findCurrentUser(): string {
  return `${findName()}@${hostname()}`;
}

function findName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** What a promise gives, if it does so within `limitMs`; else throws Error, and whatever comes of it later is nothing to anybody. */
export async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves once the signal is aborted. */
export const waitForAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    // A pending promise alone does not keep the process alive.
    const keepAlive = setInterval(() => {}, 60_000);
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(keepAlive);
        resolve();
      },
      { once: true },
    );
  });

/**
 * Lets the heap double before it is collected, not quadruple as V8 does where a machine has much memory: of a long report's 340 MB only 60 MB
 * were in use. It is read at each collection, so it may be set while the program runs.
 */
export const boundHeap = (): void => setFlagsFromString('--heap-growing-percent=100');
