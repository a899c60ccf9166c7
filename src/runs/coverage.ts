import { ConfigError, flagError } from '../errors.js';
import { listTierDueTimes, toCadence } from '../screening/cadence.js';
import {
  type CoverageGap,
  type CoverageGroup,
  countAccepted,
  listOpenGaps,
  readCoverage,
  readCoverageGaps,
  readImportedRosters,
  saveCoverageExceptions,
} from '../store/coverage.js';
import { findLastAccount } from '../store/organisations.js';
import type { PlanInput } from '../store/plan-sql.js';
import type { RiskTier } from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { openOrganisation } from './session.js';
import type { Acceptance } from './settings-diff.js';

/**
 * Notes that customers, or with null all that are open, rows without a readable id included, may stay unscreened until a day (`yyyy-mm-dd`, UTC, that day included), by whom and why; their state stays. Throws ConfigError, with nothing noted, for a day
 * that is over, several rosters to choose from, and customers who are not among those who cannot be screened.
 */
export async function acceptGaps(
  app: AppContext,
  { roster, customers, until }: { roster: string | undefined; customers: readonly string[] | null; until: string },
  { by, reason }: Acceptance,
) {
  const { database, clock } = app;
  const now = clock.now();
  if (until < now.toISOString().slice(0, until.length)) throw flagError('--until', `${until} is over`);
  const [chosen, ...others] = (await chooseImportedRosters(app, roster)).imported;
  if (chosen === undefined || others.length > 0) {
    const message =
      chosen === undefined ? 'no roster was imported yet' : 'several rosters were imported: say which one';
    throw flagError('--roster', message);
  }
  return database.transaction(async (transaction) => {
    const open = await listOpenGaps(transaction, chosen.rosterId, now);
    const unknown = (customers ?? []).filter((customer) => !open.some(({ reference }) => reference === customer));
    if (unknown.length > 0) {
      const names = unknown.map((customer) => JSON.stringify(customer)).join(', ');
      const message = `${names}: nothing is to be accepted; coverage says who cannot be screened`;
      throw new ConfigError([{ where: 'flag --customer', path: '', message }]);
    }
    const accepted = open.filter(({ reference }) => customers === null || customers.some((one) => one === reference));
    const who = { acceptedBy: by.name, isAttested: by.isAttested, because: reason, acceptedAt: now };
    if (accepted.length > 0) {
      await saveCoverageExceptions(transaction, chosen.rosterId, accepted, { until, ...who });
    }
    return accepted;
  });
}

const gapWords: Readonly<Record<CoverageGap['reason'], readonly [string, string]>> = {
  row_rejected: [
    'customer without a record: the row was rejected',
    'customers without a record: their rows were rejected',
  ],
  conflicting_duplicate: [
    'customer without a record: the rows contradict each other',
    'customers without a record: their rows contradict each other',
  ],
  roster_held: ['new customer of a roster that is held', 'new customers of a roster that is held'],
  related_party_unreadable: [
    'customer with a related party that cannot be read',
    'customers with a related party that cannot be read',
  ],
  unreadable_id: ['row without a readable customer id', 'rows without a readable customer id'],
};

/** Says who cannot be screened as the roster stands and is not accepted, and how to accept that; null where there is nobody. */
export function describeGaps(gaps: readonly CoverageGap[], roster: string): string | null {
  const open = gaps.flatMap(({ reason, count, accepted }) => {
    const left = count - accepted;
    return left === 0 ? [] : [`${left} ${gapWords[reason][left === 1 ? 0 : 1]}`];
  });
  if (open.length === 0) return null;
  return `not screened as the roster stands: ${open.join('; ')}. Mend the roster, or accept it until a day: nightscreen roster except --roster ${roster} --all --until DATE --by NAME --reason TEXT`;
}

/**
 * The roster of this name, or all that were ever imported or are configured; of those that were never imported nothing is known, so no gate
 * passes. Throws ConfigError when there is none of this name.
 */
