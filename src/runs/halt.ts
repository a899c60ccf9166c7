import { type ApiError, NightscreenError } from '../errors.js';
import type { Account } from '../store/organisations.js';
import type { HaltCode } from '../vocabulary.js';

/** A run that has to stop early and can be resumed; the message says why, for the verdict line. */
export class RunHalted extends NightscreenError {
  declare readonly code: HaltCode;

  constructor(code: HaltCode, message: string, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
  }
}

/** The halt that ended the work; anything else is thrown on. */
export function requireHalt(error: unknown): RunHalted {
  if (error instanceof RunHalted) return error;
  throw error;
}

/** The halt of a run whose account the service refuses: key rejected, out of funds, role or plan. */
export function toAccountHalt(error: ApiError): RunHalted {
  return new RunHalted('account', `the service refused the account (${error.status}): ${error.message}`, error);
}

/** The halt that an aborted signal asks for: its own, when it brings one, or somebody's request to stop. */
export function toSignalHalt(signal: AbortSignal): RunHalted {
  return signal.reason instanceof RunHalted
    ? signal.reason
    : new RunHalted('signal', 'stopped on request', signal.reason);
}

/** The key of a run that has begun under one account turns out to be of another: what was done must not be counted on that one. */
export class OtherAccount extends NightscreenError {
  readonly account: Account;

  constructor(account: Account) {
    super('other_account', 'stopped: it was begun under another account than the one of this key');
    this.account = account;
  }
}

/** A signal that follows `signal` after `graceMs`. */
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

/** How long answers may still arrive once somebody asked to stop. */
export const stopGraceMs = 5_000;
