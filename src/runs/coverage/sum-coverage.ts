import type { RiskTier } from '../../roster/customer.js';
import type { CoverageGroup } from '../../store/coverage.js';

/** How well customers are covered; all of them count once in `valid`, `never`, `changed`, `overdue` or `unproven`, and once in `states`. */
export interface CoverageSums {
  inScope: number;
  /** Screened as they are now, within the cadence of their tier and its grace. */
  valid: number;
  never: number;
  /** Screened before a change of their record that has to be screened. */
  changed: number;
  overdue: number;
  /** Screened with a live key by a run in which no control search has passed. */
  unproven: number;
  /** Customers whose last search failed, by reason. */
  failedBecause: Readonly<Record<string, number>>;
  states: Readonly<Record<string, number>>;
  oldestScreenedAt: Date | null;
  oldestAgeHours: number | null;
}

const hourMs = 60 * 60 * 1_000;

/** Adds groups up; the age counts until `now`. */
export function sumCoverage(groups: readonly CoverageGroup[], now: Date): CoverageSums {
  const count = (isMeant: (group: CoverageGroup) => boolean): number =>
    groups.filter(isMeant).reduce((sum, { customers }) => sum + customers, 0);
  const dates = groups.flatMap(({ oldestScreenedAt }) => oldestScreenedAt?.getTime() ?? []);
  const oldestMs = dates.length === 0 ? null : dates.reduce((oldest, date) => Math.min(oldest, date));
  return {
    inScope: count(() => true),
    valid: count(({ standing }) => standing === 'valid'),
    never: count(({ standing }) => standing === 'never'),
    changed: count(({ standing }) => standing === 'changed'),
    overdue: count(({ standing }) => standing === 'overdue'),
    unproven: count(({ standing }) => standing === 'unproven'),
    failedBecause: sumBy(groups, ({ failedBecause }) => failedBecause),
    states: sumBy(groups, ({ state }) => state),
    oldestScreenedAt: oldestMs === null ? null : new Date(oldestMs),
    oldestAgeHours: oldestMs === null ? null : Math.round(((now.getTime() - oldestMs) / hourMs) * 10) / 10,
  };
}

function sumBy(
  groups: readonly CoverageGroup[],
  nameOf: (group: CoverageGroup) => string | null,
): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const group of groups) {
    const name = nameOf(group);
    if (name !== null) sums.set(name, (sums.get(name) ?? 0) + group.customers);
  }
  return Object.fromEntries([...sums].toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** The sums of each tier, the riskiest first; customers without a tier count as high. */
export function sumTiers(groups: readonly CoverageGroup[], now: Date): Readonly<Record<RiskTier, CoverageSums>> {
  const sumTier = (tier: RiskTier): CoverageSums =>
    sumCoverage(
      groups.filter((group) => group.tier === tier),
      now,
    );
  return { high: sumTier('high'), medium: sumTier('medium'), low: sumTier('low') };
}
