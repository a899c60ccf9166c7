import { channel } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../clock.js';

export const endingSignals = ['SIGINT', 'SIGTERM'] as const;

const endAtOnce = (): never => process.exit(4);

/** Ends the process with exit code 4 at a signal, because nothing has begun; until `leaveSignals`. */
export const endAtSignals = (): void => {
  for (const name of endingSignals) process.on(name, endAtOnce);
};

export const leaveSignals = (): void => {
  for (const name of endingSignals) process.off(name, endAtOnce);
};

const exits = channel('nightscreen:exit');

/** Publishes that this process ends, and waits at most `maxWaitMs` for what listeners pass to `waitFor`. */
export async function publishExit(exitCode: number, maxWaitMs = 5_000): Promise<void> {
  const waiting: Promise<unknown>[] = [];
  exits.publish({ exitCode, waitFor: (promise: Promise<unknown>) => waiting.push(promise) });
  if (waiting.length === 0) return;
  // A listener that fails or takes longer loses its data; the exit code does not depend on it.
  await within(maxWaitMs, Promise.allSettled(waiting)).catch(() => undefined);
}

const fromHere = createRequire(import.meta.url);

export const { version }: { version: string } = fromHere('#package.json');

/** The absolute path of a demo fixture; throws when the installation lacks it. */
export function findDemoFixture(name: string): string {
  const project = dirname(fromHere.resolve('#package.json'));
  const path = join(project, 'fixtures', 'demo', name);
  if (!existsSync(path)) throw new Error(`the installation is incomplete: ${path} is missing`);
  return path;
}

/** The user of this process as `user@host`; a user without a name, as in some containers, by number. */
export function findCurrentUser(): string {
  return `${findUserName()}@${hostname()}`;
}

/** The name of the user of this process. */
export function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The result of a promise that settles within `limitMs`; else throws Error, and a later result is ignored. */
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

/** Keeps this process alive until the signal is aborted. */
export const waitForAbort = (signal: AbortSignal): Promise<void> =>
  systemClock.sleep(Number.POSITIVE_INFINITY, signal).catch(() => undefined);

/**
 * Lets the heap grow by half before a collection; V8 lets it quadruple on machines with much memory, and 60 of 340 MB
 * of a long report were in use. Lets V8 optimise a part of the embedded database only after it has run much more: the
 * optimising took a third of the processor time of a short command. V8 reads the flags while the program runs.
 */
export const tuneV8 = (): void => {
  setFlagsFromString('--heap-growing-percent=50');
  setFlagsFromString('--wasm-tiering-budget=200000000');
};
