import { type ApiError, NightscreenError } from '../../errors.js';
import type { HaltCode } from '../../reports/run-facts.js';

/** A run that has to stop early and can be resumed; the message says why, for the verdict line. */
export class RunHalted extends NightscreenError {
  declare readonly code: HaltCode;

  constructor(code: HaltCode, message: string, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
  }
}

/** The halt of a run whose account the service refuses: key rejected, out of funds, role or plan. */
export function toAccountHalt(error: ApiError): RunHalted {
  return new RunHalted('account', `the service refused the account (${error.status}): ${error.message}`, error);
}

/** The halt that an aborted signal asks for: its own, when it brings one, or somebody's wish to stop. */
export function toSignalHalt(signal: AbortSignal): RunHalted {
  return signal.reason instanceof RunHalted
    ? signal.reason
    : new RunHalted('signal', 'stopped on request', signal.reason);
}
