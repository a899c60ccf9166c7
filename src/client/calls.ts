import type { z } from 'zod';
import type { Clock } from '../clock.js';
import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  RateLimitError,
  ResponseError,
  ServerError,
  ServiceUnavailableError,
  TimeoutError,
} from '../errors.js';
import type { KeyHolder } from './credentials.js';
import {
  type Answer,
  type AttemptEnd,
  type AttemptObserver,
  type CallOperation,
  type CallOptions,
  checkCallOptions,
  type Operation,
} from './operation.js';
import type { Pace, Reachability, Turn } from './pace.js';
import type { serviceSettingsSchema } from './settings.js';
import { createFollowSignals } from './signals.js';
import { HeldBackError, type Transport } from './transport.js';

type RetrySettings = z.output<typeof serviceSettingsSchema>['retry'];

/** A call earns this much: a service with random failures then costs at most one and a half requests per search. */
const earnedPerCall = 0.5;
/** The initial budget covers failures at the start. */
const atStart = 50;
/** The maximum: what many calls earn before the first of them returns from its back-off. */
const capacity = 200;

/** Repeats that the calls so far have earned. Unlimited repeats would multiply the load of a failing service. */
export class RetryBudget {
  #left = atStart;

  earn(): void {
    this.#left = Math.min(capacity, this.#left + earnedPerCall);
  }

