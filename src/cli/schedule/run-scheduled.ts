import type { Logger } from 'pino';
import { NightError } from '../../../jobs/rescreen.js';
import { LeaseLostError, NightscreenError, RunLockedError, StoreError } from '../../errors.js';
import { toLocalTime } from '../../local-time.js';
import { formatTime } from '../../reports/text.js';
import { type AppContext, type Job, type JobResult, watchRun } from '../../runs/app-context.js';
import { mailFailure } from '../../runs/mail/failures.js';
import { describeLostMails } from '../../runs/run-summary.js';
import {
  keepSchedules,
  mendSchedules,
  readPause,
  recordMissed,
  runDueSlot,
  toForgetBefore,
} from '../../runs/scheduled.js';
import { toDueTimes } from '../../scheduling/due-times.js';
import { decideDue, findNextStart, readJobStatuses, type SchedulePlan } from '../../scheduling/schedule.js';
import { DatabaseError } from '../../store/database/database.js';
import type { JobDue, JobEnding, JobRun } from '../../store/operations/jobs.js';
import { isReported } from '../describe-error.js';
import { combineExitCodes, exitCodes, toErrorExitCode } from '../exit-code.js';
import { type Outcome, toOutcome } from '../invocation.js';
import { describePause } from './operate-schedule.js';

/** A job of the plan that this process starts once. */
interface Start {
  app: AppContext;
  plan: SchedulePlan;
  job: Job;
  logger: Logger;
  signal: AbortSignal;
}

/** Runs a job for the current date, independently of its schedule. It skips a job that is done, and repeats one that failed or stopped. */
export async function runForNow(start: Start): Promise<Outcome> {
  const { app, plan, job } = start;
  const due = findPresentDue(plan, job, app.settings.timezone, app.clock.now());
  const again = [exitCodes.unexpected, exitCodes.refused, exitCodes.stopped];
  return runOnce(start, { due, isLate: false, again });
}

/** Runs a job if it is due and not done yet; the exit code is 0 when there is nothing to do. */
export async function runIfDue(start: Start): Promise<Outcome> {
  const { app, plan, job } = start;
  const planned = plan.planned.filter((one) => one.job.name === job.name);
  await keepSchedules(
    app,
    planned.map(({ schedule }) => ({ job: job.name, schedule })),
    { areAll: false },
  );
  await mendSchedules(app);
  const statuses = await readJobStatuses(app, plan.planned);
  const status = statuses.get(job.name);
  const pause = await readPause(app);
  if (pause !== null) return say(job, 'paused', null, describePause(pause));
  if (!status) return say(job, 'not_due', null, `${job.name} has no schedule`);
  const now = app.clock.now();
  const { decision, missed, givenUp } = decideDue(status, statuses, { now, freeSince: null });
  await recordMissed(app, job.name, { missed, givenUp });
  if (decision.kind === 'wait') {
    const text = `${job.name} of ${decision.due.localDate} waits for ${decision.for}, until ${formatTime(decision.until)}`;
    return say(job, 'waits', decision.due, text);
  }
  if (decision.kind === 'none') {
    const next = findNextStart(status, now);
    return say(job, 'not_due', null, `${job.name} is not due; next ${next ? formatTime(next.dueAt) : 'never'}`);
  }
  const { due, isLate } = decision;
  try {
    return await runOnce(start, { due, isLate, again: [] });
  } catch (error) {
    if (error instanceof RunLockedError) return say(job, 'held', due, error.message);
    throw error;
  }
}

/** Throws RunLockedError when another process runs it. */
async function runOnce(
  { app, plan, job, logger, signal }: Start,
  once: { due: JobDue; isLate: boolean; again: readonly number[] },
): Promise<Outcome> {
  const schedule = plan.planned.find((one) => one.job.name === job.name)?.schedule;
  const isFrequent = schedule !== undefined && !toDueTimes(schedule).isByDate;
  const forgetBefore = isFrequent ? toForgetBefore(app.clock.now()) : null;
  const slot = { job: job.name, ...once, forgetBefore, timeoutMs: plan.timeoutMs };
  const answer = await runDueSlot(app, slot, signal, (run, held) =>
    performJob(app, job, run, held, { stopping: signal, logger }),
  );
  const { due } = once;
  const what = `${job.name} of ${due.localDate}`;
  if (answer.kind === 'held') {
    throw new RunLockedError(`${what} is being run by ${answer.holder}`, answer.holder);
  }
  if (answer.kind === 'done') {
    const { exitCode, endedAt, owner, because } = answer.run;
    const end = `${what} is done already: by ${owner ?? 'an unknown process'}, ${endedAt === null ? 'not ended' : `ended ${formatTime(endedAt)}`} with exit code ${exitCode ?? '-'}`;
    const text = because === null ? end : `${end}: ${because}`;
    return { ...say(job, 'done_before', due, text), exitCode: exitCode ?? exitCodes.complete };
  }
  const { because, runIds } = answer.ending;
  // An interrupted job can be resumed.
  const exitCode = answer.ending.exitCode ?? exitCodes.stopped;
  const text = [`${what} ended with exit code ${exitCode}`, ...(because === null ? [] : [because])].join(': ');
  const outcome = say(job, answer.ending.exitCode === undefined ? 'interrupted' : 'ended', due, text);
  const { attempts, isLate } = answer.run;
  return { ...outcome, exitCode, document: { ...outcome.document, exitCode, because, runIds, attempts, late: isLate } };
}

