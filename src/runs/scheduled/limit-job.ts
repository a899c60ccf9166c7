import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../../clock.js';
import { NightscreenError } from '../../errors.js';
import { findJobRun, type JobRun } from '../../store/job-runs.js';
import type { Workplace } from '../workplace.js';
import type { OccasionEnding } from './run-occasion.js';

/** How an attempt is limited; one that can be continued is interrupted at its timeout, any other has failed then. */
export interface JobLimits {
  timeoutMs: number;
  canContinue: boolean;
}

/** How an attempt ended; `hanging` settles when code that ignored its signal ends after all. */
export interface LimitedEnding {
  ending: OccasionEnding;
  hanging: Promise<void> | null;
}

const lookForCancelMs = 2_000;
/** Code of the user's own that does not end by then after its signal is left behind; a run writes what it has. */
const ownGraceMs = 10_000;
const runGraceMs = 60_000;
/** A process that is asked to stop has 7 seconds for everything. */
const stopGraceMs = 5_000;

class JobLimitError extends NightscreenError {
  readonly isTimeout: boolean;

  constructor(message: string, isTimeout: boolean) {
    super(isTimeout ? 'job_timeout' : 'job_cancelled', message);
    this.isTimeout = isTimeout;
  }
}

/**
 * Does `work` until it ends, exceeds its timeout, is cancelled through the store, or is asked to stop: its signal is aborted then. Work that
 * ignores the signal is left behind, so that nothing else waits for it; nothing can end code inside this process.
 */
export async function limitJob(
  { database, clock }: Pick<Workplace, 'database' | 'clock'>,
  { organisationId, run, limits }: { organisationId: number; run: JobRun; limits: JobLimits },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<OccasionEnding>,
): Promise<LimitedEnding> {
  const limit = new AbortController();
  const done = new AbortController();
  const timeout = async (): Promise<void> => {
    await clock.sleep(limits.timeoutMs, done.signal);
    limit.abort(new JobLimitError(`it exceeded its timeout of ${describeSpan(limits.timeoutMs)}`, true));
  };
  const listenForCancel = async (): Promise<void> => {
    while (!limit.signal.aborted) {
      await setTimeout(lookForCancelMs, undefined, { signal: done.signal, ref: false });
      const found = await findJobRun(database, organisationId, run.job, run.occasion).catch(() => null);
      if (found?.cancelledBy) limit.abort(new JobLimitError(`it was cancelled by ${found.cancelledBy}`, false));
    }
  };
  const either = AbortSignal.any([signal, limit.signal]);
  const working = work(either);
  const left = waitForLeft(clock, { stopping: signal, limit: limit.signal, done: done.signal }, limits);
  void timeout().catch(() => undefined);
  void listenForCancel().catch(() => undefined);
  try {
    const ended = await Promise.race([working, left]);
    const reason: unknown = limit.signal.reason;
    const stopped = reason instanceof JobLimitError ? reason : null;
    if (ended === null) {
      const hanging = working.then(
        () => undefined,
        () => undefined,
      );
      return { ending: toLeftEnding(stopped, run), hanging };
    }
    return { ending: stopped === null ? ended : toStoppedEnding(stopped, ended, limits), hanging: null };
  } finally {
    done.abort();
  }
}

/** Resolves with null when the work has ignored its signal for too long. */
async function waitForLeft(
  clock: Clock,
  { stopping, limit, done }: { stopping: AbortSignal; limit: AbortSignal; done: AbortSignal },
  { canContinue }: JobLimits,
): Promise<null> {
  const never = new Promise<never>(() => {});
  await onceAborted(AbortSignal.any([stopping, limit]), done);
  if (done.aborted) return never;
  const grace = clock.sleep(canContinue ? runGraceMs : ownGraceMs, done);
  const stop = onceAborted(stopping, done).then(() => clock.sleep(stopGraceMs, done));
  try {
    await Promise.race([grace, stop]);
    return null;
  } catch {
    return never;
  } finally {
    grace.catch(() => undefined);
    stop.catch(() => undefined);
  }
}

function onceAborted(signal: AbortSignal, done: AbortSignal): Promise<void> {
  const either = AbortSignal.any([signal, done]);
  if (either.aborted) return Promise.resolve();
  return new Promise((resolve) => either.addEventListener('abort', () => resolve(), { once: true }));
}

function toStoppedEnding(
  { message, isTimeout }: JobLimitError,
  { exitCode, because, runIds }: OccasionEnding,
  { canContinue }: JobLimits,
): OccasionEnding {
  // The signal came when all was done.
  if (canContinue && (exitCode === 0 || exitCode === 3)) return { exitCode, because, runIds };
  const said = because === null ? message : `${message}; ${because}`;
  if (!isTimeout) return { exitCode: 4, because: said, runIds };
  const ending = { because: said, runIds, isTimedOut: true };
  return canContinue ? ending : { ...ending, exitCode: 1 };
}

function toLeftEnding(stopped: JobLimitError | null, { owner }: JobRun): OccasionEnding {
  const ignored = `it ignored its signal, and its code still runs in ${owner ?? 'its process'}: restart that process`;
  if (stopped === null) return { because: 'it was asked to stop, and ignored its signal', runIds: [] };
  return { exitCode: 1, because: `${stopped.message}; ${ignored}`, runIds: [], isTimedOut: true };
}

function describeSpan(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}