export async function chooseImportedRosters(app: AppContext, name: string | undefined) {
  const { organisationId } = await openOrganisation(app);
  const all = await readImportedRosters(app.database, organisationId);
  const known = new Set(all.map(({ roster }) => roster));
  const isMeant = (roster: string): boolean => name === undefined || roster === name;
  const imported = all.filter(({ roster }) => isMeant(roster));
  const neverImported = app.settings.rosters
    .map((roster) => roster.name)
    .filter((roster) => isMeant(roster) && !known.has(roster));
  if (name === undefined || imported.length + neverImported.length > 0) return { imported, neverImported };
  const advice = known.size === 0 ? 'none was' : `there are: ${[...known].join(', ')}`;
  const message = `no roster ${name} was ever imported; ${advice}`;
  throw new ConfigError([{ where: 'flag --roster', path: '', message }]);
}

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
    uncovered: Awaited<ReturnType<typeof readCoverage>>['uncovered'];
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
  app: AppContext,
  options: { roster?: string | undefined; list: number },
): Promise<Coverage> {
  const { database, clock, settings } = app;
  const now = clock.now();
  const cadence = toCadence(settings.screening);
  const { imported, neverImported } = await chooseImportedRosters(app, options.roster);
  const allGroups: CoverageGroup[] = [];
  const rosters: Coverage['rosters'][number][] = [];
  for (const { rosterId, roster } of imported) {
    const input = await toCoverageInput(app, rosterId, now);
    const { groups, uncovered } = await readCoverage(database, input, options.list);
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

/** What coverage of a roster is judged by at a moment: the account that its last run used, and when each tier is due. */
async function toCoverageInput(
  { database, settings }: Pick<AppContext, 'database' | 'settings'>,
  rosterId: number,
  now: Date,
): Promise<PlanInput> {
  return {
    runId: null,
    rosterId,
    accountId: (await findLastAccount(database, rosterId, settings.service.mode))?.accountId ?? null,
    selection: 'due',
    tiers: listTierDueTimes(toCadence(settings.screening), now),
    leaveAfterDays: settings.screening.leaveAfterDays,
    leftRuns: [],
    reuse: null,
    allowance: null,
  };
}

/** The customers in scope of a roster, counted by tier, status, state and last failure; and the account that they are judged on. */
export async function readRosterGroups(
  app: Pick<AppContext, 'database' | 'settings'>,
  rosterId: number,
  now: Date,
): Promise<{ accountId: number | null; groups: readonly CoverageGroup[] }> {
  const input = await toCoverageInput(app, rosterId, now);
  const { groups } = await readCoverage(app.database, input);
  return { accountId: input.accountId, groups };
}

/** How well customers are covered; all of them count once in `valid`, `never`, `changed`, `overdue` or `unproven`, and once in `states`. */
interface CoverageSums {
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
function sumCoverage(groups: readonly CoverageGroup[], now: Date): CoverageSums {
  const count = (isMeant: (group: CoverageGroup) => boolean): number =>
    groups.filter(isMeant).reduce((sum, { customers }) => sum + customers, 0);
  const dates = groups.flatMap(({ oldestScreenedAt }) => oldestScreenedAt?.getTime() ?? []);
  const oldestMs = dates.length === 0 ? null : dates.reduce((oldest, date) => Math.min(oldest, date));
  return {
    inScope: count(() => true),
    valid: count(({ status }) => status === 'valid'),
    never: count(({ status }) => status === 'never'),
    changed: count(({ status }) => status === 'changed'),
    overdue: count(({ status }) => status === 'overdue'),
    unproven: count(({ status }) => status === 'unproven'),
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
function sumTiers(groups: readonly CoverageGroup[], now: Date): Readonly<Record<RiskTier, CoverageSums>> {
  const sumTier = (tier: RiskTier): CoverageSums =>
    sumCoverage(
      groups.filter((group) => group.tier === tier),
      now,
    );
  return { high: sumTier('high'), medium: sumTier('medium'), low: sumTier('low') };
}