  /** Takes one repeat; false when none is left. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

/** The delay before attempt `attempt + 1` in milliseconds: full jitter over a capped exponential; `random` gives 0 up to 1. */
export const computeBackoffDelay = (
  attempt: number,
  settings: Pick<RetrySettings, 'baseDelayMs' | 'maxDelayMs'>,
  random: () => number,
): number => Math.round(random() * Math.min(settings.maxDelayMs, settings.baseDelayMs * 2 ** (attempt - 1)));

/** A failed attempt, counted from 1, with the retry rule of its operation. */
interface FailedAttempt {
  error: unknown;
  attempt: number;
  rule: Operation<unknown>['retry'];
}

/** A refusal for pace. A cooldown, or a throttle of an operation that is never repeated, concerns one record only. */
const isPaceComplaint = ({ error, rule }: FailedAttempt): boolean =>
  error instanceof RateLimitError && error.code !== 'cooldown_active' && rule !== 'never';

const isOutOfReach = (error: unknown): boolean =>
  error instanceof ServiceUnavailableError || error instanceof ServerError || error instanceof ConnectionError;

const isPassingFailure = (error: unknown): boolean =>
  isOutOfReach(error) || (error instanceof ApiError && error.isUntimely);

const toReachability = (error: unknown): Reachability => {
  if (error instanceof ResponseError && error.isStandIn) return 'out_of_reach';
  if (isOutOfReach(error)) return 'out_of_reach';
  return error instanceof ApiError ? 'there' : 'unknown';
};

/** Whether a repeat cannot act twice: nothing arrived, or the service refused before it did anything. */
const isHarmless = (failed: FailedAttempt): boolean =>
  isPaceComplaint(failed) || (failed.error instanceof ConnectionError && !failed.error.mayHaveArrived);

const mayRepeat = (failed: FailedAttempt): boolean => {
  if (failed.rule === 'repeatable') return isPaceComplaint(failed) || isPassingFailure(failed.error);
  return failed.rule === 'after_refusal' && isHarmless(failed);
};

/** Decides what follows a failed attempt (DESIGN: Errors); `random` gives 0 up to 1. */
export const decideRetry = (failed: FailedAttempt, settings: RetrySettings, random: () => number) => {
  const { error, attempt } = failed;
  const isRefusedForPace = isPaceComplaint(failed);
  const isPassing = isRefusedForPace || isPassingFailure(error);
  // "Retry-After: 0" gives no time. Without back-off, an outage would get all attempts at once.
  const askedMs = isPassing && error instanceof ApiError && error.retryAfterMs ? error.retryAfterMs : undefined;
  return {
    /** Whether the operation may be sent again, and after how many milliseconds. */
    isRepeated: mayRepeat(failed) && attempt < settings.maxAttempts,
    delayMs: isPassing ? (askedMs ?? computeBackoffDelay(attempt, settings, random)) : 0,
    /** Whether all callers wait, not only this one. */
    isPauseForAll: isRefusedForPace || askedMs !== undefined,
    isRefusedForPace,
    reachability: toReachability(error),
  };
};

const toOutcomeWord = (error: unknown): AttemptEnd['outcome'] => {
  if (error instanceof ApiError) return 'error_status';
  if (error instanceof ResponseError) return 'bad_response';
  if (error instanceof TimeoutError) return 'timeout';
  return error instanceof ConnectionError ? 'connection' : 'aborted';
};

// Probes run one at a time, at most 20 seconds apart.
const longestProbeMs = 20_000;

const good = { reachability: 'there', isRefusedForPace: false, pauseMs: 0 } as const;

/** `timeoutMs` is the total deadline of an attempt without its own. */
interface CallSettings {
  transport: Transport;
  clock: Clock;
  observer: AttemptObserver | undefined;
  timeoutMs: number;
  pace: Pace;
  keys: KeyHolder;
  random: () => number;
  retry: RetrySettings;
  /** Ends all waiting, but no attempt in flight. */
  closing: AbortSignal;
}

interface FailedCall {
  error: unknown;
  decision: ReturnType<typeof decideRetry>;
  /** The service is out of reach: the gate, not the back-off, decides when to continue. */
  isOutage: boolean;
  /** The private key of the attempt; undefined without one. */
  usedKey: string | undefined;
}

const startWaitLimit = (
  clock: Clock,
  { method, path: whole, route: path = whole }: Operation<unknown>,
  maxWaitMs: number,
) => {
  const [ending, ended] = [new AbortController(), new AbortController()];
  const message = `${method} ${path}: was not sent within ${maxWaitMs} ms, because of a pause or an outage`;
  const context = { method, path, mayHaveArrived: false };
  clock.sleep(maxWaitMs, ended.signal).then(
    () => ending.abort(new TimeoutError('wait_over', message, context)),
    () => undefined,
  );
  return { signal: ending.signal, end: () => ended.abort() };
};

/** The client's only retry owner: each attempt waits for its turn in the shared pace and is reported to the observers. */
export const createCallOperation = (settings: CallSettings): CallOperation => {
  const { pace, keys, clock, retry, random, closing } = settings;
  const budget = new RetryBudget();
  const followSignals = createFollowSignals();

  /** `attempt` counts all attempts, this one included; `tries` only those that count against `retry.maxAttempts`. */
  const tryOnce = async <T>(
    operation: Operation<T>,
    { attempt, tries }: { attempt: number; tries: number },
    { turn, waiting }: { turn: Turn; waiting: AbortSignal },
    options: CallOptions,
  ): Promise<{ answer: Answer<T> } | FailedCall | 'held_back'> => {
    // A call earns when it is sent, not when it begins to wait: the budget is small.
    if (attempt === 1) budget.earn();
    const usedKey = keys.apiKey;
    const authorization = keys.present(operation.authentication);
    const observers = [settings.observer, options.observer].filter((observer) => observer !== undefined);
    // Within the turn: a call that waits is in no ledger yet. A failure of the ledger is no answer of the service, and ends the call.
    for (const observer of observers) if (observer.leaving) await observer.leaving(operation.name);
    await turn.untilDue();
    // A pause, an outage or a stop request that came meanwhile holds the request back.
    const mayLeave = (): boolean => !waiting.aborted && turn.mayLeave();
    const wantedMs = options.timeoutMs ?? settings.timeoutMs;
    try {
      const { name, method, path: whole, route: path = whole } = operation;
      const startedAt = clock.now();
      const observed = { operation: name, method, path, attempt, startedAt };
      const trace: AttemptEnd = {
        endedAt: startedAt,
        isSent: false,
        status: null,
        outcome: 'ok',
        bytes: 0,
        requestId: undefined,
        servedAt: undefined,
      };
      for (const observer of observers) observer.started?.(observed);
      const timeoutMs = turn.isProbe ? Math.min(wantedMs, longestProbeMs) : wantedMs;
      const { signal, headers } = options;
      let answer: Answer<T>;
      try {
        answer = await settings.transport.send(operation, {
          authorization,
          timeoutMs,
          headers,
          signal,
          trace,
          mayLeave,
        });
        answer.attempts = attempt;
      } catch (error) {
        trace.outcome = toOutcomeWord(error);
        throw error;
      } finally {
        trace.endedAt = clock.now();
        for (const observer of observers) observer.ended?.(observed, trace);
      }
      turn.assess(good);
      return { answer };
    } catch (error) {
      if (error instanceof HeldBackError) return 'held_back';
      const { maxRetries } = options;
      const most = maxRetries === undefined ? retry : { ...retry, maxAttempts: maxRetries + 1 };
      const decision = decideRetry({ error, attempt: tries, rule: operation.retry }, most, random);
      const { isRefusedForPace, isPauseForAll, delayMs } = decision;
      // A timeout shorter than usual says nothing about the service.
      const isHasty = error instanceof TimeoutError && wantedMs < settings.timeoutMs;
      const reachability = isHasty ? 'unknown' : decision.reachability;
      // Before the turn ends: the next caller must see the pause.
      const { isOutage } = turn.assess({ reachability, isRefusedForPace, pauseMs: isPauseForAll ? delayMs : 0 });
      return { error, decision, isOutage, usedKey };
    }
  };

  const waitBeforeRepeat = async (
    { error, decision, isOutage }: FailedCall,
    { isBudgeted = true }: CallOptions,
    signal: AbortSignal,
  ): Promise<void> => {
    if (!decision.isRepeated) throw error;
    // During an outage the gate limits the calls, and no call must sleep past its end.
    if (isOutage) return;
    if (isBudgeted && !budget.take()) throw error;
    if (!decision.isPauseForAll) await clock.sleep(decision.delayMs, signal);
  };

  /** Whether another key is available after a refusal; throws when the new one must not be used. */
  const hasNewKey = async (
    { error, usedKey }: FailedCall,
    { authentication }: Operation<unknown>,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const isOurs = authentication === 'private_key' || authentication === 'private_key_or_jwt';
    if (!isOurs || !(error instanceof AuthenticationError)) return false;
    const renewal = await keys.renew(usedKey, signal);
    if (renewal.kind !== 'unusable') return renewal.kind === 'renewed';
    const message = `${error.message}; the key that was read again ${renewal.problem}`;
    throw new AuthenticationError('key_unusable', message, { ...error, cause: error });
  };

  return async (operation, given = {}) => {
    const options = checkCallOptions(given);
    const waitLimit = options.maxWaitMs === undefined ? undefined : startWaitLimit(clock, operation, options.maxWaitMs);
    const waiting = followSignals([closing, options.signal, options.waitSignal, waitLimit?.signal]);
    let isRenewed = false;
    let tries = 1;
    let last: FailedCall | undefined;
    try {
      for (let attempt = 1; ; attempt += 1) {
        waiting.throwIfAborted();
        const entrant = { operation: operation.name, isRepeat: attempt > 1, signal: waiting };
        const count = { attempt, tries };
        const outcome = await pace.run(entrant, (turn) => tryOnce(operation, count, { turn, waiting }, options));
        if (outcome === 'held_back') continue;
        if ('answer' in outcome) return outcome.answer;
        last = outcome;
        // A refused key had no effect. Any operation may be sent once more with another key.
        const mayRenew = !isRenewed && (await hasNewKey(outcome, operation, waiting));
        if (mayRenew) isRenewed = true;
        else await waitBeforeRepeat(outcome, options, waiting);
        tries += 1;
      }
    } catch (error) {
      // The last failure explains more than the wait.
      throw last !== undefined && error === waitLimit?.signal.reason ? last.error : error;
    } finally {
      waitLimit?.end();
    }
  };
};
