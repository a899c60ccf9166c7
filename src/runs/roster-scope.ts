import { ensureRoster, type Organisation } from '../store/organisations.js';
import { openOrganisation } from './run-session.js';
import type { Workplace } from './workplace.js';

/** A roster as runs address it; one lease per roster keeps imports and screenings of it apart. */
export interface RosterScope {
  organisation: Organisation;
  rosterId: number;
  roster: string;
  leaseKey: string;
}

/** Finds or creates the roster of this name in the organisation of the settings. */
export async function openRosterScope(workplace: Workplace, roster: string): Promise<RosterScope> {
  const organisation = await openOrganisation(workplace);
  const rosterId = await ensureRoster(workplace.database, organisation.organisationId, roster, workplace.clock.now());
  return { organisation, rosterId, roster, leaseKey: `screening/${organisation.name}/${roster}` };
}
