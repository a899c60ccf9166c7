import type { Logger } from 'pino';
import type { ScheduleEvent } from '../../scheduling/schedule-event.js';

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
