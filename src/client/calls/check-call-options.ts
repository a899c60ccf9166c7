import { ConfigError } from '../../errors.js';
import type { CallOptions } from '../operation.js';

// A timer set for longer than this fires at once.
const maxTimerMs = 2 ** 31 - 1;

/** The options of a call with a `timeoutMs` that a timer can keep, at most 2^31-1; throws ConfigError when it is no positive number. */
export const checkCallOptions = (options: CallOptions): CallOptions => {
  const { timeoutMs } = options;
  if (timeoutMs === undefined) return options;
  if (timeoutMs > 0) return { ...options, timeoutMs: Math.min(timeoutMs, maxTimerMs) };
  const message = 'must be a number of milliseconds above 0';
  throw new ConfigError([{ where: 'call options', path: 'timeoutMs', message }]);
};
