import { ConfigError } from '../../errors.js';
import { readImportedRosters } from '../../store/coverage.js';
import { openOrganisation } from '../session/run-session.js';
import type { Workplace } from '../workplace.js';

/** The rosters that a gate judges. */
export interface ChosenRosters {
  /** Those that were ever imported, by name. */
  imported: readonly { rosterId: number; roster: string }[];
  /** Those that are configured and were never imported: nothing is known of their customers, so no gate passes. */
  neverImported: readonly string[];
}

/** The roster of this name, or all that were ever imported or are configured; throws ConfigError when there is none of this name. */
export async function chooseImportedRosters(workplace: Workplace, name: string | undefined): Promise<ChosenRosters> {
  const { organisationId } = await openOrganisation(workplace);
  const all = await readImportedRosters(workplace.database, organisationId);
  const known = new Set(all.map(({ roster }) => roster));
  const isMeant = (roster: string): boolean => name === undefined || roster === name;
  const imported = all.filter(({ roster }) => isMeant(roster));
  const neverImported = workplace.settings.rosters
    .map((roster) => roster.name)
    .filter((roster) => isMeant(roster) && !known.has(roster));
  if (name === undefined || imported.length + neverImported.length > 0) return { imported, neverImported };
  const advice = known.size === 0 ? 'none was' : `there are: ${[...known].join(', ')}`;
  const message = `no roster ${name} was ever imported; ${advice}`;
  throw new ConfigError([{ where: 'flag --roster', path: '', message }]);
}
