import type { Logger } from 'pino';
import type { RunEvent } from '../runs/run-event.js';

/** Writes a run event as one structured line: progress at level debug, warnings and runs that are not complete at level warn. */
export function logEvent(logger: Logger, event: RunEvent): void {
  const { kind, ...facts } = event;
  const isProgress = kind === 'progress';
  const isBad = kind === 'warning' || (event.kind === 'run_finished' && event.state !== 'complete');
  logger[isProgress ? 'debug' : isBad ? 'warn' : 'info'](facts, kind);
}
