import type { Logger } from 'pino';
import { systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import { keepSchedules } from '../../runs/scheduled.js';
import { Lookout } from '../../scheduling/lookout.js';
import { findNextRun } from '../../scheduling/next-run.js';
import type { ScheduleEvent } from '../../scheduling/schedule-event.js';
import { startScheduler } from '../../scheduling/scheduler.js';
import { startBeside } from '../beside-scheduler.js';
import { exitCodes } from '../exit-code.js';
import { formatTable } from '../format-table.js';
import type { Invocation, Written } from '../invocation.js';
import type { MetricsAddress } from '../measuring/metrics-server.js';
import { requireOwnDatabase } from '../open-database.js';
import { loadInvocationConfig, openLogger, withWorkplace } from '../session.js';
import { waitForAbort } from '../wait-for-abort.js';
import { mailDirectly } from '../with-failure-mail.js';
import { findMissingMail, findMissingService } from '../workplace.js';
import { logJobFailure } from './log-job-failure.js';
import { type JobFailure, performJob } from './perform-job.js';
import { type JobsAndPlan, planSchedule } from './plan-schedule.js';
import { checkPings, withJobPings } from './with-job-pings.js';

// A database that is being restarted is back by then.
const mailBlockedAfterMs = 5 * 60_000;

/** Runs the jobs by the clock until a signal, and looks as the watchdog does; serves metrics where an address is given; ends with 4 when that interrupted one. */
export async function keepSchedule(asked: Invocation, address: MetricsAddress | null): Promise<Written> {
  const { signal } = asked;
  const config = loadInvocationConfig(asked);
  const plan = await planWork(config);
  await requireOwnDatabase(config, 'schedule');
  const logger = openLogger(asked, config);
  checkPings(config);
  const complain = (message: string): void => logger.warn({ code: 'ping_not_taken', message }, 'warning');
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
    (workplace, { job }, run, held) =>
      withJobPings(config, job.name, { complain, signal }, () =>
        performJob(workplace, job, run, held, performed(job.name)),
      ),
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

/** Whether a stop has cut off a job, as far as the events of a scheduler tell. */
interface Interruption {
  note(event: ScheduleEvent): void;
  hasHappened(): boolean;
}

/** Follows whether a job ends because of `signal` before it is done, also where the database goes before that could be noted. */
export function followInterruption(signal: AbortSignal): Interruption {
  const underWay = new Set<string>();
  let hasHappened = false;
  return {
    note: (event) => {
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

interface Line {
  level: 'info' | 'warn' | 'error';
  fields: Record<string, unknown>;
  message: string;
}

/** Tells what a scheduler does as log lines; what needs somebody's eyes as warnings and errors. */
export const logSchedule =
  (logger: Logger) =>
  (event: ScheduleEvent): void => {
    const { level, fields, message } = toLine(event);
    logger[level](fields, message);
  };

function toLine(event: ScheduleEvent): Line {
  switch (event.kind) {
    case 'begun': {
      const { job, localDate: date, dueAt, attempts, isLate } = event.run;
      const fields = { job, date, dueAt, attempt: attempts, late: isLate };
      return isLate
        ? { level: 'warn', fields, message: 'job_started: late' }
        : { level: 'info', fields, message: 'job_started' };
    }
    case 'ended': {
      const { run, exitCode, because, runIds } = event;
      const fields = { job: run.job, date: run.localDate, exitCode, because, runIds };
      if (exitCode !== 0) return { level: 'error', fields, message: 'job_finished: not all is well' };
      return because === null
        ? { level: 'info', fields, message: 'job_finished' }
        : { level: 'warn', fields, message: 'job_finished: with a remark' };
    }
    case 'interrupted': {
      const { job, localDate: date } = event.run;
      const fields = { job, date, because: event.because };
      return { level: 'warn', fields, message: 'job_interrupted: it is taken up again' };
    }
    case 'hanging': {
      const { job, localDate: date, owner } = event.run;
      const fields = { job, date, owner, because: event.because };
      return { level: 'error', fields, message: 'job_stuck: it ignored its signal; restart this process' };
    }
    case 'missed': {
      const fields = { job: event.job, dates: event.missed.map(({ occasion }) => occasion) };
      return { level: 'error', fields, message: 'job_missed: nothing was there to begin it when it was due' };
    }
    case 'given_up': {
      const { job, localDate: date, attempts } = event.run;
      return { level: 'error', fields: { job, date, attempts }, message: 'job_given_up: it never came to its end' };
    }
    case 'held': {
      const { job, due, holder } = event;
      const fields = { job, date: due.localDate, holder };
      return { level: 'info', fields, message: 'job_held: another process runs it' };
    }
    case 'waiting': {
      const { job, due, for: awaited, until } = event;
      const fields = { job, date: due.localDate, for: awaited, until };
      return { level: 'info', fields, message: 'job_waits: another has to end first' };
    }
    case 'blocked': {
      const fields = { err: event.error, retryMs: event.retryMs };
      return { level: 'error', fields, message: 'schedule_blocked: it is tried again' };
    }
  }
}
