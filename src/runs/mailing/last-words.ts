import { setTimeout as delay } from 'node:timers/promises';

/** How long what is being sent may take once somebody has asked to stop; a process that is asked to end has few seconds (PROMISES: 15). */
const graceMs = 2_000;

/** A signal for the sending of one thing: aborted after `limitMs`, or a moment after `signal` is, so that an answer on its way is heard. */
export function limitSending(limitMs: number, signal?: AbortSignal): { signal: AbortSignal; clear: () => void } {
  const limit = new AbortController();
  const timers = new AbortController();
  const endAfter = (ms: number): void => {
    delay(ms, undefined, { signal: timers.signal, ref: false }).then(
      () => limit.abort(new Error('it took too long')),
      () => undefined,
    );
  };
  endAfter(limitMs);
  const hurry = (): void => endAfter(graceMs);
  if (signal?.aborted) hurry();
  else signal?.addEventListener('abort', hurry, { once: true });
  return {
    signal: limit.signal,
    clear: () => {
      timers.abort();
      signal?.removeEventListener('abort', hurry);
    },
  };
}

/** The signal that sending is to stop for; where that is aborted already, the time that is left for what cannot be told later. */
export const allowLastWords = (signal: AbortSignal | undefined): AbortSignal | undefined =>
  signal?.aborted ? AbortSignal.timeout(graceMs) : signal;
