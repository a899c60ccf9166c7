import { CommanderError } from 'commander';
import {
  AuthenticationError,
  BackupError,
  ConfigError,
  ConnectionError,
  DatabaseMissingError,
  FolderOwnerError,
  NightscreenError,
  NotStartedError,
  PaymentRequiredError,
  PermissionError,
  RateLimitError,
  RosterError,
  RunLockedError,
  SchemaError,
  ServerError,
  ServiceUnavailableError,
} from '../errors.js';
import { RunHalted } from '../runs/halt.js';

/** The process received a signal to end; `signal` is its name. */
export class InterruptedError extends NightscreenError {
  readonly signal: string;

  constructor(signal: string) {
    super('interrupted', `stopped by ${signal}`);
    this.signal = signal;
  }
}

/** The exit codes of the process (DESIGN: Exit codes). */
export const exitCodes = { complete: 0, unexpected: 1, refused: 2, incomplete: 3, stopped: 4 } as const;

const refusals = [
  ConfigError,
  RosterError,
  RunLockedError,
  SchemaError,
  DatabaseMissingError,
  FolderOwnerError,
  BackupError,
  CommanderError,
];
const stops = [
  InterruptedError,
  RunHalted,
  AuthenticationError,
  PaymentRequiredError,
  PermissionError,
  // The work before it was stopped.
  NotStartedError,
  // After an outage of the service the same command works again.
  ConnectionError,
  ServiceUnavailableError,
  RateLimitError,
  ServerError,
];

export function toErrorExitCode(error: unknown): number {
  if (refusals.some((type) => error instanceof type)) return exitCodes.refused;
  if (stops.some((type) => error instanceof type)) return exitCodes.stopped;
  return exitCodes.unexpected;
}

/**
 * The exit code of several runs together: 1 and 4 win. The result is "refused" only when all runs were refused: with
 * other runs it would claim that nothing was spent.
 */
export function combineExitCodes(codes: readonly number[]): number {
  if (codes.includes(exitCodes.unexpected)) return exitCodes.unexpected;
  if (codes.includes(exitCodes.stopped)) return exitCodes.stopped;
  const [first = exitCodes.complete] = codes;
  return codes.every((code) => code === first) ? first : exitCodes.incomplete;
}
