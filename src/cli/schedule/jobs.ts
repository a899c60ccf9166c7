import type { Logger } from 'pino';
import { endsTheNight, NightError } from '../../../jobs/rescreen.js';
import { LeaseLostError, NightscreenError, RunLockedError, StoreError } from '../../errors.js';
import { tellFailure } from '../../runs/mail/deliver.js';
import type { OccasionEnding } from '../../runs/scheduled.js';
import { type Job, type JobResult, type Workplace, watchRun } from '../../runs/workplace.js';
import type { JobStanding } from '../../scheduling/decide-due.js';
import { readStandings, type SchedulePlan } from '../../scheduling/schedule.js';
import { DatabaseError } from '../../store/database/database.js';
import type { JobRun } from '../../store/jobs.js';
import { combineExitCodes, exitCodes, toErrorExitCode } from '../exit-code.js';

/** What a job threw, and of whose run, where that is known. */
export interface JobFailure {
  error: unknown;
  runId: string | null;
  roster: string | null;
}

/** What a job that is performed hangs on; `failed` hears of what it threw, of a night once for each roster. */
export interface PerformOptions {
  /** Of all jobs, for how those stand that it comes after. */
  plan: SchedulePlan;
  /** Aborted when somebody asks this process to stop; what ends then is taken up again. */
  stopping: AbortSignal;
  failed: (failure: JobFailure) => void;
}

// What passes by itself is mailed when it has not by then.
const attemptsBeforeMail = 3;

/** Runs a job for one of its times and says how that ended, and which jobs before it are not complete; throws nothing. */
export async function performJob(
  workplace: Workplace,
  job: Job,
  run: JobRun,
  signal: AbortSignal,
  { plan, stopping, failed }: PerformOptions,
): Promise<OccasionEnding> {
  const { localDate: date, dueAt, attempts: attempt, isLate } = run;
  const { watched, lastRun } = watchRun(workplace);
  let before: string | null = null;
  try {
    before = await describeBefore(workplace, plan, job, run);
    const result = await job.run(watched, signal, { date, dueAt, attempt, isLate });
    return toEnding(result, before, stopping);
  } catch (error) {
    const runIds = error instanceof NightError ? error.night.summaries.map(({ runId }) => runId) : [];
    if (stopping.aborted) return { because: 'it was asked to stop', runIds };
    const { runId = null, roster = null } = lastRun.current ?? {};
    for (const failure of error instanceof NightError ? error.night.failures : [{ error, runId, roster }])
      failed(failure);
    const isPassing = passes(error);
    if (!isPassing || attempt >= attemptsBeforeMail) await tellOf(workplace, job, error, stopping);
    const ending = { because: joinReasons([toReason(error), before]), runIds };
    return isPassing ? ending : { ...ending, exitCode: toJobExitCode(error) };
  }
}

/** `rescreen` tells of each roster by itself, and `mail` could only fail again. */
async function tellOf(workplace: Workplace, { name }: Job, error: unknown, signal: AbortSignal): Promise<void> {
  if (name !== 'rescreen' && name !== 'mail') await tellFailure(workplace, { task: name, roster: null, error, signal });
}

function toEnding(
  { runs, exitCode = 0, note = '' }: JobResult,
  before: string | null,
  stopping: AbortSignal,
): OccasionEnding {
  const runIds = runs.map(({ runId }) => runId);
  // Whether anything was left out because of that, only the next start can tell.
  if (stopping.aborted) return { because: 'it was asked to stop', runIds };
  const codes = [...runs.map((run) => run.exitCode), ...(exitCode === 0 && runs.length > 0 ? [] : [exitCode])];
  return { exitCode: combineExitCodes(codes), because: joinReasons([...listReasons(runs), note, before]), runIds };
}

const listReasons = (runs: JobResult['runs']): string[] =>
  runs.flatMap(({ runId, reasons }) => reasons.map((reason) => `${runId}: ${reason}`));

function joinReasons(reasons: readonly (string | null)[]): string | null {
  const said = reasons.filter((reason) => reason !== null && reason !== '');
  return said.length === 0 ? null : said.join('; ');
}

