import { type ApiError, NightscreenError } from '../errors.js';
import type { Account } from '../store/organisations.js';
import type { HaltCode } from '../vocabulary.js';

/** A run that stops early and can be resumed; the message is the reason in the verdict line. */
export class RunHalted extends NightscreenError {
  declare readonly code: HaltCode;

  constructor(code: HaltCode, message: string, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
  }
}

/** Returns a halt; throws any other error. */
export function requireHalt(error: unknown): RunHalted {
  if (error instanceof RunHalted) return error;
  throw error;
}

/** The halt of a run whose account the service refuses (key, funds, role or plan). */
export function toAccountHalt(error: ApiError): RunHalted {
  return new RunHalted('account', `the service refused the account (${error.status}): ${error.message}`, error);
}

/** The halt of an aborted signal: its own reason, or a stop request. */
export function toSignalHalt(signal: AbortSignal): RunHalted {
  return signal.reason instanceof RunHalted
    ? signal.reason
    : new RunHalted('signal', 'stopped on request', signal.reason);
}

/** The key of a run that has begun belongs to another account; the work must not count for that account. */
export class OtherAccount extends NightscreenError {
  readonly account: Account;

  constructor(account: Account) {
    super('other_account', 'stopped: it began under another account than this key belongs to');
    this.account = account;
  }
}

/** A signal that aborts `graceMs` after `signal`. */
export function abortLater(signal: AbortSignal, graceMs: number): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const start = (): void => {
    timer = setTimeout(() => controller.abort(signal.reason), graceMs);
  };
  if (signal.aborted) start();
  else signal.addEventListener('abort', start, { once: true });
  return {
    signal: controller.signal,
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', start);
    },
  };
}

/** How long running requests may still be answered after a stop request. */
export const stopGraceMs = 5_000;
