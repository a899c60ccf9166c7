import { ApiError, ConnectionError, RateLimitError, ServerError, ServiceUnavailableError } from '../../errors.js';
import type { RetryRule } from '../operation.js';
import type { RetrySettings } from '../settings.js';
import { computeBackoffDelay } from './backoff-delay.js';

/** What follows from a failed attempt: whether to send it again, after how long, and whether all callers wait that long. */
export interface RetryDecision {
  isRepeated: boolean;
  delayMs: number;
  isPauseForAll: boolean;
}

/** The attempt that failed, counted from 1, and when its operation may be repeated. */
export interface FailedAttempt {
  error: unknown;
  attempt: number;
  rule: RetryRule;
}

const isPaceComplaint = (error: unknown): boolean =>
  error instanceof RateLimitError && error.code !== 'cooldown_active';

const isTransient = (error: unknown): boolean =>
  isPaceComplaint(error) ||
  error instanceof ServiceUnavailableError ||
  error instanceof ServerError ||
  error instanceof ConnectionError;

/** Decides after a failed attempt as DESIGN's error table says; `random` gives 0 up to 1. */
export const decideRetry = (failed: FailedAttempt, settings: RetrySettings, random: () => number): RetryDecision => {
  const { error, attempt, rule } = failed;
  if (!isTransient(error)) return { isRepeated: false, delayMs: 0, isPauseForAll: false };
  // "Retry-After: 0" names no time; without the back-off an outage would be answered with all attempts at once.
  const askedMs = error instanceof ApiError && error.retryAfterMs ? error.retryAfterMs : undefined;
  return {
    isRepeated: rule === 'repeatable' && attempt < settings.maxAttempts,
    delayMs: askedMs ?? computeBackoffDelay(attempt, settings, random),
    isPauseForAll: isPaceComplaint(error) || (error instanceof ServiceUnavailableError && askedMs !== undefined),
  };
};
