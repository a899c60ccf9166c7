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
  type Attempt,
  type AttemptEnd,
  type AttemptObserver,
  type CallOperation,
  type CallOptions,
  checkCallOptions,
  type Operation,
  type RetryRule,
} from './operation.js';
import type { Pace, Reachability, Turn } from './pace.js';
import type { serviceSettingsSchema } from './settings.js';
import { createFollowSignals } from './signals.js';
import { HeldBackError, type Transport } from './transport.js';

/** When and how long to wait before an attempt is repeated. */
type RetrySettings = z.output<typeof serviceSettingsSchema>['retry'];

/** What a call adds to the budget: with it a service that fails at random costs at most one and a half calls per search. */
const earnedPerCall = 0.5;
/** There at the beginning: enough for an unlucky start. */
const atStart = 50;
/** Kept at most: what many calls have earned before the first of them comes back from its back-off. */
const capacity = 200;

/** Repeats that the calls so far have earned; whoever finds it empty must not repeat, or failures would multiply the load. */
export class RetryBudget {
  #left = atStart;

  /** A call begins. */
  earn(): void {
    this.#left = Math.min(capacity, this.#left + earnedPerCall);
  }

  /** Takes one repeat; false when there is none left. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

/** Milliseconds before attempt `attempt + 1`: full jitter over a capped exponential; `random` gives 0 up to 1. */
export const computeBackoffDelay = (
  attempt: number,
  settings: Pick<RetrySettings, 'baseDelayMs' | 'maxDelayMs'>,
  random: () => number,
): number => Math.round(random() * Math.min(settings.maxDelayMs, settings.baseDelayMs * 2 ** (attempt - 1)));

/** The attempt that failed, counted from 1, and when its operation may be repeated. */
interface FailedAttempt {
  error: unknown;
  attempt: number;
  rule: RetryRule;
}

/** A complaint about pace; a cooldown, or a throttle of an operation that is never repeated, is about that one record. */
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

/** Whether a second time could have no second effect: nothing arrived, or the service refused before doing anything. */
const isHarmless = (failed: FailedAttempt): boolean =>
  isPaceComplaint(failed) || (failed.error instanceof ConnectionError && !failed.error.mayHaveArrived);

const mayRepeat = (failed: FailedAttempt): boolean => {
  if (failed.rule === 'repeatable') return isPaceComplaint(failed) || isPassingFailure(failed.error);
  return failed.rule === 'after_refusal' && isHarmless(failed);
};

/** Decides after a failed attempt as DESIGN's error table says; `random` gives 0 up to 1. */
export const decideRetry = (failed: FailedAttempt, settings: RetrySettings, random: () => number) => {
  const { error, attempt } = failed;
  const isRefusedForPace = isPaceComplaint(failed);
  const isPassing = isRefusedForPace || isPassingFailure(error);
  // "Retry-After: 0" names no time; without the back-off an outage would be answered with all attempts at once.
  const askedMs = isPassing && error instanceof ApiError && error.retryAfterMs ? error.retryAfterMs : undefined;
  return {
    /** Whether the operation may be sent again, and how long to wait before that, in milliseconds. */
    isRepeated: mayRepeat(failed) && attempt < settings.maxAttempts,
    delayMs: isPassing ? (askedMs ?? computeBackoffDelay(attempt, settings, random)) : 0,
    /** Whether all callers wait that long, not only this one. */
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

// Probes are at most 20 seconds apart, and one at a time.
const longestProbeMs = 20_000;

/** An attempt that the observers were notified of; `end` informs them how it ended. */
const beginAttempt = (
  { clock, observer }: Pick<CallSettings, 'clock' | 'observer'>,
  { name, method, path: whole, route: path = whole }: Operation<unknown>,
  attempt: number,
  options: CallOptions,
) => {
  const observed: Attempt = { operation: name, method, path, attempt, startedAt: clock.now() };
  const trace: Omit<AttemptEnd, 'endedAt' | 'outcome'> = {
    isSent: false,
    status: null,
    bytes: 0,
    requestId: undefined,
    servedAt: undefined,
  };
  observer?.started?.(observed);
  options.observer?.started?.(observed);
  return {
    trace,
    end: (outcome: AttemptEnd['outcome']): void => {
      const ended: AttemptEnd = { endedAt: clock.now(), outcome, ...trace };
      observer?.ended?.(observed, ended);
      options.observer?.ended?.(observed, ended);
    },
  };
};

/** What calls are made of; `timeoutMs` is the total deadline of an attempt where the call names none. */
interface CallSettings {
  transport: Transport;
  clock: Clock;
  observer: AttemptObserver | undefined;
  timeoutMs: number;
  pace: Pace;
  keys: KeyHolder;
  budget: RetryBudget;
  random: () => number;
  retry: RetrySettings;
  /** Ends all waiting, but no attempt that is under way. */
  closing: AbortSignal;
}

interface Failure {
  error: unknown;
  decision: ReturnType<typeof decideRetry>;
  /** The service is taken to be out of reach: the gate, not the back-off, says when to go on. */
  isOutage: boolean;
  /** The private key that was presented; undefined where there is none. */
  usedKey: string | undefined;
}

/** A signal that ends the waiting of a call after `maxWaitMs`, with a TimeoutError of a request that was never sent. */
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

/** The client's only retry owner: every attempt takes its turn in the shared pace and is reported to the observers. */
export const createCallOperation = (settings: CallSettings): CallOperation => {
  const { pace, keys, budget, clock, retry, random, closing } = settings;
  const followSignals = createFollowSignals();

  /** `attempt` counts those so far, this one included, and `tries` how many of them count against `retry.maxAttempts`. */
  const tryOnce = async <T>(
    operation: Operation<T>,
    { attempt, tries }: { attempt: number; tries: number },
    { turn, waiting }: { turn: Turn; waiting: AbortSignal },
    options: CallOptions,
  ): Promise<{ answer: Answer<T> } | Failure | 'held_back'> => {
    // Earned when it is sent, not when it begins to wait: the budget keeps little.
    if (attempt === 1) budget.earn();
    const usedKey = keys.apiKey;
    const authorization = keys.present(operation.authentication);
    // Within the turn: whatever waits for its turn is in no ledger yet. A failure is no answer of the service, and ends the call.
    await settings.observer?.leaving?.(operation.name);
    await options.observer?.leaving?.(operation.name);
    // A pause, an outage or a request to stop that came meanwhile holds the request back.
    const mayLeave = (): boolean => !waiting.aborted && turn.mayLeave();
    const wantedMs = options.timeoutMs ?? settings.timeoutMs;
    try {
      const { trace, end } = beginAttempt(settings, operation, attempt, options);
      const timeoutMs = turn.isProbe ? Math.min(wantedMs, longestProbeMs) : wantedMs;
      const { signal, headers } = options;
      const exchange = { authorization, timeoutMs, headers, signal, trace, mayLeave };
      const answer = await settings.transport.send(operation, exchange).catch((error: unknown) => {
        end(toOutcomeWord(error));
        throw error;
      });
      end('ok');
      turn.assess({ reachability: 'there', isRefusedForPace: false, pauseMs: 0 });
      return { answer: { ...answer, attempts: attempt } };
    } catch (error) {
      if (error instanceof HeldBackError) return 'held_back';
      const { maxRetries } = options;
      const most = maxRetries === undefined ? retry : { ...retry, maxAttempts: maxRetries + 1 };
      const decision = decideRetry({ error, attempt: tries, rule: operation.retry }, most, random);
      const { isRefusedForPace, isPauseForAll, delayMs } = decision;
      // Who allows less time than is usual learns nothing about the service when it is over.
      const isHasty = error instanceof TimeoutError && wantedMs < settings.timeoutMs;
      const reachability = isHasty ? 'unknown' : decision.reachability;
      // Before the turn ends, or the next caller would slip past the pause.
      const { isOutage } = turn.assess({ reachability, isRefusedForPace, pauseMs: isPauseForAll ? delayMs : 0 });
      return { error, decision, isOutage, usedKey };
    }
  };

  const waitBeforeRepeat = async (
    { error, decision, isOutage }: Failure,
    { isBudgeted = true }: CallOptions,
    signal: AbortSignal,
  ): Promise<void> => {
    if (!decision.isRepeated) throw error;
    // During an outage the gate allows few calls anyway, and nobody must sleep on when it is over.
    if (isOutage) return;
    if (isBudgeted && !budget.take()) throw error;
    if (!decision.isPauseForAll) await clock.sleep(decision.delayMs, signal);
  };

  /** Whether another key is at hand after a refusal; throws when the one that is must not be used. */
  const hasNewKey = async (
    { error, usedKey }: Failure,
    { authentication }: Operation<unknown>,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const isOurs = authentication === 'private_key' || authentication === 'private_key_or_jwt';
    if (!isOurs || !(error instanceof AuthenticationError)) return false;
    const renewal = await keys.renew(usedKey, signal);
    if (renewal.kind !== 'unusable') return renewal.kind === 'renewed';
    const { method, path, status, requestId, serviceMessage, headers, body } = error;
    const message = `${error.message}; the key that was read again ${renewal.problem}`;
    throw new AuthenticationError('key_unusable', message, {
      ...{ method, path, status, requestId, serviceMessage, headers, body },
      cause: error,
    });
  };

  return async (operation, given = {}) => {
    const options = checkCallOptions(given);
    const waitLimit = options.maxWaitMs === undefined ? undefined : startWaitLimit(clock, operation, options.maxWaitMs);
    const waiting = followSignals(closing, [options.signal, options.waitSignal, waitLimit?.signal]);
    let isRenewed = false;
    let tries = 1;
    let last: Failure | undefined;
    try {
      for (let attempt = 1; ; attempt += 1) {
        waiting.signal.throwIfAborted();
        const entrant = { operation: operation.name, isRepeat: attempt > 1, signal: waiting.signal };
        const count = { attempt, tries };
        const outcome = await pace.run(entrant, (turn) =>
          tryOnce(operation, count, { turn, waiting: waiting.signal }, options),
        );
        if (outcome === 'held_back') continue;
        if ('answer' in outcome) return outcome.answer;
        last = outcome;
        // A refused key did nothing, so any operation may be sent again with another one, once.
        const mayRenew = !isRenewed && (await hasNewKey(outcome, operation, waiting.signal));
        if (mayRenew) isRenewed = true;
        else await waitBeforeRepeat(outcome, options, waiting.signal);
        tries += 1;
      }
    } catch (error) {
      // What kept it waiting says more than that it has waited.
      throw last !== undefined && error === waitLimit?.signal.reason ? last.error : error;
    } finally {
      waitLimit?.end();
      waiting.clear();
    }
  };
};
