import type { Logger } from 'pino';
import { type Clock, systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { ConfigError, RunLockedError } from '../../errors.js';
import { createMetrics } from '../../metrics/metrics.js';
import { toDurationMs } from '../../roster/duration.js';
import { keepSchedules } from '../../runs/scheduled.js';
import { findNextRun } from '../../scheduling/due-times.js';
import { Lookout, type ScheduleEvent, startScheduler } from '../../scheduling/scheduler.js';
import { exitCodes } from '../exit-code.js';
import { type MetricsAddress, nowAndThen, startMetricsServer, type WatchedHealth, watchHealth } from '../health.js';
import type { Invocation, Written } from '../invocation.js';
import { type Measuring, measureInto } from '../measuring.js';
import { findPingAddress, mailDirectly } from '../notify.js';
import { requireOwnDatabase } from '../open-database.js';
import { version, waitForAbort } from '../process.js';
import { loadInvocationConfig, openLogger, withWorkplace } from '../session.js';
import { formatTable } from '../text.js';
import { look } from '../watchdog.js';
import { findMissingMail, findMissingService } from '../workplace.js';
import { type JobFailure, logJobFailure, performJob } from './jobs.js';
import { type JobsAndPlan, planSchedule } from './plan-schedule.js';

// A database that is being restarted is back by then.
const mailBlockedAfterMs = 5 * 60_000;

/** Runs the jobs by the clock until a signal, and looks as the watchdog does; serves metrics where an address is given; ends with 4 when that interrupted one. */
export async function keepSchedule(asked: Invocation, address: MetricsAddress | null): Promise<Written> {
  const { signal } = asked;
  const config = loadInvocationConfig(asked);
  const plan = await planWork(config);
  await requireOwnDatabase(config, 'schedule');
  const logger = openLogger(asked, config);
  findPingAddress(config);
  const beside = await startBeside(asked, config, { logger, address });
  const { invocation } = beside;
  const interruption = followInterruption(signal);
  const tellLog = watchEvents(invocation, logger);
  const tell = (event: ScheduleEvent): void => {
    interruption.note(event);
    if (event.kind === 'ended') beside.noteJob(event.run.job, event.exitCode === 0 ? 'finished' : 'failed');
    tellLog(event);
  };
  const performed = (job: string) => ({
    plan,
    stopping: signal,
    failed: (failure: JobFailure) => logJobFailure(logger, job, failure),
  });
  const lookout = new Lookout(
    plan,
    (workplace, { job }, run, held) => performJob(workplace, job, run, held, performed(job.name)),
    tell,
  );
  asked.lastRun.listJobs = () => lookout.running;
  let isKept = false;
  const scheduler = startScheduler({
    clock: systemClock,
    tell,
    // Opened for each look, so that between jobs other commands can use the embedded database.
    look: () =>
      withWorkplace(invocation, {
        command: 'schedule',
        isLasting: lookout.isLasting,
        prepare: () => {},
        work: async (workplace) => {
          const planned = plan.planned.map(({ job, schedule }) => ({ job: job.name, schedule }));
          if (!isKept) await keepSchedules(workplace, planned, { areAll: true });
          isKept = true;
          return lookout.look(workplace, signal);
        },
      }),
  });
  await sayPlan(invocation, logger, plan);
  await waitForAbort(signal);
  await scheduler.stop();
  await beside.stop();
  return { exitCode: interruption.hasHappened() ? exitCodes.stopped : exitCodes.complete, isWritten: true };

  async function planWork(loaded: Config): Promise<JobsAndPlan> {
    const problems = [...findMissingService(loaded), ...findMissingMail(loaded)];
    const found = await planSchedule(loaded);
    if (found.planned.length === 0)
      problems.push({ where: 'jobs', path: 'jobs', message: 'every job is switched off' });
    if (problems.length > 0) throw new ConfigError(problems);
    if (loaded.settings.rosters.length === 0) {
      asked.notify({
        level: 'warn',
        code: 'no_roster',
        message: 'no roster is configured, so nobody will be screened; write `rosters:` into the file',
      });
    }
    return found;
  }
}

/** Logs what is told; mails once that nothing can be begun when that has lasted. */
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

async function sayPlan({ terminal, options }: Invocation, logger: Logger, { planned }: JobsAndPlan): Promise<void> {
  const plan = planned.map(({ job, schedule }) => ({
    job: job.name,
    ...schedule,
    next: findNextRun(schedule)?.toISOString() ?? null,
  }));
  if (options.json) {
    return terminal.writeData(`${JSON.stringify({ schema: 'nightscreen/schedule/1', jobs: plan })}\n`);
  }
  if (!terminal.isScreen) {
    for (const { job, cron, timezone, next } of plan) logger.info({ job, cron, timezone, next }, 'job_planned');
    return;
  }
  terminal.writeMessage(
    formatTable(plan.map(({ job, cron, timezone, next }) => [job, cron, timezone, `next ${next ?? 'never'}`])),
  );
}

/** Follows whether a job ends because of `signal` before it is done, also where the database goes before that could be noted. */
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

/** Tells what a scheduler does as log lines; what needs somebody's eyes as warnings and errors. */
export const logSchedule =
  (logger: Logger) =>
  (event: ScheduleEvent): void => {
    const [level, fields, message] = toLine(event);
    logger[level](fields, message);
  };

function toLine(event: ScheduleEvent): ['info' | 'warn' | 'error', Record<string, unknown>, string] {
  if (event.kind === 'blocked')
    return ['error', { err: event.error, retryMs: event.retryMs }, 'schedule_blocked: it is tried again'];
  if (event.kind === 'missed') {
    const fields = { job: event.job, dates: event.missed.map(({ occasion }) => occasion) };
    return ['error', fields, 'job_missed: nothing was there to begin it when it was due'];
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
      if (exitCode !== 0) return ['error', fields, 'job_finished: not all is well'];
      return because === null ? ['info', fields, 'job_finished'] : ['warn', fields, 'job_finished: with a remark'];
    }
    case 'interrupted':
      return ['warn', { ...facts, because: event.because }, 'job_interrupted: it is taken up again'];
    case 'hanging': {
      const fields = { ...facts, owner: event.run.owner, because: event.because };
      return ['error', fields, 'job_stuck: it ignored its signal; restart this process'];
    }
    case 'given_up':
      return ['error', { ...facts, attempts: event.run.attempts }, 'job_given_up: it never came to its end'];
    case 'held':
      return ['info', { ...facts, holder: event.holder }, 'job_held: another process runs it'];
    case 'waiting':
      return ['info', { ...facts, for: event.for, until: event.until }, 'job_waits: another has to end first'];
  }
}

