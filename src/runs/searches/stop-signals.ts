import { followSignals } from '../../client/calls/follow-signals.js';
import { toSignalHalt } from '../session/run-halted.js';
import { abortLater } from './abort-later.js';

/** How long answers may still arrive once somebody asked to stop. */
export const stopGraceMs = 5_000;

/** What stops the searches of a run: a wish, an outage that lasted too long, or what one of them met. */
export interface StopSignals {
  /** Ends waiting: nothing more is sent. */
  readonly waitSignal: AbortSignal;
  /** Ends what is under way: 5 seconds after a wish to stop or an outage's deadline, never for the searches' own sake. */
  readonly signal: AbortSignal;
  /** Stops for a reason that the searches themselves have met; the first one counts. */
  stop(reason: unknown): void;
  /** Throws why it was stopped, if it was. */
  throwIfStopped(): void;
  /** Lets go of the signals that are followed. */
  clear(): void;
}

/** Follows a run's signal and its outage's. */
export function openStopSignals(run: AbortSignal, outage: AbortSignal): StopSignals {
  const own = new AbortController();
  const waiting = followSignals(own.signal, [run, outage]);
  const asked = followSignals(run, [outage]);
  const calls = abortLater(asked.signal, stopGraceMs);
  return {
    waitSignal: waiting.signal,
    signal: calls.signal,
    stop: (reason) => own.abort(reason),
    throwIfStopped: () => {
      if (outage.aborted) throw toSignalHalt(outage);
      if (own.signal.aborted) throw own.signal.reason;
      if (run.aborted) throw toSignalHalt(run);
    },
    clear: () => {
      calls.clear();
      asked.clear();
      waiting.clear();
    },
  };
}
