import type { OpenAlertsFacts, RosterChangeFacts, RunCounts, SnapshotFacts } from '../reports/run-facts.js';
import { countNoun, formatCount } from '../reports/text.js';
import type { Sweep } from '../store/dossiers/dossiers.js';
import type { RunSums, readRunBalance } from '../store/night/run-sums.js';
import { listCountSums } from '../vocabulary/facts.js';
import type { HaltCode, RunKind, RunMode, RunState } from '../vocabulary.js';

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
  /** The code of the early stop; null without one. */
  haltedBy: HaltCode | null;
  exitCode: number;
  /** Remarks on a run, which may still be complete. */
  remarks?: readonly string[];
  counts:
    | Omit<RunCounts, 'inScope'>
    | Omit<Sweep, 'unprovenBecause' | 'details'>
    /** Of a reconciliation. */
    | Record<
        | 'customers'
        | 'withDossier'
        | 'withoutDossier'
        | 'notExpected'
        | 'ambiguous'
        | 'dossiers'
        | 'opened'
        | 'resolved',
        number
      >;
  /** The result of its import; absent without one. */
  snapshot?: SnapshotFacts;
  /** The first accepted changes of known customers; absent without any. */
  acceptedChanges?: readonly RosterChangeFacts[];
  /** The alerts that waited when it closed; absent when no alerts were made. */
  openAlerts?: OpenAlertsFacts;
  /** The mails of its report, how many were accepted, and how many of any kind are not tried again; absent without mail. */
  mail?: { queued: number; sent: number; lost: number };
  /** The folder of the run's files; null without files. */
  artifacts: string | null;
}

/** Mails that are not tried again, in words; empty for none. */
export const describeLostMails = (lost: number): string =>
  lost === 0 ? '' : `${countNoun(lost, 'mail')} not sent for good: nightscreen outbox`;

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
export function toRunSummary({
  counts,
  haltedBy = null,
  snapshot,
  openAlerts,
  acceptedChanges = [],
  ...run
}: Pick<RunSummary, 'runId' | 'roster' | 'kind' | 'state' | 'reasons' | 'counts'> & {
  haltedBy?: HaltCode | null;
  snapshot?: SnapshotFacts | null;
  openAlerts?: OpenAlertsFacts | null;
  acceptedChanges?: readonly RosterChangeFacts[];
}): RunSummary {
  return {
    schema: 'nightscreen/run-summary/1',
    ...run,
    haltedBy,
    exitCode: toExitCode(run.state),
    counts,
    ...(snapshot && { snapshot }),
    ...(acceptedChanges.length > 0 && { acceptedChanges }),
    ...(openAlerts && { openAlerts }),
    artifacts: null,
  };
}

type RunBalance = Awaited<ReturnType<typeof readRunBalance>>;

/** A sum with the counts of both sides, in words. */
const toCountLines = (counts: Parameters<typeof listCountSums>[0]) =>
  listCountSums(counts).map(({ whole, parts }) => ({
    sum: `${whole.name} = ${parts.map(({ name }) => name).join(' + ')}`,
    left: whole.count,
    right: parts.reduce((sum, { count }) => sum + count, 0),
  }));

const toBalanceLines = (balance: RunBalance) => [
  ...toCountLines(balance),
  { sum: 'in scope = customers in the plan', left: balance.inScope, right: balance.inPlan },
  {
    sum: 'answered searches = answered searches in the ledger',
    left: balance.answeredSearches,
    right: balance.recordedSearches,
  },
];

/**
 * The conservation sums as the database counts them, and those that do not hold or differ from the counts to be stored, with both figures.
 */
export function compareBalance(counts: RunCounts, balance: RunBalance) {
  const lines = toBalanceLines(balance);
  const disagreements = [
    ...lines
      .filter(({ left, right }) => left !== right)
      .map(({ sum, left, right }) => `${sum} does not hold in the database: ${left} is not ${right}`),
    ...new Set(
      listCountSums(balance)
        .flatMap(({ whole, parts }) => [whole, ...parts])
        .filter(({ code, count }) => counts[code] !== count)
        .map(({ name, code, count }) => `${name} is ${counts[code]} by the sums and ${count} by the database`),
    ),
  ];
  return { lines, disagreements };
}

