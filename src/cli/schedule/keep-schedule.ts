import type { Logger } from 'pino';
import { systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { ConfigError, type ConfigProblem, usageError } from '../../errors.js';
import { keepSchedules } from '../../runs/scheduled.js';
import { listNextRuns } from '../../scheduling/due-times.js';
import { JobStarter, type ScheduleEvent, startScheduler } from '../../scheduling/scheduler.js';
import { findMissingMail, findMissingService } from '../app-context.js';
import { describeError } from '../describe-error.js';
import { exitCodes } from '../exit-code.js';
import type { Invocation } from '../invocation.js';
import { mailDirectly } from '../notify.js';
import { requireOwnDatabase } from '../open-database.js';
import type { MetricsAddress } from '../options.js';
import { waitForAbort } from '../process.js';
import { listInvocations, loadInvocationConfig, openLogger, withAppContext } from '../session.js';
import { formatTable } from '../text.js';
import { type Scheduled, startMonitoring } from './health.js';
import { planSchedule } from './operate-schedule.js';
import { performJob } from './run-scheduled.js';

// Longer than a restart of the database.
const mailBlockedAfterMs = 5 * 60_000;

/**
 * Runs the jobs of each organisation on schedule, and the checks of the watchdog, until a signal; serves metrics when an address is given. Exit
 * code 4 when the signal interrupted a job.
 */
export async function keepSchedule(
  asked: Invocation,
  address: MetricsAddress | null,
): Promise<{ exitCode: number; isWritten: true }> {
  const { signal } = asked;
  const scheduled = listScheduled(asked);
  const [{ config, invocation: one }] = scheduled;
  await requireOwnDatabase(config, 'schedule');
  const logger = openLogger(scheduled.length > 1 ? asked : one, config);
  const monitoring = await startMonitoring(asked, scheduled, { logger, address });
  const keepers = monitoring.invocations.flatMap((invocation) => {
    const own = loadInvocationConfig(invocation);
    return planSchedule(own).planned.length === 0 ? [] : [startKeeper(invocation, own)];
  });
  asked.lastRun.listJobs = () => keepers.flatMap((keeper) => keeper.listJobs());
  await sayPlan(
    asked,
    logger,
    keepers.flatMap((keeper) => keeper.planned),
  );
  await waitForAbort(signal);
  await Promise.all(keepers.map((keeper) => keeper.stop()));
  await monitoring.stop();
  const isCutOff = keepers.some((keeper) => keeper.isCutOff());
  return { exitCode: isCutOff ? exitCodes.stopped : exitCodes.complete, isWritten: true };
}

/** The organisations of the schedule; throws ConfigError when none of them can start its jobs, or the database is not for several. */
function listScheduled(asked: Invocation): readonly [Scheduled, ...Scheduled[]] {
  const invocations = listInvocations(asked);
  const [first, ...others] = invocations.map((invocation) => ({
    invocation,
    config: loadInvocationConfig(invocation),
  }));
  if (first === undefined) throw new ConfigError([]);
  const scheduled: readonly [Scheduled, ...Scheduled[]] = [first, ...others];
  const problems = scheduled.map(({ config }) => findProblems(config));
  if (problems.every(({ length }) => length > 0)) throw new ConfigError(problems.flat());
  if (others.length > 0 && first.config.secret('DATABASE_URL') === undefined) {
    const message =
      'is not set, and in the embedded database the jobs of organisations wait for each other. Set it, or name one with --organisation';
    throw usageError('env DATABASE_URL', message);
  }
  return scheduled;
}

/**
 * Starts the jobs of one organisation. While its settings are incomplete, as without its key, every look fails, is reported and is repeated; the
 * other organisations continue meanwhile.
 */
function startKeeper(invocation: Invocation, first: Config) {
  const { signal, measuring } = invocation;
  const { organisation } = invocation.options;
  const logger = openLogger(invocation, first);
  const interruption = followInterruption(signal);
  const logEvent = watchEvents(invocation, logger);
  const emit = (event: ScheduleEvent): void => {
    interruption.note(event);
    if (event.kind === 'ended') {
      measuring?.metrics.noteJob(event.run.job, event.exitCode === 0 ? 'finished' : 'failed');
    }
    logEvent(event);
  };
  const begin = (config: Config) => {
    const problems = findProblems(config);
    if (problems.length > 0) throw new ConfigError(problems);
    const plan = planSchedule(config);
    const jobStarter = new JobStarter(
      plan,
      (app, job, run, held) => performJob(app, job, run, held, { stopping: signal, logger }),
      emit,
    );
    return { config, plan, jobStarter };
  };
  const noteBlocked = (code: string | null): void => {
    if (measuring) measuring.metrics.blockedBy = code;
  };
  let begun: ReturnType<typeof begin> | null = null;
  let isKept = false;
  const look = async (): Promise<Date> => {
    begun ??= begin(loadInvocationConfig(invocation));
    const { config, plan, jobStarter } = begun;
    // Opened for each check, so that other commands can use the embedded database between jobs.
    return withAppContext(invocation, { config, command: 'schedule', isLasting: jobStarter.isLasting }, async (app) => {
      const planned = plan.planned.map(({ job, schedule }) => ({ job: job.name, schedule }));
      if (!isKept) await keepSchedules(app, planned, { areAll: true });
      isKept = true;
      noteBlocked(null);
      return jobStarter.look(app, signal);
    });
  };
  const lookAndNote = (): Promise<Date> =>
    look().catch((error: unknown) => {
      noteBlocked(describeError(error).code);
      throw error;
    });
  const scheduler = startScheduler({ clock: systemClock, emit, look: lookAndNote });
  const name = organisation === undefined ? {} : { organisation };
  return {
    planned: planSchedule(first).planned.map(({ job, schedule }) => ({ ...name, job: job.name, schedule })),
    listJobs: (): readonly string[] =>
      (begun?.jobStarter.running ?? []).map((job) => (organisation === undefined ? job : `${organisation}: ${job}`)),
    isCutOff: interruption.hasHappened,
    stop: scheduler.stop,
  };
}

/** What the jobs of an organisation lack. */
function findProblems(config: Config): ConfigProblem[] {
  const problems = [...findMissingService(config), ...findMissingMail(config)];
  if (planSchedule(config).planned.length > 0) return problems;
  return [...problems, { where: 'jobs', path: 'jobs', message: 'every job is switched off' }];
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

type PlannedStart = ReturnType<typeof startKeeper>['planned'][number];

async function sayPlan(
  { terminal, options }: Invocation,
  logger: Logger,
  planned: readonly PlannedStart[],
): Promise<void> {
  const plan = planned.map(({ schedule, ...names }) => ({
    ...names,
    ...schedule,
    next: listNextRuns(schedule, systemClock.now())[0]?.toISOString() ?? null,
  }));
  if (options.json) {
    return terminal.writeData(`${JSON.stringify({ schema: 'nightscreen/schedule/1', jobs: plan })}\n`);
  }
  if (!terminal.isScreen) {
    for (const one of plan) logger.info(one, 'job_planned');
    return;
  }
  const rows = plan.map(({ organisation, job, cron, timezone, next }) => [
    ...(organisation === undefined ? [] : [organisation]),
    job,
    cron,
    timezone,
    `next ${next ?? 'never'}`,
  ]);
  if (!options.quiet) terminal.writeMessage(formatTable(rows));
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