/** Whether it may well be over in a while: the database went away, or another process has what is needed. */
function passes(error: unknown): boolean {
  if (error instanceof NightError) {
    const { summaries, failures } = error.night;
    // Rosters that are done ask nobody again. What stopped the night would only stop it once more.
    const isStopped =
      summaries.some(({ state }) => state === 'stopped') || failures.some((one) => endsTheNight(one.error));
    return !isStopped && failures.some((failure) => passes(failure.error));
  }
  if (error instanceof DatabaseError) return error.sqlState === undefined || /^(08|53|57P)/.test(error.sqlState);
  if (error instanceof RunLockedError || error instanceof LeaseLostError) return true;
  return error instanceof StoreError && error.code === 'import_broken_off';
}

function toJobExitCode(error: unknown): number {
  if (!(error instanceof NightError)) return toErrorExitCode(error);
  const { summaries, failures } = error.night;
  return combineExitCodes([
    ...summaries.map(({ exitCode }) => exitCode),
    ...failures.map((failure) => toErrorExitCode(failure.error)),
  ]);
}

/** The error in words that are fit to be kept; of one that was not meant to happen only its kind, for nobody knows what else it says. */
function toReason(error: unknown): string {
  if (error instanceof NightError) {
    const { summaries, failures } = error.night;
    return [
      ...listReasons(summaries),
      ...failures.map((failure) => `${failure.roster}: ${toReason(failure.error)}`),
    ].join('; ');
  }
  if (error instanceof NightscreenError) return error.message;
  return `an unexpected error (${error instanceof Error ? error.name : 'unknown'}); the log says more`;
}

/** The exit code of a process that ran a job once: what was interrupted is resumable. */
export const toEndingExitCode = ({ exitCode }: OccasionEnding): number => exitCode ?? exitCodes.stopped;

/**
 * Which of the jobs that a job comes after on its date failed, were missed or have not ended, with their exit codes and runs; null when all
 * that were due by now are complete.
 */
async function describeBefore(
  workplace: Workplace,
  plan: SchedulePlan,
  { name, after = [] }: Job,
  { localDate }: JobRun,
): Promise<string | null> {
  if (after.length === 0) return null;
  const standings = await readStandings(workplace, plan);
  const now = workplace.clock.now();
  const incomplete = after.flatMap((other) => {
    const standing = standings.get(other);
    return (standing && describeIncomplete(standing, localDate, now)) ?? [];
  });
  return incomplete.length === 0 ? null : `not all that ${name} comes after is complete: ${incomplete.join('; ')}`;
}

function describeIncomplete(
  { job, times, plannedSince, toStart, known }: JobStanding,
  date: string,
  now: Date,
): string | null {
  const due = times.isByDate ? times.lastOn(date) : null;
  if (due === null) return null;
  const run = known.find(({ occasion }) => occasion === due.occasion);
  if (run) return describeEnd(run);
  return due.dueAt <= plannedSince || toStart(due) > now ? null : `${job} of ${date} has not begun`;
}

function describeEnd({ job, localDate, state, exitCode, because, runIds, owner }: JobRun): string | null {
  const what = `${job} of ${localDate}`;
  const made = runIds.length === 0 ? '' : ` (${runIds.join(', ')})`;
  switch (state) {
    case 'missed':
      return `${what} was missed`;
    case 'running':
      return `${what} has not ended${made}, begun by ${owner ?? 'nobody'}`;
    case 'interrupted':
      return `${what} was interrupted and is not done${made}`;
    case 'finished': {
      if (exitCode === 0) return null;
      // Of a run `nightscreen runs show` says why.
      const why = because === null ? '' : `: ${because}`;
      return `${what} ended with exit code ${exitCode}${made === '' ? `, without a run${why}` : made}`;
    }
  }
}

/** Logs that a job failed, with the run and the roster that it failed at, where these are known. */
export function logJobFailure(logger: Logger, job: string, { error, runId, roster }: JobFailure): void {
  const where = { ...(runId === null ? {} : { runId }), ...(roster === null ? {} : { roster }) };
  logger.error({ job, ...where, err: error }, 'job_failed');
}