interface RunEnd {
  sums: RunSums;
  /** Sums that the database counts differently. */
  disagreements: readonly string[];
  /** Why it stopped early; null at its end. */
  haltedBecause: string | null;
  /** `missing`: the expectations that no control search covers. */
  controls: { configured: number; missing: readonly ('match' | 'none')[]; failed: number };
  /** Other problems of the run, of the service or of the connection to it. */
  alarms: readonly string[];
  mode: RunMode;
  /** Answered customers whose answers are not applied yet. */
  unapplied: number;
  /** The customers left out by the budget that are overdue, forced, or never screened as they are now. */
  urgentOverBudget: number;
}

/** The reasons why a roster id has no accepted record: such an id is in scope but not in the plan. */
const unacceptedReasons = ['row_rejected', 'conflicting_duplicate', 'roster_held'] as const;

/** The state of a run and why it is not `complete`: first the sums, then an early stop, then other problems. */
export function toRunVerdict(end: RunEnd): { state: RunState; reasons: readonly string[] } {
  const { counts, states } = end.sums;
  const notSelected = end.sums.skippedBecause['not_selected'] ?? 0;
  const overBudget = end.sums.skippedBecause['over_budget'] ?? 0;
  const unaccepted = unacceptedReasons.reduce((sum, reason) => sum + (end.sums.skippedBecause[reason] ?? 0), 0);
  const explained = notSelected + overBudget + unaccepted + end.unapplied + end.sums.unreadableParties;
  const imbalances = [...findImbalances(counts, states, explained), ...end.disagreements];
  if (imbalances.length > 0) return { state: 'unbalanced', reasons: imbalances };
  if (end.haltedBecause !== null) {
    const left = counts.inScope === 0 ? 'nothing was planned yet' : describeRemaining(counts.remaining);
    return { state: 'stopped', reasons: [`${end.haltedBecause}; ${left} and the run can be resumed`] };
  }
  // The alarms name the customers of held answers.
  const failed = counts.failed - (end.sums.failedBecause['held'] ?? 0);
  const reasons = [
    ...(end.controls.failed > 0
      ? [`${end.controls.failed} of ${countNoun(end.controls.configured, 'control search', 'control searches')} failed`]
      : []),
    ...end.alarms,
    ...(end.mode === 'live' ? describeMissing(end.controls) : []),
    ...(failed > 0 ? [describeFailed(failed)] : []),
    ...(notSelected > 0
      ? [`${countNoun(notSelected, 'customer')} without a valid screening, not searched in this run`]
      : []),
    ...(overBudget > 0 ? [describeOverBudget(overBudget, end.urgentOverBudget)] : []),
    ...(counts.remaining > 0 ? [`${describeRemaining(counts.remaining)} unscreened`] : []),
  ];
  return { state: reasons.length === 0 ? 'complete' : 'incomplete', reasons };
}

const missingWords = {
  match: 'no control search expects a match: with a live key, a service that finds no one goes unnoticed',
  none: 'no control search expects nothing: with a live key, a service that finds everyone goes unnoticed',
};

function describeMissing({ configured, missing }: RunEnd['controls']): readonly string[] {
  if (configured === 0) return ['no control searches are configured for a live key'];
  return missing.map((expect) => missingWords[expect]);
}

/** The reason for so many failed customers; as the only reason it means that the rest of the run is complete. */
export const describeFailed = (customers: number): string =>
  `${countNoun(customers, 'customer')} could not be screened`;

const describeRemaining = (count: number): string =>
  `${countNoun(count, 'customer')} ${count === 1 ? 'remains' : 'remain'}`;

/** All these customers were due; their screening may expire before the next run. */
function describeOverBudget(customers: number, urgent: number): string {
  const left = `the budget left out ${countNoun(customers, 'customer')}`;
  if (urgent === 0) return `${left} who ${customers === 1 ? 'was' : 'were'} due again`;
  return `${left}, ${urgent === customers ? '' : `${formatCount(urgent)} of them `}requested, overdue or never screened as they are now`;
}

function findImbalances(
  counts: RunCounts,
  states: Readonly<Record<string, number>>,
  explained: number,
): readonly string[] {
  const inAllStates = Object.values(states).reduce((sum, count) => sum + count, 0);
  const sums = [
    ...toCountLines(counts),
    { sum: 'in scope = customers in all states', left: counts.inScope, right: inAllStates },
  ];
  const unexplained = (states['not_screened'] ?? 0) - counts.failed - counts.remaining - explained;
  return [
    ...sums
      .filter(({ left, right }) => left !== right)
      .map(({ sum, left, right }) => `${sum} does not hold: ${left} is not ${right}`),
    ...(unexplained > 0 ? [`${unexplained} customers are not screened, and no reason is stored`] : []),
  ];
}
