import type { Client } from '../../client/create-client.js';
import type { Patience } from '../outages/outlast-outage.js';
import type { SearchTally } from '../searches/search-tally.js';
import type { RunSession } from '../session/run-session.js';
import { askRound } from './ask-round.js';

/** The rounds of control searches amid a run's searches and after them. */
export interface CanaryRounds {
  /** How many more searches may be made before the next round. */
  readonly untilNext: number;
  /** Asks the next round when it is due; false when a control search has failed: nobody may be asked about any more. */
  askIfDue(): Promise<boolean>;
  /** Asks the last round, unless no search was made since the one before. */
  askAtEnd(): Promise<void>;
}

/** The rounds after each `screening.canariesEvery` searches of the tally, counted from now on, and at the end. */
export function openCanaryRounds(
  session: RunSession,
  client: Client,
  patience: Patience,
  tally: SearchTally,
): CanaryRounds {
  const { canariesEvery } = session.workplace.settings.screening;
  let last = tally.handedOut;
  const ask = (occasion: 'periodic' | 'end'): Promise<boolean> => {
    last = tally.handedOut;
    return askRound(session, client, patience, { occasion, searches: tally.done });
  };
  const untilNext = (): number => last + canariesEvery - tally.handedOut;
  return {
    get untilNext() {
      return untilNext();
    },
    askIfDue: async () => (untilNext() > 0 ? true : ask('periodic')),
    askAtEnd: async () => {
      if (tally.handedOut > last) await ask('end');
    },
  };
}