/** What runs beside the jobs of a scheduler. */
interface Beside {
  /** The invocation that jobs are to be run with, so that they are measured. */
  invocation: Invocation;
  noteJob(job: string, outcome: 'finished' | 'failed'): void;
  stop(): Promise<void>;
}

/** What goes on beside jobs is told to `logger`; `clock` says when to look. */
interface BesideOptions {
  logger: Logger;
  address: MetricsAddress | null;
  clock?: Clock;
}

/** A look that hangs when somebody asks to stop is left behind: nothing is lost by it, and the whole has 7 seconds. */
const mostAtStopMs = 5_000;

/** Begins to look as the watchdog does, and serves metrics and health where an address is given; throws ConfigError when it cannot be taken. */
export async function startBeside(
  invocation: Invocation,
  config: Config,
  { logger, address, clock = systemClock }: BesideOptions,
): Promise<Beside> {
  const metrics = createMetrics(version, { isLasting: true });
  const isStopping = (): boolean => invocation.signal.aborted;
  const complain = (message: string): void => logger.warn({ code: 'metrics_not_left', message }, 'warning');
  const measuring = measureInto(config, metrics, { isStopping, complain });
  const health = watchHealth(config, measuring, isStopping);
  const { textfile, hosts } = config.settings.metrics;
  const server = address === null ? null : await startMetricsServer(address, health, hosts);
  if (server) logger.info({ port: server.port }, 'metrics_served');
  // On Postgres figures are read by connections of their own.
  const isEmbedded = config.secret('DATABASE_URL') === undefined;
  const measured: Measuring = isEmbedded
    ? { ...measuring, refresh: nowAndThen(measuring.refresh, true) }
    : { ...measuring, refresh: async () => true };
  const isLeft = textfile !== undefined;
  const inner = { ...invocation, measuring: measured };
  const isAsked = isLeft || address !== null;
  const first = isEmbedded && isAsked ? readFirst(inner, complain) : Promise.resolve();
  const freshening = isEmbedded || !isLeft ? null : keepFresh(health, invocation.signal);
  const looking = first.then(() => keepLooking(inner, config, logger, clock));
  return {
    invocation: inner,
    noteJob: (job, outcome) => metrics.noteJob(job, outcome),
    stop: async () => {
      await Promise.race([Promise.all([looking, freshening]), clock.sleep(mostAtStopMs)]);
      await server?.stop();
      await health.close();
    },
  };
}

const freshenEveryMs = 60_000;

/** Leaves figures where the settings say, until the signal, although nobody asks for them. */
async function keepFresh(health: WatchedHealth, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    void health.freshen();
    await systemClock.sleep(freshenEveryMs, signal).catch(() => undefined);
  }
}

/** Reads figures before the first job does: until then there would be none. */
async function readFirst(invocation: Invocation, complain: (message: string) => void): Promise<void> {
  try {
    await withWorkplace(invocation, { command: 'schedule: metrics', prepare: () => {}, work: async () => {} });
  } catch (error) {
    // Another process works in the embedded database, or it cannot be opened: the jobs say so, too.
    complain(`there are no figures yet: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Looks every so often until the signal; on the embedded database in turn with the jobs. */
async function keepLooking(invocation: Invocation, config: Config, logger: Logger, clock: Clock): Promise<void> {
  const everyMs = toDurationMs(config.settings.watchdog.every);
  for (;;) {
    try {
      await clock.sleep(everyMs, invocation.signal);
    } catch {
      return;
    }
    try {
      const { exitCode, document } = await look(invocation);
      const { findings } = document;
      logger[exitCode === 0 ? 'debug' : 'warn']({ findings }, exitCode === 0 ? 'watchdog' : 'watchdog_alarm');
    } catch (err) {
      if (invocation.signal.aborted) return;
      // Another process works in the embedded database.
      if (err instanceof RunLockedError) logger.debug({ err }, 'watchdog_waits');
      else logger.error({ err }, 'watchdog_failed');
    }
  }
}