function say(
  { name }: Job,
  outcome: 'paused' | 'ended' | 'interrupted' | 'done_before' | 'not_due' | 'waits' | 'held',
  due: JobDue | null,
  text: string,
): Outcome {
  const facts = { job: name, date: due?.localDate ?? null, dueAt: due?.dueAt ?? null, outcome, message: text };
  return toOutcome('nightscreen/job-run/1', facts, `${text}\n`);
}

const dayMs = 86_400_000;

/** The due slot of a job that is started now: the current date in its time zone, or its last due time if it has several on a date. */
function findPresentDue({ planned }: SchedulePlan, job: Job, timezone: string, now: Date): JobDue {
  const localDate = toLocalTime(now, timezone).date;
  const ofDate = { dueSlot: localDate, localDate, dueAt: now };
  const schedule = planned.find((one) => one.job.name === job.name)?.schedule;
  if (schedule === undefined) return ofDate;
  const times = toDueTimes(schedule);
  const onDate = times.lastOn(localDate);
  if (onDate?.dueSlot === localDate) return onDate;
  return times.between(new Date(now.getTime() - dayMs), now).findLast((due) => due.dueSlot !== due.localDate) ?? ofDate;
}

// A temporary failure is mailed only when it lasts for this many attempts.
const attemptsBeforeMail = 3;

/**
 * Runs a job for one due slot and returns its end; never throws. A job that ends after
 * `stopping` is aborted will be started again. Failures are logged, those of a night per roster.
 */
export async function performJob(
  app: AppContext,
  job: Job,
  run: JobRun,
  signal: AbortSignal,
  { stopping, logger }: { stopping: AbortSignal; logger: Logger },
): Promise<JobEnding> {
  const { localDate: date, dueAt, attempts: attempt, isLate } = run;
  const { watched, lastRun } = watchRun(app);
  try {
    return toEnding(await job.run(watched, signal, { date, dueAt, attempt, isLate }), stopping);
  } catch (error) {
    const runIds = error instanceof NightError ? error.night.summaries.map(({ runId }) => runId) : [];
    if (stopping.aborted) return { because: 'it was stopped by a signal', runIds };
    const { runId = null, roster = null } = lastRun.current ?? {};
    for (const failure of error instanceof NightError ? error.night.failures : [{ error, runId, roster }])
      logJobFailure(logger, job.name, failure);
    const isPassing = passes(error);
    if (!isPassing || attempt >= attemptsBeforeMail) await mailFailureOf(app, job, error, stopping);
    const ending = { because: toReason(error), runIds };
    return isPassing ? ending : { ...ending, exitCode: toJobExitCode(error) };
  }
}

/** `rescreen` mails the failure of each roster itself; a mail about `mail` would fail too. */
async function mailFailureOf(app: AppContext, { name }: Job, error: unknown, signal: AbortSignal): Promise<void> {
  if (name !== 'rescreen' && name !== 'mail') await mailFailure(app, { task: name, roster: null, error, signal });
}

function toEnding({ runs, exitCode = 0, note = '' }: JobResult, stopping: AbortSignal): JobEnding {
  const runIds = runs.map(({ runId }) => runId);
  // Only the next start can see whether the stop left work undone.
  if (stopping.aborted) return { because: 'it was stopped by a signal', runIds };
  const codes = [...runs.map((run) => run.exitCode), ...(exitCode === 0 && runs.length > 0 ? [] : [exitCode])];
  const because = [...listReasons(runs), note].filter((reason) => reason !== '').join('; ');
  return { exitCode: combineExitCodes(codes), because: because === '' ? null : because, runIds };
}

const listReasons = (runs: JobResult['runs']): string[] =>
  runs.flatMap(({ runId, reasons, mail }) => {
    const all = [...reasons, describeLostMails(mail?.lost ?? 0)];
    return all.filter((reason) => reason !== '').map((reason) => `${runId}: ${reason}`);
  });

/** Whether a retry may help: the database was unreachable, or another process held a lock. */
function passes(error: unknown): boolean {
  if (error instanceof NightError) {
    const { summaries, failures } = error.night;
    // A retry does not repeat finished rosters. A cause that stopped the night would stop it again.
    const isStopped = error.isAccountRefused || summaries.some(({ state }) => state === 'stopped');
    return !isStopped && failures.some((failure) => passes(failure.error));
  }
  if (error instanceof DatabaseError)
    return error.isConnectionLost || error.sqlState === undefined || /^(53|57P)/.test(error.sqlState);
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

/** The error in words that may be stored; of an unexpected error only its class, because its message may hold personal data. */
function toReason(error: unknown): string {
  if (error instanceof NightError) {
    const { summaries, failures } = error.night;
    return [
      ...listReasons(summaries),
      ...failures.map((failure) => `${failure.roster}: ${toReason(failure.error)}`),
    ].join('; ');
  }
  if (error instanceof NightscreenError) return error.message;
  return `an unexpected error (${error instanceof Error ? error.name : 'unknown'}); the log has details`;
}

function logJobFailure(
  logger: Logger,
  job: string,
  { error, runId, roster }: { error: unknown; runId: string | null; roster: string | null },
): void {
  if (isReported(error)) return;
  const where = { ...(runId === null ? {} : { runId }), ...(roster === null ? {} : { roster }) };
  logger.error({ job, ...where, err: error }, 'job_failed');
}
