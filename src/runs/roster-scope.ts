import { createHash } from 'node:crypto';
import { ConfigError } from '../errors.js';
import type { RosterSettings } from '../roster/settings.js';
import { ensureRoster, type Organisation } from '../store/organisations.js';
import { hasImport } from '../store/roster-imports.js';
import type { AppContext } from './app-context.js';
import { openOrganisation } from './session.js';

/** A roster as runs address it; one lease per roster keeps imports and screenings of it apart. */
export interface RosterScope {
  organisation: Organisation;
  rosterId: number;
  roster: string;
  leaseKey: string;
}

/** The roster of this name as it was last imported; throws ConfigError, with nothing created, when it never was. */
export async function openImportedRoster(app: AppContext, roster: string): Promise<RosterScope> {
  const { organisationId } = await openOrganisation(app);
  if (await hasImport(app.database, organisationId, roster)) return openRosterScope(app, roster);
  const message = `roster ${roster} was never imported; import it first: nightscreen import --file FILE --roster ${roster}`;
  throw new ConfigError([{ where: 'roster', path: '', message }]);
}

/** Finds or creates the roster of this name in the organisation of the settings. */
export async function openRosterScope(app: AppContext, roster: string): Promise<RosterScope> {
  const organisation = await openOrganisation(app);
  const rosterId = await ensureRoster(app.database, organisation.organisationId, roster, app.clock.now());
  return { organisation, rosterId, roster, leaseKey: `screening/${organisation.name}/${roster}` };
}

/** The file that a roster is read from in place of its configured source, or null where it is read as configured. */
export function findGivenFile(configured: readonly RosterSettings[], roster: RosterSettings): string | null {
  const path = roster.csv?.path;
  if (typeof path !== 'string' || path === '') return null;
  return configured.find(({ name }) => name === roster.name)?.csv?.path === path ? null : path;
}

/** Gives one digest for the sources of a roster: of a single one its own, of several that of all of theirs. */
export function joinDigests(digests: readonly string[]): string {
  const [only, ...others] = digests;
  if (only !== undefined && others.length === 0) return only;
  return createHash('sha256').update(digests.join('\n')).digest('hex');
}
