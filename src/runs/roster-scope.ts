import { createHash } from 'node:crypto';
import { usageError } from '../errors.js';
import type { RosterSettings } from '../roster/settings.js';
import { toLeaseKey } from '../store/database/leases.js';
import { ensureRoster, type Organisation } from '../store/organisations.js';
import { hasImport } from '../store/roster/imports.js';
import type { AppContext } from './app-context.js';
import { openKeyedOrganisation, openOrganisation } from './session.js';

/** A roster as runs address it. One lease per roster excludes concurrent imports and screenings. */
export interface RosterScope {
  organisation: Organisation;
  rosterId: number;
  roster: string;
  leaseKey: string;
}

/** Opens an imported roster; throws ConfigError, without creating anything, when it was never imported. */
export async function openImportedRoster(app: AppContext, roster: string): Promise<RosterScope> {
  const { organisationId } = await openOrganisation(app);
  if (await hasImport(app.database, organisationId, roster)) return openRosterScope(app, roster);
  const message = `roster ${roster} was never imported; import it first: nightscreen import --file FILE --roster ${roster}`;
  throw usageError('roster', message);
}

/** Finds or creates the roster of this name in the configured organisation. */
export async function openRosterScope(app: AppContext, roster: string): Promise<RosterScope> {
  const organisation = await openKeyedOrganisation(app);
  const rosterId = await ensureRoster(app.database, organisation.organisationId, roster, app.clock.now());
  return { organisation, rosterId, roster, leaseKey: toLeaseKey('screening', organisation.name, roster) };
}

/** The file that replaces the configured source of a roster; null when the configured source is read. */
export function findGivenFile(configured: readonly RosterSettings[], roster: RosterSettings): string | null {
  const path = roster.csv?.path;
  if (typeof path !== 'string' || path === '') return null;
  return configured.find(({ name }) => name === roster.name)?.csv?.path === path ? null : path;
}

/** The path of a roster's settings; of a roster that is only named on the command line, where they would be written. */
export function findRosterPath(configured: readonly RosterSettings[], roster: string): string {
  const place = configured.findIndex(({ name }) => name === roster);
  return `rosters[${place < 0 ? configured.length : place}]`;
}

/** Gives one digest for the sources of a roster; a single source keeps its own. */
export function joinDigests(digests: readonly string[]): string {
  const [only, ...others] = digests;
  if (only !== undefined && others.length === 0) return only;
  return createHash('sha256').update(digests.join('\n')).digest('hex');
}
