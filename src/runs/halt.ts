import { followSignals } from '../client/signals.js';
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

/** The halt that an aborted signal asks for: its own, when it brings one, or somebody's wish to stop. */
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

/** What stops the searches of a run: a wish, an outage that lasted too long, or what one of them met. */
export interface StopSignals {
  /** Ends waiting: nothing more is sent. */
  readonly waitSignal: AbortSignal;
  /** Ends what is under way: 5 seconds after a wish to stop or an outage's deadline, never for the searches' own sake. */
  readonly signal: AbortSignal;
  /** Stops for a reason that the searches themselves have met; the first one counts. */
  stop(reason: unknown): void;
  /** Throws why it was stopped, if it was. */
  throwIfStopped(): void;
  /** Lets go of the signals that are followed. */
  clear(): void;
}

/** Follows a run's signal and its outage's. */
export function openStopSignals(run: AbortSignal, outage: AbortSignal): StopSignals {
  const own = new AbortController();
  const waiting = followSignals(own.signal, [run, outage]);
  const asked = followSignals(run, [outage]);
  const calls = abortLater(asked.signal, stopGraceMs);
  return {
    waitSignal: waiting.signal,
    signal: calls.signal,
    stop: (reason) => own.abort(reason),
    throwIfStopped: () => {
      if (outage.aborted) throw toSignalHalt(outage);
      if (own.signal.aborted) throw own.signal.reason;
      if (run.aborted) throw toSignalHalt(run);
    },
    clear: () => {
      calls.clear();
      asked.clear();
      waiting.clear();
    },
  };
}
