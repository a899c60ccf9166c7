import type { Logger } from 'pino';
import type { ClientEvent } from '../client/client-event.js';
import type { RunEvent } from '../runs/run-event.js';

/** Writes a run event as one structured line: progress at level debug, warnings and runs that are not complete at level warn. */
export function logEvent(logger: Logger, event: RunEvent): void {
  if (event.kind === 'service') {
    logServiceEvent(logger, event.event);
    return;
  }
  const { kind, ...facts } = event;
  const isProgress = kind === 'progress';
  const isBad = kind === 'warning' || (event.kind === 'run_finished' && event.state !== 'complete');
  logger[isProgress ? 'debug' : isBad ? 'warn' : 'info'](facts, kind);
}

/** An outage is worth a warning, and so is its end; that the pace is adapted is part of the day's work. */
function logServiceEvent(logger: Logger, event: ClientEvent): void {
  const { kind, ...facts } = event;
  const isOutage = kind === 'outage_began' || kind === 'outage_ended';
  logger[isOutage ? 'warn' : 'info'](facts, kind);
}
