import { toCadence } from '../../screening/cadence.js';
import type { CoverageGroup } from '../../store/coverage.js';
import { readImportedRosters } from '../../store/coverage.js';
import { readStoredFigures, type StoredFigures } from '../../store/metric-facts.js';
import { readRosterGroups } from '../coverage/read-roster-groups.js';
import { openOrganisation } from '../session/run-session.js';
import type { Workplace } from '../workplace.js';

/** Everything that the database tells for metrics; names of rosters, and no data of a customer. */
export interface MetricFacts extends StoredFigures {
  at: Date;
  /** How each roster stands, by tier. */
  rosters: readonly { roster: string; groups: readonly CoverageGroup[] }[];
  /** Seconds within which each tier has to be screened. */
  cadenceSeconds: Readonly<Record<string, number>>;
}

/** Reads the facts as of now. Counts every customer in scope, which takes seconds where there are a million. */
export async function readMetricFacts(workplace: Workplace): Promise<MetricFacts> {
  const { database, settings, clock } = workplace;
  const at = clock.now();
  const { organisationId } = await openOrganisation(workplace);
  const rosters: MetricFacts['rosters'][number][] = [];
  for (const { rosterId, roster } of await readImportedRosters(database, organisationId)) {
    const { groups } = await readRosterGroups(workplace, rosterId, at);
    rosters.push({ roster, groups });
  }
  const { hours } = toCadence(settings.screening);
  return {
    at,
    rosters,
    cadenceSeconds: Object.fromEntries(Object.entries(hours).map(([tier, value]) => [tier, value * 3_600])),
    ...(await readStoredFigures(database, organisationId, at)),
  };
}
