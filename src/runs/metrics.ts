import { toCadence } from '../screening/cadence.js';
import { type CoverageGroup, readImportedRosters } from '../store/customers/coverage.js';
import { readJobSchedules } from '../store/operations/jobs.js';
import { readFleetFigures, readStoredFigures } from '../store/operations/metrics.js';
import type { AppContext } from './app-context.js';
import { readRosterGroups } from './coverage.js';
import { openOrganisation } from './session.js';

/**
 * Reads the facts of now about the rosters that the watchdog watches: the configured ones, or without any, all imported ones. Counts every
 * customer in scope, which takes half a minute for a million. `sweeps`: whether the configuration schedules sweeps, and whether it disables
 * them.
 */
export async function readMetricFacts(app: AppContext, sweeps: { isPlanned: boolean; isOff: boolean }) {
  const { database, settings, clock } = app;
  const at = clock.now();
  const { organisationId } = await openOrganisation(app);
  const imported = await readImportedRosters(database, organisationId);
  const configured = settings.rosters.map(({ name }) => name);
  const watched = configured.length > 0 ? configured : imported.map(({ roster }) => roster);
  const rosters: { roster: string; groups: readonly CoverageGroup[] }[] = [];
  for (const { rosterId, roster } of imported.filter(({ roster }) => watched.includes(roster))) {
    const { groups } = await readRosterGroups(app, rosterId, at);
    rosters.push({ roster, groups });
  }
  const { hours } = toCadence(settings.screening);
  const stored = await readStoredFigures(database, organisationId, watched, at);
  const plans = await readJobSchedules(database, organisationId);
  const isPlanned = sweeps.isPlanned || plans.some(({ job, retiredAt }) => job === 'sweep' && retiredAt === null);
  return {
    ...stored,
    at,
    isSwept: !sweeps.isOff && (isPlanned || stored.runs.some(({ kind }) => kind === 'sweep')),
    rosters,
    fleet: settings.fleet ? await readFleetFigures(database, settings.organisation) : null,
    cadenceSeconds: Object.fromEntries(Object.entries(hours).map(([tier, value]) => [tier, value * 3_600])),
  };
}
