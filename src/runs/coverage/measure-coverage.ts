import type { RiskTier } from '../../roster/customer.js';
import { toCadence } from '../../screening/cadence.js';
import {
  type CoverageGroup,
  listUncovered,
  readCoverage,
  readImportedRosters,
  type UncoveredCustomer,
} from '../../store/coverage.js';
import { openOrganisation } from '../session/run-session.js';
import type { Workplace } from '../workplace.js';
import { chooseImportedRosters } from './choose-imported-rosters.js';
import { toCoverageInput } from './read-roster-groups.js';
import { type CoverageSums, sumCoverage, sumTiers } from './sum-coverage.js';

/** How well rosters are covered at an instant. */
export interface Coverage {
  at: Date;
  /** Hours within which each tier has to be screened, and why where that is longer than a day. */
  cadence: ReturnType<typeof toCadence>;
  rosters: readonly {
    roster: string;
    total: CoverageSums;
    tiers: Readonly<Record<RiskTier, CoverageSums>>;
    /** Whose screening does not hold, the worst first, as many as were asked for. */
    uncovered: readonly UncoveredCustomer[];
  }[];
  total: CoverageSums;
  tiers: Readonly<Record<RiskTier, CoverageSums>>;
  /** Whether everybody's screening holds, and no later answers are held. */
  isCovered: boolean;
}

/**
 * Measures the coverage of one roster or of all that were ever imported, and lists the worst `list` customers of each. Throws ConfigError
 * when there is no such roster.
 */
export async function measureCoverage(
  workplace: Workplace,
  options: { roster?: string | undefined; list: number },
): Promise<Coverage> {
  const { database, clock, settings } = workplace;
  const { organisationId } = await openOrganisation(workplace);
  const now = clock.now();
  const cadence = toCadence(settings.screening);
  const chosen = chooseImportedRosters(await readImportedRosters(database, organisationId), options.roster);
  const allGroups: CoverageGroup[] = [];
  const rosters: Coverage['rosters'][number][] = [];
  for (const { rosterId, roster } of chosen) {
    const input = await toCoverageInput(workplace, rosterId, now);
    const groups = await readCoverage(database, input);
    const uncovered = options.list > 0 ? await listUncovered(database, input, options.list) : [];
    rosters.push({ roster, total: sumCoverage(groups, now), tiers: sumTiers(groups, now), uncovered });
    allGroups.push(...groups);
  }
  const total = sumCoverage(allGroups, now);
  // The last night answered for them, and its answers do not count.
  const held = total.failedBecause['held'] ?? 0;
  const isCovered = total.valid === total.inScope && held === 0;
  return { at: now, cadence, rosters, total, tiers: sumTiers(allGroups, now), isCovered };
}
