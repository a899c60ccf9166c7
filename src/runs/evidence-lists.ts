import { readPopulation } from '../store/evidence/population.js';
import type { AppContext } from './app-context.js';
import { chooseImportedRosters } from './coverage.js';

/**
 * Opens the list of the customers who were in scope at a moment (now, unless said otherwise), of one roster or of all. `finish` gives the sums once
 * all batches are read. Throws ConfigError for an unknown roster.
 */
export async function listPopulation(
  app: AppContext,
  { at = null, roster }: { at?: Date | null; roster?: string | undefined },
  signal: AbortSignal,
) {
  const { database, clock } = app;
  const { imported, neverImported } = await chooseImportedRosters(app, roster);
  const now = clock.now();
  const isNow = at === null || at >= now;
  const moment = { at: isNow ? now : at, isNow };
  const states: Record<string, number> = {};
  const sums = { inScope: 0, notValid: 0, states };
  const rosterIds = imported.map(({ rosterId }) => rosterId);
  const read = async function* () {
    for await (const batch of readPopulation(database, rosterIds, moment)) {
      signal.throwIfAborted();
      for (const { state, reason } of batch) {
        sums.inScope += 1;
        states[state] = (states[state] ?? 0) + 1;
        if (reason !== null) sums.notValid += 1;
      }
      yield batch;
    }
  };
  const rosters = imported.map((one) => one.roster);
  return { at: moment.at, rosters, neverImported, batches: read(), finish: () => sums };
}
