import { ConfigError } from '../../errors.js';
import type { CallOptions } from '../operation.js';

// A timer set for longer than this fires at once.
const maxTimerMs = 2 ** 31 - 1;

// What the client says of itself, its credentials and how the body is framed.
const ownHeader =
  /^(accept|authorization|connection|content-.*|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent)$/i;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// RFC 9110, 5.5, without what is not ASCII.
const headerValue = /^[\t -~]*$/;

const findHeaderProblem = ([name, value]: [string, string]): string | undefined => {
  if (ownHeader.test(name)) return `${name}: is set by the client itself`;
  return headerName.test(name) && headerValue.test(value) ? undefined : 'is no header that can be sent';
};

/** The options of a call with times that a timer can keep, at most 2^31-1; throws ConfigError with all that is wrong with them. */
export const checkCallOptions = (options: CallOptions): CallOptions => {
  const { timeoutMs, maxWaitMs, maxRetries, headers } = options;
  if ((timeoutMs ?? maxWaitMs ?? maxRetries ?? headers) === undefined) return options;
  const find = (path: string, message: string | undefined) =>
    message === undefined ? [] : [{ where: 'call options', path, message }];
  const isTime = (ms: number | undefined): boolean => ms === undefined || ms > 0;
  const problems = [
    ...find('timeoutMs', isTime(timeoutMs) ? undefined : 'must be a number of milliseconds above 0'),
    ...find('maxWaitMs', isTime(maxWaitMs) ? undefined : 'must be a number of milliseconds above 0'),
    ...find(
      'maxRetries',
      maxRetries === undefined || (Number.isInteger(maxRetries) && maxRetries >= 0)
        ? undefined
        : 'must be a whole number, 0 or more',
    ),
    ...Object.entries(headers ?? {}).flatMap((header) => find('headers', findHeaderProblem(header))),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    ...options,
    ...(timeoutMs === undefined ? {} : { timeoutMs: Math.min(timeoutMs, maxTimerMs) }),
    ...(maxWaitMs === undefined ? {} : { maxWaitMs: Math.min(maxWaitMs, maxTimerMs) }),
  };
};
