import { followSignals } from '../client/calls/follow-signals.js';
import { findDeadline } from './deadline.js';
import { toOutageHalt } from './outage-watch.js';
import { RunHalted } from './run-halted.js';
import type { Workplace } from './workplace.js';

// Between the rounds of attempts that the client makes by itself; at most 20 seconds apart (PROMISES: 4).
const delaysMs = [5_000, 10_000, 20_000];

/** What waiting for the service needs to know: for whom, since when the run lasts, and what stops it. */
export interface Patience {
  workplace: Workplace;
  /** Null before there is a run. */
  runId: string | null;
  startedAt: Date;
  signal: AbortSignal;
}

/**
 * Does `work` again, for as long as `run.deadline` allows, while it ends with RunHalted `outage`; gives what it came to and whether the
 * service had to be waited for. Anything else that it throws is thrown on.
 */
export async function outlastOutage<T>(
  { workplace, runId, startedAt, signal }: Patience,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ value: T; hadToWait: boolean }> {
  const { clock, settings, tell } = workplace;
  const over = new AbortController();
  const either = followSignals(over.signal, [signal]);
  const timer = new AbortController();
  let since: Date | undefined;
  try {
    for (let turn = 0; ; turn += 1) {
      try {
        return { value: await work(either.signal), hadToWait: turn > 0 };
      } catch (error) {
        if (over.signal.aborted) throw over.signal.reason;
        if (!(error instanceof RunHalted) || error.code !== 'outage') throw error;
        if (since === undefined) {
          since = clock.now();
          const deadline = findDeadline(settings.run, startedAt, since);
          const message = `${error.message}; the run waits until ${deadline.toISOString()} (run.deadline)`;
          tell({ kind: 'warning', runId, code: 'waiting_for_service', message });
          const halt = toOutageHalt(settings.run.deadline, since);
          const leftMs = Math.max(0, deadline.getTime() - since.getTime());
          clock.sleep(leftMs, timer.signal).then(
            () => over.abort(halt),
            () => undefined,
          );
        }
        await clock.sleep(delaysMs[Math.min(turn, delaysMs.length - 1)] ?? 0, either.signal).catch(() => undefined);
        if (over.signal.aborted) throw over.signal.reason;
        if (signal.aborted) throw new RunHalted('signal', 'stopped on request', signal.reason);
      }
    }
  } finally {
    timer.abort();
    either.clear();
  }
}
