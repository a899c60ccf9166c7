import type { Clock } from '../../clock.js';
import { ApiError, ConnectionError, ResponseError, TimeoutError } from '../../errors.js';
import type { Answer, CallOperation, CallOptions, Operation } from '../operation.js';
import type { Limiter } from '../pace/limiter.js';
import type { RetrySettings } from '../settings.js';
import { followSignals } from '../transport/deadline.js';
import type { ExchangeTrace, Transport } from '../transport/transport.js';
import { type Attempt, type AttemptEnd, type AttemptObserver, joinObservers } from './attempt-observer.js';
import { decideRetry, type RetryDecision } from './retry-policy.js';

/** What calls are made of; `timeoutMs` is the total deadline of an attempt where the call names none. */
export interface CallSettings {
  transport: Transport;
  limiter: Limiter;
  clock: Clock;
  random: () => number;
  retry: RetrySettings;
  timeoutMs: number;
  observer: AttemptObserver | undefined;
  /** Ends all waiting, but no attempt that is under way. */
  closing: AbortSignal;
}

type Outcome<T> = { answer: Answer<T> } | { error: unknown; decision: RetryDecision };

const toOutcomeWord = (error: unknown): AttemptEnd['outcome'] => {
  if (error instanceof ApiError) return 'error_status';
  if (error instanceof ResponseError) return 'bad_response';
  if (error instanceof TimeoutError) return 'timeout';
  return error instanceof ConnectionError ? 'connection' : 'aborted';
};

/** The client's only retry owner: every attempt goes through the limiter and is told to the observers. */
export const createCallOperation = (settings: CallSettings): CallOperation => {
  const { transport, limiter, clock, retry } = settings;

  const sendObserved = async <T>(
    operation: Operation<T>,
    attempt: number,
    options: CallOptions,
  ): Promise<Answer<T>> => {
    const observer = joinObservers([settings.observer, options.observer]);
    const { name, method, path } = operation;
    const told: Attempt = { operation: name, method, path, attempt, startedAt: clock.now() };
    const trace: ExchangeTrace = { status: null, bytes: 0, requestId: undefined };
    const end = (outcome: AttemptEnd['outcome']): void =>
      observer.ended(told, { endedAt: clock.now(), outcome, ...trace });
    observer.started(told);
    const timeoutMs = options.timeoutMs ?? settings.timeoutMs;
    const answer = await transport.send(operation, { timeoutMs, signal: options.signal, trace }).catch((error) => {
      end(toOutcomeWord(error));
      throw error;
    });
    end('ok');
    return { ...answer, attempts: attempt };
  };

  const tryOnce = async <T>(operation: Operation<T>, attempt: number, options: CallOptions): Promise<Outcome<T>> => {
    try {
      return { answer: await sendObserved(operation, attempt, options) };
    } catch (error) {
      const decision = decideRetry({ error, attempt, rule: operation.retry }, retry, settings.random);
      // Before the limiter hands this call's slot on, or the next caller would slip past the pause.
      if (decision.isPauseForAll) limiter.pauseFor(decision.delayMs);
      return { error, decision };
    }
  };

  return async (operation, options = {}) => {
    const waiting = followSignals([options.signal, settings.closing]);
    try {
      for (let attempt = 1; ; attempt += 1) {
        const outcome = await limiter.run(() => tryOnce(operation, attempt, options), waiting.signal);
        if ('answer' in outcome) return outcome.answer;
        const { error, decision } = outcome;
        if (!decision.isRepeated) throw error;
        if (!decision.isPauseForAll) await clock.sleep(decision.delayMs, waiting.signal);
      }
    } finally {
      waiting.clear();
    }
  };
};
