import type { CanaryRounds } from '../canaries/canary-rounds.js';
import { RunHalted } from '../session/run-halted.js';
import type { RunSession } from '../session/run-session.js';

const isSpent = (error: unknown): error is RunHalted => error instanceof RunHalted && error.code === 'budget';

/**
 * Asks the last control searches of a run that came to its end, or that a limit has stopped, out of what the budget keeps for them. Gives
 * the halt of a run for which too little is left, and otherwise the one that it was given.
 */
export async function askLastRound(
  canaries: CanaryRounds,
  openReserve: () => Promise<RunSession | null>,
  halted: RunHalted | null,
): Promise<RunHalted | null> {
  if (!canaries.isDueAtEnd) return halted;
  const reserve = await openReserve();
  try {
    if (reserve) {
      await canaries.askAtEnd(reserve);
      return halted;
    }
  } catch (error) {
    if (!isSpent(error)) throw error;
  }
  const { message } = halted ?? { message: 'the budget is used up' };
  return new RunHalted('budget', `${message}, and too little of it is left for the control searches at the end`);
}
