import type { ScreeningOutcome } from '../screening/screen.js';
import { RunHalted, toAccountHalt } from './run-halted.js';

/** Counts searches in a row that found the service out of reach; says when to stop, and why. */
export function createOutageWatch(limit: number): { judge(outcome: ScreeningOutcome): RunHalted | null } {
  let inARow = 0;
  return {
    judge: (outcome) => {
      if (outcome.kind === 'halted') return toAccountHalt(outcome.error);
      inARow = outcome.kind === 'failed' && outcome.isTransient ? inARow + 1 : 0;
      if (inARow < limit) return null;
      return new RunHalted('outage', `the service is out of reach: ${inARow} searches in a row had no answer`);
    },
  };
}
