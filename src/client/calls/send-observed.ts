import type { Clock } from '../../clock.js';
import { ApiError, ConnectionError, ResponseError, TimeoutError } from '../../errors.js';
import type { Answer, CallOptions, Operation } from '../operation.js';
import type { Turn } from '../pace/pace.js';
import type { ExchangeTrace, Transport } from '../transport/transport.js';
import type { Attempt, AttemptEnd, AttemptObserver } from './attempt-observer.js';

/** What one attempt is made of. */
export interface AttemptParts {
  transport: Transport;
  clock: Clock;
  observer: AttemptObserver | undefined;
  timeoutMs: number;
}

const toOutcomeWord = (error: unknown): AttemptEnd['outcome'] => {
  if (error instanceof ApiError) return 'error_status';
  if (error instanceof ResponseError) return 'bad_response';
  if (error instanceof TimeoutError) return 'timeout';
  return error instanceof ConnectionError ? 'connection' : 'aborted';
};

// Probes are at most 20 seconds apart, and one at a time.
const longestProbeMs = 20_000;

/** Makes one attempt and tells the observers of it, before and after; throws what the transport throws. */
export const sendObserved = async <T>(
  parts: AttemptParts,
  operation: Operation<T>,
  {
    attempt,
    authorization,
    turn,
  }: { attempt: number; authorization: string | undefined; turn: Pick<Turn, 'isProbe' | 'mayLeave'> },
  options: CallOptions,
): Promise<Answer<T>> => {
  const { transport, clock, observer } = parts;
  const { name, method, path, route = path } = operation;
  const told: Attempt = { operation: name, method, path: route, attempt, startedAt: clock.now() };
  const trace: ExchangeTrace = { isSent: false, status: null, bytes: 0, requestId: undefined, servedAt: undefined };
  const end = (outcome: AttemptEnd['outcome']): void => {
    const ended: AttemptEnd = { endedAt: clock.now(), outcome, ...trace };
    observer?.ended?.(told, ended);
    options.observer?.ended?.(told, ended);
  };
  observer?.started?.(told);
  options.observer?.started?.(told);
  const wantedMs = options.timeoutMs ?? parts.timeoutMs;
  const timeoutMs = turn.isProbe ? Math.min(wantedMs, longestProbeMs) : wantedMs;
  const { signal, headers } = options;
  const exchange = { authorization, timeoutMs, headers, signal, trace, mayLeave: () => turn.mayLeave() };
  const answer = await transport.send(operation, exchange).catch((error: unknown) => {
    end(toOutcomeWord(error));
    throw error;
  });
  end('ok');
  return { ...answer, attempts: attempt };
};
