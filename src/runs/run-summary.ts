import type { OpenItemsFacts, RosterChangeFacts, RunCounts } from '../reports/list-facts.js';
import type { SnapshotFacts } from '../reports/run-facts.js';
import { countNoun, formatCount } from '../reports/text.js';
import type { SweepRow } from '../store/dossiers.js';
import type { RunBalance, RunSums } from '../store/run-sums.js';
import type { HaltCode, RunKind, RunMode, RunState } from '../vocabulary.js';

/** What a comparison of rosters with dossiers came to (DESIGN: Command line). */
export interface ReconciliationCounts {
  customers: number;
  withDossier: number;
  withoutDossier: number;
  notExpected: number;
  ambiguous: number;
  dossiers: number;
  opened: number;
  resolved: number;
}

/** The outcome of a run as `--json` prints it (DESIGN: Command line). */
export interface RunSummary {
  schema: 'nightscreen/run-summary/1';
  runId: string;
  /** Null for a sweep. */
  roster: string | null;
  kind: RunKind;
  state: RunState;
  /** Why the state is not `complete`. */
  reasons: readonly string[];
  /** What stopped it early; null where nothing did. */
  haltedBy: HaltCode | null;
  exitCode: number;
  /** What a reader should know of a run that may be complete all the same. */
  remarks?: readonly string[];
  counts: Omit<RunCounts, 'inScope'> | Omit<SweepRow, 'unprovenBecause' | 'details'> | ReconciliationCounts;
  /** What its import made of the roster; absent where it imported nothing. */
  snapshot?: SnapshotFacts;
  /** The first changes of known customers that were accepted with the roster; absent where none were. */
  acceptedChanges?: readonly RosterChangeFacts[];
  /** What waited for reviewers when it closed; absent where no items were made. */
  openItems?: OpenItemsFacts;
  /** The mails of its report and how many were accepted; absent where nothing is mailed. */
  mail?: { queued: number; sent: number };
  /** Folder of the run's files, or null when none were written. */
  artifacts: string | null;
}

/** The exit code of a run that ended in this state (DESIGN: Exit codes). */
export function toExitCode(state: RunState): number {
  switch (state) {
    case 'complete':
      return 0;
    case 'running':
    case 'unbalanced':
      return 1;
    case 'refused':
      return 2;
    case 'incomplete':
    case 'abandoned':
      return 3;
    case 'stopped':
      return 4;
  }
}

/** The summary of a run that has ended, without artifacts. */
export function toRunSummary(
  run: Pick<RunSummary, 'runId' | 'roster' | 'kind' | 'state' | 'reasons' | 'counts'> & {
    haltedBy?: HaltCode | null;
    snapshot?: SnapshotFacts | null;
    openItems?: OpenItemsFacts | null;
    acceptedChanges?: readonly RosterChangeFacts[];
  },
): RunSummary {
  const {
    runId,
    roster,
    kind,
    state,
    reasons,
    haltedBy = null,
    counts,
    snapshot = null,
    openItems = null,
    acceptedChanges = [],
  } = run;
  return {
    schema: 'nightscreen/run-summary/1',
    runId,
    roster,
    kind,
    state,
    reasons,
    haltedBy,
    exitCode: toExitCode(state),
    counts,
    ...(snapshot && { snapshot }),
    ...(acceptedChanges.length > 0 && { acceptedChanges }),
    ...(openItems && { openItems }),
    artifacts: null,
  };
}

/** The conservation sums of a run with both their sides, by the database's count (DESIGN: Conservation). */
const toBalanceLines = (balance: RunBalance) => [
  {
    sum: 'rows = customers + rejected + duplicates',
    left: balance.rows,
    right: balance.customers + balance.rejected + balance.duplicates,
  },
  { sum: 'in scope = customers in the plan', left: balance.inScope, right: balance.inPlan },
  { sum: 'in scope = planned + skipped', left: balance.inScope, right: balance.planned + balance.skipped },
  {
    sum: 'planned = screened + reused + failed + remaining',
    left: balance.planned,
    right: balance.screened + balance.reused + balance.failed + balance.remaining,
  },
  {
    sum: 'screened or reused parties = parties with a stored answer',
    left: balance.answeredParties,
    right: balance.provenParties,
  },
  {
    sum: 'answered searches = answered searches in the ledger',
    left: balance.answeredSearches,
    right: balance.recordedSearches,
  },
];

const counted = [
  ...(['rows', 'customers', 'rejected', 'duplicates', 'inScope', 'planned', 'skipped'] as const),
  ...(['screened', 'reused', 'failed', 'remaining'] as const),
];

/**
 * The conservation sums by the database's count, and what of them does not hold, or is not as the counts that are about to be stored; both
 * figures each.
 */
export function compareBalance(counts: RunCounts, balance: RunBalance) {
  const lines = toBalanceLines(balance);
  const disagreements = [
    ...lines
      .filter(({ left, right }) => left !== right)
      .map(({ sum, left, right }) => `${sum} does not hold in the database: ${left} is not ${right}`),
    ...counted
      .filter((name) => counts[name] !== balance[name])
      .map((name) => `${name} is ${counts[name]} by the sums and ${balance[name]} by the database`),
  ];
  return { lines, disagreements };
}

/** What a screening run is judged by when it ends. */
interface RunEnd {
  sums: RunSums;
  /** Where the database's own count says otherwise. */
  disagreements: readonly string[];
  /** Why it stopped early, or null when it came to its end. */
  haltedBecause: string | null;
  /** `missing`: what no configured control search expects. */
  canaries: { configured: number; missing: readonly ('match' | 'none')[]; failed: number };
  /** What else is not as it should be with the service or on the way to it. */
  alarms: readonly string[];
  mode: RunMode;
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
