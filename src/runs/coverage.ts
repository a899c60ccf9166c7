import { flagError, usageError } from '../errors.js';
import { listTierDueTimes, toCadence } from '../screening/cadence.js';
import {
  type CoverageGap,
  type CoverageGroup,
  countAccepted,
  readCoverage,
  readCoverageGaps,
  readImportedRosters,
  saveCoverageExceptions,
} from '../store/customers/coverage.js';
import type { PlanInput } from '../store/night/plan-sql.js';
import { findLastAccount } from '../store/organisations.js';
import { readUnmappedNames } from '../store/roster/imports.js';
import type { RiskTier } from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { openOrganisation } from './session.js';
import type { Acceptance } from './settings-diff.js';

/**
 * Accepts that customers stay unscreened until a day (`yyyy-mm-dd`, UTC, inclusive). `customers` null means all open gaps, rows without a readable
 * id included. The state of the customers does not change. Throws ConfigError and stores nothing for a past day, an ambiguous roster, and
 * customers who can be screened.
 */
export async function acceptGaps(
  app: AppContext,
  { roster, customers, until }: { roster: string | undefined; customers: readonly string[] | null; until: string },
  { by, reason }: Acceptance,
) {
  const { database, clock } = app;
  const now = clock.now();
  if (until < now.toISOString().slice(0, until.length)) throw flagError('--until', `${until} is past`);
  const [chosen, ...others] = (await chooseImportedRosters(app, roster)).imported;
  if (chosen === undefined || others.length > 0) {
    const message = chosen === undefined ? 'no roster was imported yet' : 'several rosters were imported; give one';
    throw flagError('--roster', message);
  }
  const who = { acceptedBy: by.name, isAttested: by.isAttested, because: reason, acceptedAt: now };
  const { accepted, unknown } = await database.transaction((transaction) =>
    saveCoverageExceptions(transaction, chosen.rosterId, customers, { until, ...who }),
  );
  if (unknown.length === 0) return accepted;
  const names = unknown.map((customer) => JSON.stringify(customer)).join(', ');
  const message = `${names}: not a gap to accept; \`nightscreen coverage\` lists who cannot be screened`;
  throw usageError('flag --customer', message);
}

/**
 * Gives the roster of this name, or all that are imported or configured. A roster that was never imported fails every gate. Throws ConfigError
 * for an unknown name.
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
  const advice = known.size === 0 ? 'no roster was' : `these were: ${[...known].join(', ')}`;
  throw usageError('flag --roster', `roster ${name} was never imported; ${advice}`);
}

/** The coverage of rosters at an instant. */
export type RosterCoverage = Awaited<ReturnType<typeof measureCoverage>>;

/**
 * Measures the coverage of one roster, or of all that are imported or configured, and lists the worst `list` customers of each. `isCovered`: every
 * configured roster was imported without columns of names that no setting reads, customers are in scope, each has a valid screening or an accepted
 * exception, and no later answers are held.
 * Throws ConfigError for an unknown roster.
 */
export async function measureCoverage(app: AppContext, options: { roster?: string | undefined; list: number }) {
  const { database, clock, settings } = app;
  const now = clock.now();
  const cadence = toCadence(settings.screening);
  const { imported, neverImported } = await chooseImportedRosters(app, options.roster);
  const allGroups: CoverageGroup[] = [];
  const rosters = [];
  for (const { rosterId, roster } of imported) {
    const input = await toCoverageInput(app, rosterId, now);
    const { groups, uncovered } = await readCoverage(database, input, options.list);
    const gaps = await readCoverageGaps(database, rosterId, now);
    const unmappedNames = await readUnmappedNames(database, rosterId);
    rosters.push({
      roster,
      gaps,
      unmappedNames,
      total: sumCoverage(groups, now),
      tiers: sumTiers(groups, now),
      uncovered,
    });
    allGroups.push(...groups);
  }
  const total = sumCoverage(allGroups, now);
  const isCovered =
    neverImported.length === 0 &&
    total.inScope > 0 &&
    rosters.every((one) => isRosterCovered(one.total, one.gaps, one.unmappedNames));
  return { at: now, cadence, rosters, total, tiers: sumTiers(allGroups, now), neverImported, isCovered };
}

/** Whether nobody in scope of a roster lacks a valid screening, or it is accepted. */
export function isRosterCovered(
  total: ReturnType<typeof sumCoverage>,
  gaps: readonly CoverageGap[],
  unmappedNames: readonly string[],
): boolean {
  if (unmappedNames.length > 0) return false;
  // The last run has answers for these customers, but its answers are held.
  if ((total.failedBecause['held'] ?? 0) > 0) return false;
  return gaps.every((gap) => gap.accepted === gap.count) && total.valid + countAccepted(gaps) >= total.inScope;
}

/** The input of a coverage measurement: the account of the roster's last run, and the due time of each tier. */
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

/** Counts the customers in scope of a roster by tier, status, state and last failure; gives also the account that is assessed. */
export async function readRosterGroups(
  app: Pick<AppContext, 'database' | 'settings'>,
  rosterId: number,
  now: Date,
): Promise<{ accountId: number | null; groups: readonly CoverageGroup[] }> {
  const input = await toCoverageInput(app, rosterId, now);
  const { groups } = await readCoverage(app.database, input);
  return { accountId: input.accountId, groups };
}

const hourMs = 60 * 60 * 1_000;

/**
 * Adds groups up; the age counts until `now`. Each customer counts once in `valid`, `never`, `unreadable`, `changed`, `overdue` or `unproven`,
 * and once in `states`.
 */
function sumCoverage(groups: readonly CoverageGroup[], now: Date) {
  const count = (isMeant: (group: CoverageGroup) => boolean): number =>
    groups.filter(isMeant).reduce((sum, { customers }) => sum + customers, 0);
  const dates = groups.flatMap(({ oldestScreenedAt }) => oldestScreenedAt?.getTime() ?? []);
  const oldestMs = dates.length === 0 ? null : dates.reduce((oldest, date) => Math.min(oldest, date));
  return {
    inScope: count(() => true),
    /** Screened with the current record, within the frequency of their tier and its grace. */
    valid: count(({ status }) => status === 'valid'),
    never: count(({ status }) => status === 'never'),
    /** Searched for under a name that nobody can vouch for, so the searches do not cover them. */
    unreadable: count(({ status }) => status === 'unreadable'),
    /** Screened before a change of their record that needs a new screening. */
    changed: count(({ status }) => status === 'changed'),
    overdue: count(({ status }) => status === 'overdue'),
    /** Screened with a live key by a run without a passed control search. */
    unproven: count(({ status }) => status === 'unproven'),
    /** Customers whose last search failed, by reason. */
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
function sumTiers(groups: readonly CoverageGroup[], now: Date) {
  const sumTier = (tier: RiskTier) =>
    sumCoverage(
      groups.filter((group) => group.tier === tier),
      now,
    );
  return { high: sumTier('high'), medium: sumTier('medium'), low: sumTier('low') };
}
