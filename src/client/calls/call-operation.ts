import type { Clock } from '../../clock.js';
import { AuthenticationError, TimeoutError } from '../../errors.js';
import type { Answer, CallOperation, CallOptions, Operation } from '../operation.js';
import type { Pace, Turn } from '../pace/pace.js';
import type { RetrySettings } from '../settings.js';
import { HeldBackError } from '../transport/send-request.js';
import { checkCallOptions } from './check-call-options.js';
import { createFollowSignals } from './follow-signals.js';
import type { KeyHolder } from './key-holder.js';
import type { RetryBudget } from './retry-budget.js';
import { decideRetry, type RetryDecision } from './retry-policy.js';
import { type AttemptParts, sendObserved } from './send-observed.js';

/** What calls are made of; `timeoutMs` is the total deadline of an attempt where the call names none. */
export interface CallSettings extends AttemptParts {
  pace: Pace;
  keys: KeyHolder;
  budget: RetryBudget;
  random: () => number;
  retry: RetrySettings;
  /** Ends all waiting, but no attempt that is under way. */
  closing: AbortSignal;
}

/** Attempts so far, this one included, and how many of them count against `retry.maxAttempts`. */
interface Count {
  attempt: number;
  tries: number;
}

interface Failure {
  error: unknown;
  decision: RetryDecision;
  /** The service is taken to be out of reach: the gate, not the back-off, says when to go on. */
  isOutage: boolean;
  /** The private key that was presented; undefined where there is none. */
  usedKey: string | undefined;
}

/** A signal that ends the waiting of a call after `maxWaitMs`, with a TimeoutError of a request that was never sent. */
const startPatience = (
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

/** The client's only retry owner: every attempt takes its turn in the shared pace and is told to the observers. */
export const createCallOperation = (settings: CallSettings): CallOperation => {
  const { pace, keys, budget, clock, retry, random, closing } = settings;
  const followSignals = createFollowSignals();

  const tryOnce = async <T>(
    operation: Operation<T>,
    { attempt, tries }: Count,
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
    // A pause, an outage or a wish to stop that came meanwhile holds the request back.
    const mayLeave = (): boolean => !waiting.aborted && turn.mayLeave();
    try {
      const sending = { attempt, authorization, turn: { isProbe: turn.isProbe, mayLeave } };
      const answer = await sendObserved(settings, operation, sending, options);
      turn.judge({ reachability: 'there', isRefusedForPace: false, pauseMs: 0 });
      return { answer };
    } catch (error) {
      if (error instanceof HeldBackError) return 'held_back';
      const { maxRetries } = options;
      const most = maxRetries === undefined ? retry : { ...retry, maxAttempts: maxRetries + 1 };
      const decision = decideRetry({ error, attempt: tries, rule: operation.retry }, most, random);
      const { isRefusedForPace, isPauseForAll, delayMs } = decision;
      // Who allows less time than is usual learns nothing about the service when it is over.
      const isHasty = error instanceof TimeoutError && (options.timeoutMs ?? settings.timeoutMs) < settings.timeoutMs;
      const reachability = isHasty ? 'unknown' : decision.reachability;
      // Before the turn ends, or the next caller would slip past the pause.
      const { isOutage } = turn.judge({ reachability, isRefusedForPace, pauseMs: isPauseForAll ? delayMs : 0 });
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
    const patience = options.maxWaitMs === undefined ? undefined : startPatience(clock, operation, options.maxWaitMs);
    const waiting = followSignals(closing, [options.signal, options.waitSignal, patience?.signal]);
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
      throw last !== undefined && error === patience?.signal.reason ? last.error : error;
    } finally {
      patience?.end();
      waiting.clear();
    }
  };
};
