import type { Logger } from 'pino';
import { systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import { keepSchedules } from '../../runs/scheduled.js';
import { listNextRuns } from '../../scheduling/due-times.js';
import type { SchedulePlan } from '../../scheduling/schedule.js';
import { JobStarter, type ScheduleEvent, startScheduler } from '../../scheduling/scheduler.js';
import { findMissingMail, findMissingService } from '../app-context.js';
import { exitCodes } from '../exit-code.js';
import type { Invocation } from '../invocation.js';
import { mailDirectly } from '../notify.js';
import { requireOwnDatabase } from '../open-database.js';
import type { MetricsAddress } from '../options.js';
import { waitForAbort } from '../process.js';
import { loadInvocationConfig, openLogger, withAppContext } from '../session.js';
import { formatTable } from '../text.js';
import { startMonitoring } from './health.js';
import { planSchedule } from './operate-schedule.js';
import { performJob } from './run-scheduled.js';

// Longer than a restart of the database.
const mailBlockedAfterMs = 5 * 60_000;

/** Runs the jobs on schedule and the checks of the watchdog until a signal; serves metrics when an address is given. Exit code 4 when the signal interrupted a job. */
export async function keepSchedule(
  asked: Invocation,
  address: MetricsAddress | null,
): Promise<{ exitCode: number; isWritten: true }> {
  const { signal } = asked;
  const config = loadInvocationConfig(asked);
  const plan = planWork(config);
  await requireOwnDatabase(config, 'schedule');
  const logger = openLogger(asked, config);
  const monitoring = await startMonitoring(asked, config, { logger, address });
  const { invocation } = monitoring;
  const interruption = followInterruption(signal);
  const logEvent = watchEvents(invocation, logger);
  const emit = (event: ScheduleEvent): void => {
    interruption.note(event);
    if (event.kind === 'ended') monitoring.noteJob(event.run.job, event.exitCode === 0 ? 'finished' : 'failed');
    logEvent(event);
  };
  const jobStarter = new JobStarter(
    plan,
    (app, job, run, held) => performJob(app, job, run, held, { stopping: signal, logger }),
    emit,
  );
  asked.lastRun.listJobs = () => jobStarter.running;
  let isKept = false;
  const scheduler = startScheduler({
    clock: systemClock,
    emit,
    // Opened for each check, so that other commands can use the embedded database between jobs.
    look: () =>
      withAppContext(invocation, { command: 'schedule', isLasting: jobStarter.isLasting }, async (app) => {
        const planned = plan.planned.map(({ job, schedule }) => ({ job: job.name, schedule }));
        if (!isKept) await keepSchedules(app, planned, { areAll: true });
        isKept = true;
        return jobStarter.look(app, signal);
      }),
  });
  await sayPlan(invocation, logger, plan);
  await waitForAbort(signal);
  await scheduler.stop();
  await monitoring.stop();
  return { exitCode: interruption.hasHappened() ? exitCodes.stopped : exitCodes.complete, isWritten: true };
}

function planWork(config: Config): SchedulePlan {
  const problems = [...findMissingService(config), ...findMissingMail(config)];
  const plan = planSchedule(config);
  if (plan.planned.length === 0) problems.push({ where: 'jobs', path: 'jobs', message: 'every job is switched off' });
  if (problems.length > 0) throw new ConfigError(problems);
  return plan;
}

/** Logs events; mails once when no job can be started for five minutes. */
function watchEvents(invocation: Invocation, logger: Logger): (event: ScheduleEvent) => void {
  const log = logSchedule(logger);
  let isMailed = false;
  return (event) => {
    log(event);
    if (event.kind !== 'blocked') isMailed = false;
    else if (!isMailed && event.sinceMs >= mailBlockedAfterMs) {
      isMailed = true;
      const { error } = event;
      void mailDirectly(invocation, { task: 'schedule', roster: null, error, signal: invocation.signal });
    }
  };
}

async function sayPlan({ terminal, options }: Invocation, logger: Logger, { planned }: SchedulePlan): Promise<void> {
  const plan = planned.map(({ job, schedule }) => ({
    job: job.name,
    ...schedule,
    next: listNextRuns(schedule, systemClock.now())[0]?.toISOString() ?? null,
  }));
  if (options.json) {
    return terminal.writeData(`${JSON.stringify({ schema: 'nightscreen/schedule/1', jobs: plan })}\n`);
  }
  if (!terminal.isScreen) {
    for (const { job, cron, timezone, next } of plan) logger.info({ job, cron, timezone, next }, 'job_planned');
    return;
  }
  if (!options.quiet)
    terminal.writeMessage(
      formatTable(plan.map(({ job, cron, timezone, next }) => [job, cron, timezone, `next ${next ?? 'never'}`])),
    );
}

/** Notes whether `signal` ended a job before it was done, even if the database failed before the job's end was stored. */
export function followInterruption(signal: AbortSignal) {
  const underWay = new Set<string>();
  let hasHappened = false;
  return {
    note: (event: ScheduleEvent): void => {
      const { kind } = event;
      const isCutOff = kind === 'interrupted' || (kind === 'blocked' && underWay.size > 0);
      if (isCutOff && signal.aborted) hasHappened = true;
      if (kind === 'begun') underWay.add(event.run.job);
      else if (kind === 'ended' || kind === 'interrupted') underWay.delete(event.run.job);
      else if (kind === 'blocked') underWay.clear();
    },
    hasHappened: () => hasHappened,
  };
}

/** Writes the events of a scheduler as log lines; events that need attention are warnings and errors. */
export const logSchedule =
  (logger: Logger) =>
  (event: ScheduleEvent): void => {
    const [level, fields, message] = toLine(event);
    logger[level](fields, message);
  };

function toLine(event: ScheduleEvent): ['info' | 'warn' | 'error', Record<string, unknown>, string] {
  if (event.kind === 'blocked')
    return ['error', { err: event.error, retryMs: event.retryMs }, 'schedule_blocked: it will be retried'];
  if (event.kind === 'missed') {
    const fields = { job: event.job, dates: event.missed.map(({ dueSlot }) => dueSlot) };
    return ['error', fields, 'job_missed: no scheduler ran when it was due'];
  }
  const of = 'run' in event ? event.run : { job: event.job, localDate: event.due.localDate };
  const facts = { job: of.job, date: of.localDate };
  switch (event.kind) {
    case 'begun': {
      const { dueAt, attempts: attempt, isLate: late } = event.run;
      return [late ? 'warn' : 'info', { ...facts, dueAt, attempt, late }, `job_started${late ? ': late' : ''}`];
    }
    case 'ended': {
      const { exitCode, because, runIds } = event;
      const fields = { ...facts, exitCode, because, runIds };
      if (exitCode !== 0) return ['error', fields, 'job_finished: with problems'];
      return because === null ? ['info', fields, 'job_finished'] : ['warn', fields, 'job_finished: with a remark'];
    }
    case 'interrupted':
      return ['warn', { ...facts, because: event.because }, 'job_interrupted: it will be started again'];
    case 'given_up':
      return ['error', { ...facts, attempts: event.run.attempts }, 'job_given_up: no attempt finished'];
    case 'held':
      return ['info', { ...facts, holder: event.holder }, 'job_held: another process runs it'];
    case 'waiting':
      return ['info', { ...facts, for: event.for, until: event.until }, 'job_waits: another job must end first'];
  }
}
