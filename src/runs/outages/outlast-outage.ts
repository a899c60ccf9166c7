import { followSignals } from '../../client/calls/follow-signals.js';
import type { Clock } from '../../clock.js';
import { RunHalted, toSignalHalt } from '../session/run-halted.js';
import type { OutageWatch } from './outage-watch.js';

// Between the rounds of attempts that the client makes by itself; at most 20 seconds apart (PROMISES: 4).
const delaysMs = [5_000, 10_000, 20_000];

/** What waiting for the service needs to know: by which clock, who says for how long, and what stops it. */
export interface Patience {
  clock: Clock;
  outage: OutageWatch;
  signal: AbortSignal;
}

/**
 * Does `work` again, for as long as `run.deadline` allows, while it ends with RunHalted `outage`; gives what it came to and whether the
 * service had to be waited for. Anything else that it throws is thrown on.
 */
export async function outlastOutage<T>(
  patience: Patience,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ value: T; hadToWait: boolean }> {
  const { outage, signal } = patience;
  const either = followSignals(signal, [outage.signal]);
  try {
    for (let turn = 0; ; turn += 1) {
      try {
        const value = await work(either.signal);
        outage.noteAnswer();
        return { value, hadToWait: turn > 0 };
      } catch (error) {
        if (outage.signal.aborted) throw outage.signal.reason;
        if (!(error instanceof RunHalted) || error.code !== 'outage') throw error;
        await waitForService(patience, turn, error.message);
      }
    }
  } finally {
    either.clear();
  }
}

/** Waits before the service is asked again for the `turn`th time; throws RunHalted when the run waits no longer or has to stop. */
export async function waitForService(patience: Patience, turn: number, because: string): Promise<void> {
  const { clock, outage, signal } = patience;
  outage.noteOutage(because);
  if (outage.signal.aborted) throw outage.signal.reason;
  const either = followSignals(signal, [outage.signal]);
  try {
    await clock.sleep(delaysMs[Math.min(turn, delaysMs.length - 1)] ?? 0, either.signal).catch(() => undefined);
  } finally {
    either.clear();
  }
  if (outage.signal.aborted) throw outage.signal.reason;
  if (signal.aborted) throw toSignalHalt(signal);
}
