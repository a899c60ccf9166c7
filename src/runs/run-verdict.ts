import { countNoun, formatCount } from '../reports/format-count.js';
import type { RunCounts, RunState } from '../reports/run-facts.js';
import type { RunSums } from '../store/run-sums.js';

/** What a screening run is judged by when it ends. */
export interface RunEnd {
  sums: RunSums;
  /** Where the database's own count says otherwise. */
  disagreements: readonly string[];
  /** Why it stopped early, or null when it came to its end. */
  haltedBecause: string | null;
  /** `missing`: what no configured control search expects. */
  canaries: { configured: number; missing: readonly ('match' | 'none')[]; failed: number };
  /** What else is not as it should be with the service or on the way to it. */
  alarms: readonly string[];
  mode: 'test' | 'live';
  /** Customers whom the budget left out although they are overdue, forced, or were never screened as they are. */
  urgentOverBudget: number;
}

/** Why an id of the roster has no accepted record, so that it is in scope and in no plan. */
const unacceptedReasons = ['row_rejected', 'conflicting_duplicate', 'roster_held'] as const;

/** The state of a run and why it is not `complete`: sums first, then an early stop, then whatever is not as it should be. */
export function toRunVerdict(end: RunEnd): { state: RunState; reasons: readonly string[] } {
  const { counts, states } = end.sums;
  const notSelected = end.sums.skippedBecause['not_selected'] ?? 0;
  const overBudget = end.sums.skippedBecause['over_budget'] ?? 0;
  const unaccepted = unacceptedReasons.reduce((sum, reason) => sum + (end.sums.skippedBecause[reason] ?? 0), 0);
  const explained = notSelected + overBudget + unaccepted + (end.sums.unreadableParties ?? 0);
  const imbalances = [...findImbalances(counts, states, explained), ...end.disagreements];
  if (imbalances.length > 0) return { state: 'unbalanced', reasons: imbalances };
  if (end.haltedBecause !== null) {
    const left = counts.inScope === 0 ? 'nothing was planned yet' : describeRemaining(counts.remaining);
    return { state: 'stopped', reasons: [`${end.haltedBecause}; ${left} and the run can be resumed`] };
  }
  // Whose answers are held has been named with the alarms.
  const failed = counts.failed - (end.sums.failedBecause['held'] ?? 0);
  const reasons = [
    ...(end.canaries.failed > 0
      ? [`${end.canaries.failed} of ${countNoun(end.canaries.configured, 'control search', 'control searches')} failed`]
      : []),
    ...end.alarms,
    ...(end.mode === 'live' ? describeMissing(end.canaries) : []),
    ...(failed > 0 ? [describeFailed(failed)] : []),
    ...(notSelected > 0
      ? [`${countNoun(notSelected, 'customer')} without a valid screening, not asked about in this run`]
      : []),
    ...(overBudget > 0 ? [describeOverBudget(overBudget, end.urgentOverBudget)] : []),
    ...(counts.remaining > 0 ? [`${describeRemaining(counts.remaining)} unscreened`] : []),
  ];
  return { state: reasons.length === 0 ? 'complete' : 'incomplete', reasons };
}

const missingWords = {
  match: 'no control search expects a match: a service that finds nobody would not be noticed with a live key',
  none: 'no control search expects nothing: a service that finds everybody would not be noticed with a live key',
};

function describeMissing({ configured, missing }: RunEnd['canaries']): readonly string[] {
  if (configured === 0) return ['no control searches are configured for a live key'];
  return missing.map((expect) => missingWords[expect]);
}

/** Says that so many customers failed; as long as it is the only reason, all else of a run is well. */
export const describeFailed = (customers: number): string =>
  `${countNoun(customers, 'customer')} could not be screened`;

const describeRemaining = (count: number): string =>
  `${countNoun(count, 'customer')} ${count === 1 ? 'remains' : 'remain'}`;

/** Everybody whom it leaves out was to be asked about: by the time the next run asks, their screening may hold no longer. */
function describeOverBudget(customers: number, urgent: number): string {
  const left = `the budget left out ${countNoun(customers, 'customer')}`;
  if (urgent === 0) return `${left} who ${customers === 1 ? 'was' : 'were'} due again`;
  return `${left}, ${urgent === customers ? '' : `${formatCount(urgent)} of them `}asked for, overdue or never screened as they are now`;
}

/** The conservation sums that do not hold, each with both figures (DESIGN: Conservation). */
function findImbalances(
  counts: RunCounts,
  states: Readonly<Record<string, number>>,
  explained: number,
): readonly string[] {
  const sums: readonly [string, number, number][] = [
    ['rows = customers + rejected + duplicates', counts.rows, counts.customers + counts.rejected + counts.duplicates],
    ['in scope = planned + skipped', counts.inScope, counts.planned + counts.skipped],
    [
      'planned = screened + reused + failed + remaining',
      counts.planned,
      counts.screened + counts.reused + counts.failed + counts.remaining,
    ],
    [
      'in scope = customers in all states',
      counts.inScope,
      Object.values(states).reduce((sum, count) => sum + count, 0),
    ],
  ];
  const unexplained = (states['not_screened'] ?? 0) - counts.failed - counts.remaining - explained;
  return [
    ...sums
      .filter(([, left, right]) => left !== right)
      .map(([name, left, right]) => `${name} does not hold: ${left} is not ${right}`),
    ...(unexplained > 0 ? [`${unexplained} customers are not screened without a reason`] : []),
  ];
}
