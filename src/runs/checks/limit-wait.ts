import type { Clock } from '../../clock.js';
import { RunHalted } from '../session/run-halted.js';

/** A signal that also ends with RunHalted `outage` once nothing has come of the work for `waitMs`; somebody sits in front of it. */
export function limitWait(
  clock: Clock,
  signal: AbortSignal,
  waitMs: number,
): { signal: AbortSignal; clear: () => void } {
  const limit = new AbortController();
  const timer = new AbortController();
  clock.sleep(waitMs, timer.signal).then(
    () =>
      limit.abort(new RunHalted('outage', `the service gave no answer within ${Math.round(waitMs / 1_000)} seconds`)),
    () => undefined,
  );
  return { signal: AbortSignal.any([signal, limit.signal]), clear: () => timer.abort() };
}
