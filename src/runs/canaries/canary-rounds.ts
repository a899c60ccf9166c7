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
  /** Whether searches were made since the last round. */
  readonly isDueAtEnd: boolean;
  /** Asks the last round unless none is due, by a session of its own: the searches' one may have spent all that it was given. */
  askAtEnd(closing: RunSession): Promise<void>;
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
  const ask = async (occasion: 'periodic' | 'end', by = session): Promise<boolean> => {
    const when = { occasion, searches: tally.done };
    const isWell = await askRound(by, client, { ...patience, signal: by.signal }, when);
    last = tally.handedOut;
    return isWell;
  };
  const isDueAtEnd = (): boolean => session.workplace.settings.canaries.length > 0 && tally.handedOut > last;
  const untilNext = (): number => last + canariesEvery - tally.handedOut;
  return {
    get untilNext() {
      return untilNext();
    },
    askIfDue: async () => (untilNext() > 0 ? true : ask('periodic')),
    get isDueAtEnd() {
      return isDueAtEnd();
    },
    askAtEnd: async (closing) => {
      if (isDueAtEnd()) await ask('end', closing);
    },
  };
}
