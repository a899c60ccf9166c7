import { readFileSync } from 'node:fs';

/** Whether tests of amounts (races, stories, customers) take the full ones, by `npm run test:full`; otherwise a few of each, for CI. */
export const isFullSize = process.env['NIGHTSCREEN_TEST_SIZE'] === 'full';

/** Prints a figure that a promise asks for, so that it stands in the run's output. */
export function printFigure(text: string): void {
  process.stdout.write(`figure: ${text}\n`);
}

/**
 * Gives the most memory, in bytes, that this process has held since its program began. What `getrusage` tells holds the process that
 * started it as well: on Linux a program inherits the highest mark of the one it was forked from.
 */
export function readPeakBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1_024;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  if (kilobytes === undefined) throw new Error('/proc/self/status does not tell the most memory held');
  return Number(kilobytes) * 1_024;
}

/**
 * The least of up to three measurements; the first that is below `bound` is taken. What other processes take from the machine only adds to
 * a time, so one that is within its bound shows that the work fits into it.
 */
export async function takeLeast(bound: number, measure: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && least >= bound; round += 1) least = Math.min(least, await measure());
  return least;
}

/** The most entries that any window of a second holds; instants in milliseconds. */
export const countBusiestSecond = (timesMs: readonly number[]): number => {
  const sorted = timesMs.toSorted((one, other) => one - other);
  let first = 0;
  let most = 0;
  for (const [last, atMs] of sorted.entries()) {
    while (atMs - (sorted[first] ?? atMs) >= 1_000) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
};

const warmUpMs = 2_000;

/** The share of `perSecond` that was used once the first two seconds are over; instants in milliseconds, in order. */
export const computeUsedRate = (sentMs: readonly number[], perSecond: number): number => {
  const sinceMs = (sentMs[0] ?? 0) + warmUpMs;
  const steady = sentMs.filter((atMs) => atMs >= sinceMs);
  const spanMs = (steady.at(-1) ?? 0) - (steady[0] ?? 0);
  return ((steady.length - 1) * 1_000) / spanMs / perSecond;
};

/** Numbers from 0 up to 1 that are the same for the same seed. */
export const makeSeededRandom = (seed: number): (() => number) => {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
};
