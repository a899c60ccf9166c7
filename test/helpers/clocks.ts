import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../src/clock.js';
import type { JobRun } from '../../src/store/operations/jobs.js';

/** A clock that stands still until it is told to go on. */
export interface FakeClock extends Clock {
  /** Lets time pass, waking sleepers in order, each with time to act before the next. */
  advance(ms: number): Promise<void>;
}

interface Sleeper {
  wakeMs: number;
  wake: () => void;
}

const letOthersAct = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A fake clock that begins at `startMs`. */
export const makeFakeClock = (startMs = Date.UTC(2026, 0, 1)): FakeClock => {
  let nowMs = 0;
  let sleepers: Sleeper[] = [];
  const wakeNext = async (untilMs: number): Promise<boolean> => {
    const [next] = sleepers.toSorted((one, other) => one.wakeMs - other.wakeMs);
    if (next === undefined || next.wakeMs > untilMs) return false;
    nowMs = Math.max(nowMs, next.wakeMs);
    sleepers = sleepers.filter((sleeper) => sleeper !== next);
    next.wake();
    await letOthersAct();
    return true;
  };
  return {
    now: () => new Date(startMs + nowMs),
    elapsedMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const leave = (): void => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          reject(signal?.reason);
        };
        const wake = (): void => {
          signal?.removeEventListener('abort', leave);
          resolve();
        };
        const sleeper = { wakeMs: nowMs + ms, wake };
        sleepers.push(sleeper);
        signal?.addEventListener('abort', leave, { once: true });
      }),
    advance: async (ms) => {
      const untilMs = nowMs + ms;
      await letOthersAct();
      while (await wakeNext(untilMs));
      nowMs = untilMs;
      await letOthersAct();
    },
  };
};

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

/** A job's run that ended well; `facts` say what is different, and when it was due. */
export const toJobRun = (facts: Partial<JobRun> & { dueAt: Date }): JobRun => ({
  jobRunId: 1,
  job: 'rescreen',
  dueSlot: '2026-03-10',
  localDate: '2026-03-10',
  state: 'finished',
  isLate: false,
  attempts: 1,
  owner: 'host:1:abcd',
  begunAt: facts.dueAt,
  endedAt: facts.dueAt,
  exitCode: 0,
  because: null,
  runIds: [],
  attemptAt: null,
  deadlineAt: null,
  isTimedOut: false,
  cancelledBy: null,
  ...facts,
});
