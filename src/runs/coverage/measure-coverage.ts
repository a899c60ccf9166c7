import type { RiskTier } from '../../roster/customer.js';
import { toCadence } from '../../screening/cadence.js';
import {
  type CoverageGap,
  type CoverageGroup,
  countAccepted,
  listUncovered,
  readCoverage,
  readCoverageGaps,
  type UncoveredCustomer,
} from '../../store/coverage.js';
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
    /** Who cannot be screened as the roster stands, by reason, and for how many of them an exception holds. */
    gaps: readonly CoverageGap[];
    /** Whose screening does not hold, the worst first, as many as were asked for. */
    uncovered: readonly UncoveredCustomer[];
  }[];
  total: CoverageSums;
  tiers: Readonly<Record<RiskTier, CoverageSums>>;
  /** Configured rosters that were never imported. */
  neverImported: readonly string[];
  /**
   * Whether every configured roster was imported, somebody is in scope, and each screening holds or an exception was accepted for it, and no
   * later answers are held.
   */
  isCovered: boolean;
}

/**
 * Measures the coverage of one roster or of all that were ever imported or are configured, and lists the worst `list` customers of each.
 * Throws ConfigError when there is no such roster.
 */
export async function measureCoverage(
  workplace: Workplace,
  options: { roster?: string | undefined; list: number },
): Promise<Coverage> {
  const { database, clock, settings } = workplace;
  const now = clock.now();
  const cadence = toCadence(settings.screening);
  const { imported, neverImported } = await chooseImportedRosters(workplace, options.roster);
  const allGroups: CoverageGroup[] = [];
  const rosters: Coverage['rosters'][number][] = [];
  for (const { rosterId, roster } of imported) {
    const input = await toCoverageInput(workplace, rosterId, now);
    const groups = await readCoverage(database, input);
    const uncovered = options.list > 0 ? await listUncovered(database, input, options.list) : [];
    const gaps = await readCoverageGaps(database, rosterId, now);
    rosters.push({ roster, gaps, total: sumCoverage(groups, now), tiers: sumTiers(groups, now), uncovered });
    allGroups.push(...groups);
  }
  const total = sumCoverage(allGroups, now);
  const isCovered = neverImported.length === 0 && total.inScope > 0 && rosters.every(isRosterCovered);
  return { at: now, cadence, rosters, total, tiers: sumTiers(allGroups, now), neverImported, isCovered };
}

function isRosterCovered({ total, gaps }: Pick<Coverage['rosters'][number], 'total' | 'gaps'>): boolean {
  // The last night answered for them, and its answers do not count.
  if ((total.failedBecause['held'] ?? 0) > 0) return false;
  return gaps.every((gap) => gap.accepted === gap.count) && total.valid + countAccepted(gaps) >= total.inScope;
}
