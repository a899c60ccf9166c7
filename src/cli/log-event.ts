import type { Logger } from 'pino';
import type { ClientEvent } from '../client/client-event.js';
import { systemClock } from '../clock.js';
import type { RunEvent } from '../runs/run-event.js';
import { ProgressMeter } from './progress-meter.js';
import { type RunOfLine, RunTracker } from './run-tracker.js';
import type { Teller } from './teller.js';

const progressEveryMs = 30_000;

/**
 * Writes run events as structured lines, each with the run it belongs to and its roster, and, while a stage is going on, how far it has come: every 30 seconds and when it ends. No line
 * holds anything of a customer.
 */
export function logEvents(logger: Logger, perSecond: number, everyMs = progressEveryMs): Teller {
  const meter = new ProgressMeter(perSecond, systemClock.elapsedMs);
  const runs = new RunTracker();
  let hasNews = false;
  const logProgress = (): void => {
    const { figures } = meter;
    if (figures !== null) logger.info({ ...runs.current, ...toFields(figures) }, 'progress');
    hasNews = false;
  };
  const timer = setInterval(logProgress, everyMs).unref();
  return {
    tell: (event) => {
      if (event.kind === 'progress') hasNews = true;
      if ((event.kind === 'stage_finished' || event.kind === 'run_finished') && hasNews) logProgress();
      meter.note(event);
      logEvent(logger, event, runs.note(event));
    },
    close: () => {
      clearInterval(timer);
      if (hasNews) logProgress();
    },
  };
}

function toFields({ found, waitingFor, callsPerSecond, ...figures }: NonNullable<ProgressMeter['figures']>) {
  const rounded = callsPerSecond === null ? null : Math.round(callsPerSecond * 10) / 10;
  return {
    ...figures,
    ...found,
    callsPerSecond: rounded,
    waitingFor: waitingFor?.kind ?? null,
    ...(waitingFor && 'seconds' in waitingFor ? { waitingSeconds: waitingFor.seconds } : {}),
  };
}

/** One event: single steps at level debug, warnings and runs that are not complete at level warn, rosters without any at level error. */
function logEvent(logger: Logger, event: RunEvent, run: RunOfLine): void {
  if (event.kind === 'service') {
    logServiceEvent(logger, event.event, run);
    return;
  }
  if (event.kind === 'roster_failed') {
    const { kind, ...facts } = event;
    logger.error(facts, kind);
    return;
  }
  const { kind, ...facts } = event;
  const isBad = kind === 'warning' || (event.kind === 'run_finished' && event.state !== 'complete');
  if (kind === 'progress') logger.debug({ ...run, ...facts }, 'step');
  else logger[isBad ? 'warn' : 'info']({ ...run, ...facts }, kind);
}

/** An outage is worth a warning, and so is its end; that the pace is adapted is part of the day's work. */
function logServiceEvent(logger: Logger, event: ClientEvent, run: RunOfLine): void {
  const { kind, ...facts } = event;
  const isOutage = kind === 'outage_began' || kind === 'outage_ended';
  logger[isOutage ? 'warn' : 'info']({ ...run, ...facts }, kind);
}
