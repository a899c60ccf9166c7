import {
  ApiError,
  ConnectionError,
  RateLimitError,
  ResponseError,
  ServerError,
  ServiceUnavailableError,
} from '../../errors.js';
import type { RetryRule } from '../operation.js';
import type { Reachability } from '../pace/circuit.js';
import type { RetrySettings } from '../settings.js';
import { computeBackoffDelay } from './backoff-delay.js';

/** What follows from a failed attempt. */
export interface RetryDecision {
  /** Whether the operation may be sent again. */
  isRepeated: boolean;
  /** How long to wait before that, in milliseconds. */
  delayMs: number;
  /** Whether all callers wait that long, not only this one. */
  isPauseForAll: boolean;
  /** Whether the service said that it is asked too often. */
  isRefusedForPace: boolean;
  reachability: Reachability;
}

/** The attempt that failed, counted from 1, and when its operation may be repeated. */
export interface FailedAttempt {
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
export const decideRetry = (failed: FailedAttempt, settings: RetrySettings, random: () => number): RetryDecision => {
  const { error, attempt } = failed;
  const isRefusedForPace = isPaceComplaint(failed);
  const isPassing = isRefusedForPace || isPassingFailure(error);
  // "Retry-After: 0" names no time; without the back-off an outage would be answered with all attempts at once.
  const askedMs = isPassing && error instanceof ApiError && error.retryAfterMs ? error.retryAfterMs : undefined;
  return {
    isRepeated: mayRepeat(failed) && attempt < settings.maxAttempts,
    delayMs: isPassing ? (askedMs ?? computeBackoffDelay(attempt, settings, random)) : 0,
    isPauseForAll: isRefusedForPace || askedMs !== undefined,
    isRefusedForPace,
    reachability: toReachability(error),
  };
};
